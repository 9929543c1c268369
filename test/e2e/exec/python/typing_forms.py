# SPDX-License-Identifier: Apache-2.0
from typing import *
T = TypeVar('T'); K = TypeVar('K')
class Stack(Generic[T]):
    def __init__(self) -> None: self.items: List[T] = []
    def push(self, x: T) -> None: self.items.append(x)
s = Stack[int](); s.push(1); print(s.items, Stack[int], Stack.__name__)
class Proto(Protocol):
    def run(self, x: int) -> str: ...
class TD(TypedDict, total=False): a: int; b: str
class NT(NamedTuple): a: int; b: str = 'z'
t: TD = {'a': 1}; print(t, TD(a=2), NT(1), NT(1)._asdict(), NT._fields, NT(1, 'b')[1], NT(1)._replace(a=5), *NT(3, 'q'))
print(List[int], Dict[str, int], Tuple[int, ...], get_args(Dict[str, int]), get_origin(List[int]), Any, list[int], dict[str, list[int]], int | None, Literal['a', 1], cast(int, 5), Type[int])
@runtime_checkable
class HasLen(Protocol):
    def __len__(self) -> int: ...
print(isinstance([], HasLen), isinstance(5, HasLen))
@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x): return x
print(f(3)); UserId = NewType('UserId', int); print(UserId(5), TYPE_CHECKING, Final, Annotated[int, 'x'])
@final
class Fin: pass
def g(a: int, *b: str, c: 'float' = 1.0, **d: Any) -> int | None: ...
print(g.__annotations__)
