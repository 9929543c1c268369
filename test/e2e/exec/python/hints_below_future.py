from __future__ import annotations

import dataclasses
import functools
import typing


@dataclasses.dataclass
class Inner:
    lr: float = 0.5


@dataclasses.dataclass
class Outer:
    inner: Inner = dataclasses.field(default_factory=Inner)
    others: list[Inner] = dataclasses.field(default_factory=list)
    maybe: typing.Optional[Inner] = None
    quoted: "Inner | None" = None

    @classmethod
    def read(cls, given):
        hints = typing.get_type_hints(cls)
        return cls(**{key: hints[key](**value) if dataclasses.is_dataclass(hints[key]) else value for key, value in given.items()})


class Derived(Outer):
    more: int


def function(x: Inner, y: "int" = 3) -> None:
    pass


class Wrong:
    name: Missing


hints = typing.get_type_hints(Outer)
print(list(hints), hints["inner"], hints["others"], hints["maybe"] == typing.Optional[Inner], typing.get_args(hints["quoted"]))
print(Outer.read({"inner": {"lr": 2.0}}), [f.type for f in dataclasses.fields(Outer)][:3])
print(typing.get_type_hints(Derived)["more"], typing.get_type_hints(function), function.__annotations__["x"])
try:
    typing.get_type_hints(Wrong)
except NameError as error:
    print(error)


def numbers():
    yield 1


over = numbers()
next(over)
over.close()
try:
    over.send(1)
except StopIteration:
    print("over")
try:
    numbers().send(1)
except TypeError as error:
    print(error)


@functools.singledispatch
def shown(given):
    return "object"


@shown.register
def _(given: int):
    return f"int {given}"


@shown.register
def _(given: list):
    return f"list {len(given)}"


print(shown(3), shown([1, 2]), shown("x"))
