# SPDX-License-Identifier: Apache-2.0
import enum
from enum import Enum, IntEnum, Flag, IntFlag, auto, unique, StrEnum
class C(Enum):
    RED = 1; GREEN = 2; CRIMSON = 1
    @property
    def nice(self): return self.name.title()
    @classmethod
    def default(cls): return cls.GREEN
    def __str__(self): return f'C:{self.name}'
print(C.RED, repr(C.RED), C(2), C['GREEN'], C.RED is C.CRIMSON, list(C), len(C), C.RED.nice, C.default(), C.RED == 1, C.RED in C, C.__members__, isinstance(C.RED, C), {C.RED: 1}[C.CRIMSON], C.RED.value, C.RED.name, type(C.RED), C)
try: C(9)
except ValueError as e: print(e)
try: C['X']
except KeyError as e: print(e)
try: C.RED = 5
except AttributeError as e: print(e)
class A(Enum):
    X = auto(); Y = auto(); Z = 10; W = auto()
print([a.value for a in A], [a for a in A][0], hash(A.X) == hash(A.X), A.X < A.Y if hasattr(A.X, '__lt__') and False else 'n')
class N(IntEnum): ONE = 1; TWO = 2
print(N.ONE + 1, N.TWO > N.ONE, N(1), repr(N.ONE), f'{N.ONE}', str(N.TWO), [10, 20, 30][N.ONE], N.ONE == 1, sorted([N.TWO, N.ONE]), N.ONE.__class__)
class S(StrEnum): A = auto(); B = 'bee'
print(S.A, S.B.upper(), S.A == 'a', f'{S.B}', repr(S.A), 'x' + S.A)
class Fl(Flag): R = auto(); W = auto(); X = auto(); RW = R | W
print(Fl.R | Fl.X, Fl.RW, Fl.R in Fl.RW, Fl.RW & Fl.W, ~Fl.R, bool(Fl.R & Fl.W), Fl.R ^ Fl.RW, Fl(5), repr(Fl.R | Fl.W), list(Fl.RW), Fl.RW.value)
class P(Enum):
    EARTH = (1, 2.0); MARS = (3, 4.0)
    def __init__(self, m, r): self.m, self.r = m, r
    @property
    def s(self): return self.m / self.r
print(P.EARTH.m, P.MARS.s, P.EARTH, P((1, 2.0)))
try:
    @unique
    class U(Enum): A = 1; B = 1
except ValueError as e: print(e)
Animal = Enum('Animal', 'CAT DOG'); print(list(Animal), Animal.CAT.value, Enum('T', {'a': 5}).a)
class O(str, Enum): A = 'a'
print(O.A == 'a', O('a'), O.A.upper(), O.A.value, f'{O.A}', isinstance(O.A, str))
class M(Enum):
    A = 1
    @classmethod
    def _missing_(cls, v): return cls.A
print(M(77))
for m in C: print(m.name, end=' ')
print()
