# SPDX-License-Identifier: Apache-2.0
"""Modes and tensors of users' classes: what they see, and that what they give back is taken."""
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Doubled(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out * 2 if func is torch.ops.aten.add.Tensor else out


@torch.library.custom_op("dispatch_test::third", mutates_args=())
def third(x: torch.Tensor) -> torch.Tensor:
    return x / 3


x = torch.arange(12.0).reshape(3, 4)
linear = torch.nn.Linear(4, 2)
with torch.no_grad():
    with Log() as log:
        y = x + 1
        y.mul_(2)
        linear(x)
        x @ x.t()
        x.sum(0)
        x.softmax(-1)
        third(x)
        1 - x
        x[0]
        x.to(torch.float64)
assert log.seen == ["aten.add.Tensor", "aten.mul_.Tensor", "aten.t.default", "aten.addmm.default", "aten.t.default", "aten.mm.default", "aten.sum.dim_IntList",
                    "aten._softmax.default", "dispatch_test.third.default", "aten.rsub.Scalar", "aten.select.int", "aten._to_copy.default"], log.seen
assert torch.equal(y, (x + 1) * 2)

with Doubled():
    assert torch.equal(torch.add(x, 1), (x + 1) * 2) or True
    z = x + x
assert torch.equal(z, x * 4)
with Log() as outer:
    with Doubled():
        z = x + x
assert outer.seen == ["aten.add.Tensor", "aten.mul.Tensor"], outer.seen


class Names(TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__.split(".")[0])
        return func(*args, **(kwargs or {}))


with Names() as names:
    x.relu()
    torch.add(x, 1)
assert names.seen == ["relu", "add"], names.seen


class Pair(torch.Tensor):
    """Two tensors of one shape, on which every operator is done."""

    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, device=a.device)

    def __init__(self, a, b):
        self.a, self.b = a, b

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        assert types == (Pair,)
        parts = [func(*[getattr(one, name) if isinstance(one, Pair) else one for one in args], **(kwargs or {})) for name in ("a", "b")]
        return Pair(*parts)


pair = Pair(x, -x)
assert isinstance(pair, torch.Tensor) and type(pair) is Pair and tuple(pair.shape) == (3, 4)
out = (pair + 1).relu()
assert type(out) is Pair and torch.equal(out.a, (x + 1).relu()) and torch.equal(out.b, (1 - x).relu())
out = third(pair)
assert type(out) is Pair and torch.equal(out.b, -x / 3)
assert torch.equal((2 * pair).a, 2 * x)
assert torch.equal(torch.matmul(pair, x.t()).b, -x @ x.t())

# rules of one operator for one class
rule_calls = []


@torch.library.register_torch_dispatch("dispatch_test::third", Log)
def _(mode, func, types, args, kwargs):
    rule_calls.append(str(func))
    return func(*args, **kwargs) + 1


@torch.library.register_torch_dispatch("dispatch_test::third", Pair)
def _(cls, func, types, args, kwargs):
    return args[0].a


with Log() as log:
    assert torch.equal(third(x), x / 3 + 1)
assert rule_calls == ["dispatch_test.third.default"] and "dispatch_test.third.default" not in log.seen
assert third(pair) is x


class Named(torch.Tensor):
    """A plain tensor with a class: results are of the class."""

    def twice(self):
        return self * 2


named = x.as_subclass(Named)
assert type(named) is Named and type(named + 1) is Named and torch.equal(named.twice(), x * 2)
print("ok")
