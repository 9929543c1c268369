# SPDX-License-Identifier: Apache-2.0
"""torch.library: what a script sees of operators, their kernels, schemas and registrations."""
import torch
from torch.library import custom_op


def raises(kind, call, text=""):
    try:
        call()
    except kind as problem:
        assert text in str(problem), problem
        return True
    raise AssertionError(f"no {kind.__name__}")


@custom_op("lib_test::twice", mutates_args=())
def twice(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return x * by


@twice.register_kernel("cpu")
def _(x, by=2.0):
    return x * by + 1


x = torch.arange(6.0).reshape(2, 3)
assert torch.equal(twice(x), x * 2 + 1)
with twice.set_kernel_enabled("cpu", False):
    assert torch.equal(twice(x), x * 2)
assert torch.equal(torch.ops.lib_test.twice(x, 3.0), x * 3 + 1)
assert torch.equal(torch.ops.lib_test.twice.default(x, by=1.0), x + 1)
raises(RuntimeError, lambda: twice.register_kernel("nothing", lambda x: x))


@custom_op("lib_test::fill", mutates_args={"out"})
def fill(x: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(x * 2)


out = torch.zeros(2, 3)
assert fill(x, out) is None
assert torch.equal(out, x * 2)


@custom_op("lib_test::anything", mutates_args="unknown")
def anything(x: torch.Tensor, y: torch.Tensor) -> None:
    x.add_(y)


a = torch.ones(3)
anything(a, torch.ones(3))
assert torch.equal(a, torch.full((3,), 2.0))

# define, impl and libraries
torch.library.define("lib_test::scale", "(Tensor x, float by=3.0) -> Tensor")


@torch.library.impl("lib_test::scale", "cpu")
def scale(x, by=3.0):
    return x * by


assert torch.equal(torch.ops.lib_test.scale(x), x * 3)

library = torch.library.Library("lib_test2", "DEF")
assert library.define("shift(Tensor x, int by) -> Tensor") == "shift"
library.define("shift.twice(Tensor x) -> Tensor")
library.impl("shift", lambda x, by: x + by, "CompositeExplicitAutograd")
library.impl("shift.twice", lambda x: x + x, "CPU")
assert torch.equal(torch.ops.lib_test2.shift(x, 4), x + 4)
assert torch.equal(torch.ops.lib_test2.shift.twice(x), x + x)
assert sorted(torch.ops.lib_test2.shift.overloads()) == ["default", "twice"]
raises(RuntimeError, lambda: torch.library.Library("lib_test2", "DEF"), "lib_test2")
raises(RuntimeError, lambda: torch.library.Library("lib_test2", "IMPL").define("no(Tensor x) -> Tensor"))
raises(ValueError, lambda: torch.library.Library("lib_test2", "SOMETHING"), "Unsupported")
raises(RuntimeError, lambda: library.impl("shift.twice", lambda x: x, "NoKey"), "could not parse dispatch key")

# schemas
schema = torch.library.infer_schema


def prototype(x: torch.Tensor, n: int, y: torch.Tensor | None = None, *, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    return x, x


assert schema(prototype, mutates_args=()) == "(Tensor x, SymInt n, Tensor? y=None, *, float scale=1.0) -> (Tensor, Tensor)", schema(prototype, mutates_args=())
assert schema(prototype, mutates_args={"x"}).startswith("(Tensor(a0!) x, SymInt n")

# what checks an operator
assert torch.library.opcheck(twice, (torch.randn(3),), raise_exception=False)["test_faketensor"] != "SUCCESS"
twice.register_fake(lambda x, by=2.0: torch.empty_like(x))
assert torch.library.opcheck(twice, (torch.randn(3),)) == {name: "SUCCESS" for name in ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")}


@custom_op("lib_test::liar", mutates_args=())
def liar(x: torch.Tensor) -> torch.Tensor:
    return x[:1] * 2


@liar.register_fake
def _(x):
    return torch.empty_like(x)


found = torch.library.opcheck(liar, (torch.randn(3),), test_utils="test_faketensor", raise_exception=False)
assert found["test_faketensor"] != "SUCCESS"
print("ok")
