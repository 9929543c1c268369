# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field, replace, asdict, astuple, fields, InitVar, KW_ONLY, is_dataclass, FrozenInstanceError, make_dataclass
from typing import ClassVar, Optional
@dataclass(order=True)
class P:
    x: int
    y: float = 2.0
    tags: list = field(default_factory=list, compare=False)
    n: ClassVar[int] = 5
    _z: int = field(default=0, repr=False, init=False)
p = P(1); q = P(1, 3.0, ['a']); print(p, q, p < q, p == P(1), sorted([q, p]), replace(p, x=9), asdict(q), astuple(q), [f.name for f in fields(P)], P.n, is_dataclass(P))
@dataclass(frozen=True)
class F: a: int; b: str = 'q'
f = F(1); print(hash(f) == hash(F(1)), {f: 1}[F(1)])
try: f.a = 2
except FrozenInstanceError as e: print(type(e).__name__, e)
try: del f.a
except FrozenInstanceError as e: print(e)
@dataclass(kw_only=True, slots=True)
class K: a: int; b: int = 3
print(K(a=1), K.__slots__)
try: K(1)
except TypeError as e: print(e)
try: K(a=1).c = 2
except AttributeError as e: print(e)
@dataclass
class I:
    a: int
    s: InitVar[int] = 2
    _: KW_ONLY
    c: int = 0
    def __post_init__(self, s): self.a = self.a * s
print(I(3), I(3, 4), I(3, c=9), I.__match_args__)
@dataclass
class Base: a: int = 1
@dataclass
class D(Base): b: int = 2; a: int = 5
print(D(), D(7, 8), D.__eq__(D(), D()), D() != Base())
try:
    @dataclass
    class Bad: l: list = []
except ValueError as e: print(e)
try: P()
except TypeError as e: print(e)
print(make_dataclass('M', [('x', int), ('y', int, field(default=4))])(1), P.__annotations__)
