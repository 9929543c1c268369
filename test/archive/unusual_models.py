# SPDX-License-Identifier: Apache-2.0
"""Models for unusual_archives_test.py: everything that an archive can hold beside a plain network. Each entry is (module, calls,
options of export), a call being (arguments, keywords); the first call is that of the export."""
import collections
import dataclasses

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401, its operators
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim
from torch.nn import functional as F
from torch.utils import _pytree as pytree

Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor | None
    scale: float = 1.0


torch.export.register_dataclass(Batch, serialized_type_name="tests.Batch")
pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")


class Trees(nn.Module):
    """Dicts in dicts, named tuples, dataclasses, None, numbers and texts at both ends; keywords in another order than forward's."""

    def forward(self, batch, pair, *more, options=None, table=None, name="sum", **others):
        x = batch.x * batch.scale
        if batch.mask is not None:
            x = torch.where(batch.mask, x, torch.zeros_like(x))
        y = pair.left @ pair.right[0]["w"].mT
        z = others["bias"]["inner"][1] + sum(more)
        if options is None and name == "sum":
            y = y + table["deep"]["deeper"][0]
        return {"b": (x + z, None, [y]), "a": Pair(x.sum(), {"n": 3, "t": "text", "e": ()}), "c": Batch(y.mean(0), None, 2.0), "z": pair.left}


def trees():
    values = lambda n: ((Batch(torch.randn(n, 4), torch.rand(n, 4) > 0.5, 0.5), Pair(torch.randn(n, 3), [{"w": torch.randn(5, 3)}]), torch.randn(4), torch.randn(1, 4)),
                        {"table": {"deep": {"deeper": (torch.randn(5), None)}, "also": None}, "bias": {"inner": [None, torch.randn(4)]}, "name": "sum"})
    return Trees(), [values(2), values(2)], {}


class Weights(nn.Module):
    """Tied, transposed, cut, spread, gapped, empty and rank-0 weights; every kind of buffer and constant; what forward changes."""

    def __init__(self):
        super().__init__()
        base = torch.randn(12, 10)
        self.whole = nn.Parameter(base)
        self.part = nn.Parameter(base[2:8, 1:7])
        self.turned = nn.Parameter(base.t()[3:9, 4:10])
        self.tied = self.whole
        self.register_buffer("spread", torch.randn(6, 1).expand(6, 6))
        self.register_buffer("gapped", torch.randn(12, 12)[::2, ::2])
        self.register_buffer("empty", torch.zeros(0, 6))
        self.register_buffer("number", torch.tensor(1.5, dtype=torch.float64))
        self.register_buffer("bits", torch.tensor([True, False, True, True, False, True]))
        self.register_buffer("narrow", torch.randn(6).bfloat16())
        self.register_buffer("octets", torch.arange(6, dtype=torch.uint8), persistent=False)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("last", torch.zeros(6), persistent=False)
        self.register_buffer("cache", torch.zeros(4, 6))
        self.constant = torch.arange(36.0).view(6, 6).t()
        self.inner = nn.ModuleDict({"a.b".replace(".", "_"): nn.Linear(6, 6), "forward_": nn.Linear(6, 6, bias=False)})
        self.inner["forward_"].weight = self.inner["a_b"].weight

    def forward(self, x, into):
        y = x @ self.part + x @ self.turned.T @ self.constant + torch.cat([self.empty, self.spread]).sum(1) * self.number
        y = torch.where(self.bits, y, y * self.narrow + self.octets) + self.whole[:6, :6].sum(0) - self.tied[6:, 4:].sum(0) + self.gapped[1]
        y = self.inner["forward_"](self.inner["a_b"](y)) + torch.tensor([0.25, 1, 2, 3, 4, 5])
        self.calls += 1
        self.cache.index_copy_(0, (self.calls % 4).reshape(1), y[:1])
        self.last.copy_(y.mean(0) + self.last)
        into[:, 1:3].add_(y[:, :2])
        into.t_().mul_(2).t_()
        return y, self.last * 1, self.cache.sum(1), self.calls + 0, into[:, 0]


def weights():
    values = lambda n: ((torch.randn(n, 6), torch.randn(n, 4)), {})
    return Weights(), [values(3), values(3), values(3), values(3), values(3)], {}


class Flow(nn.Module):
    """Every higher-order operator, one inside of another, with sizes that differ from call to call."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("turns", torch.zeros(2))

    def forward(self, x, n, flag):
        def step(carry, row):
            new = torch.cond(row.sum() > 0, lambda c, r: torch.tanh(self.layer(c)) + r, lambda c, r: c * 0.5 - r, (carry, row))
            return new, new.abs() * 2

        carry, rows = scan(step, x[0] * 0, x)
        back, _ = scan(step, x[0] * 0, x, reverse=True)

        def body(i, y):
            return i + 1, associative_scan(lambda a, b: torch.maximum(a, b), y * 0.5 + 0.125, 0, combine_mode="pointwise")

        i, y = while_loop(lambda i, y: (i < n) & (y.abs().max() > 1e-3), body, (torch.tensor(0), x))
        z = each(lambda row, w: torch.cond(flag, lambda r: r @ w, lambda r: (r * 2) @ w.t(), (row,)), x, self.layer.weight)
        self.turns[1] += i.float()
        return carry, rows, back, i, y, z, self.turns * 1


def flow():
    values = lambda rows, n, flag: ((torch.randn(rows, 4), torch.tensor(n), torch.tensor(flag)), {})
    return Flow(), [values(5, 3, True), values(2, 0, False), values(9, 50, True)], {"dynamic_shapes": ({0: Dim("rows", min=2, max=64)}, None, None)}


class Derived(nn.Module):
    """Dims that are expressions of another, and a product of dims; results whose sizes are arithmetic of them."""

    def forward(self, x, twice, more, square):
        n = x.shape[0]
        a = torch.cat([x, twice[::2], more[1:]], 0)
        b = square.view(n, -1) @ x
        c = torch.arange(n * 2 + 9)[n::2]
        return a, b, c, x.new_zeros(n + 3, (n + 15) // 8), x.unfold(0, 2, 1).sum(), torch.full((n % 4 + 2,), n), n


def derived():
    n = Dim("n", min=2, max=40)
    values = lambda n: ((torch.randn(n, 3), torch.randn(2 * n, 3), torch.randn(n + 1, 3), torch.randn(n, n)), {})
    return Derived(), [values(6), values(3), values(21), values(40)], {"dynamic_shapes": ({0: n}, {0: 2 * n}, {0: n + 1}, {0: n, 1: n})}


class Deferred(nn.Module):
    """Checks of sizes and values that are left to the call."""

    def forward(self, x, y, count):
        k = count.item()
        torch._check(k >= 1)
        torch._check(k <= x.shape[0])
        head = x[:k].sum(0) + torch.zeros(k).sum()
        rows = torch.nonzero(x[:, 0] > 0).squeeze(-1)
        return head, x[rows] * 2, x + y, x.reshape(-1, 2), torch.repeat_interleave(x[:, 0], k)


def deferred():
    values = lambda n, k: ((torch.randn(n, 4), torch.randn(n, 4), torch.tensor(k)), {})
    return Deferred(), [values(6, 3), values(4, 4), values(11, 1)], {"dynamic_shapes": ({0: Dim.AUTO}, {0: Dim.AUTO}, None), "prefer_deferred_runtime_asserts_over_guards": True}


class Quantised(nn.Module):
    """Weights of int8 and int4, products of int8, rows quantised as they come."""

    def __init__(self):
        super().__init__()
        self.register_buffer("w8", torch.randint(-128, 128, (8, 32), dtype=torch.int8))
        self.register_buffer("s8", torch.rand(8) * 0.1)
        self.register_buffer("z8", torch.zeros(8, dtype=torch.int64))
        self.register_buffer("w4", torch.randint(0, 256, (8, 16), dtype=torch.uint8))
        self.register_buffer("s4", torch.rand(8, 1) * 0.1)

    def forward(self, x):
        Q = torch.ops.quantized_decomposed
        q = Q.quantize_per_tensor.default(x, 0.05, 3, -128, 127, torch.int8)
        w = Q.dequantize_per_channel.default(self.w8, self.s8, self.z8, 0, -128, 127, torch.int8)
        low, high = (self.w4 & 15).to(torch.int8) - 8, (self.w4 >> 4).to(torch.int8) - 8
        unpacked = torch.stack((low, high), -1).view(8, 32) * self.s4
        scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        rows = torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)
        whole = torch._int_mm(rows, self.w8.t()) * (scale * self.s8)
        return F.linear(Q.dequantize_per_tensor.default(q, 0.05, 3, -128, 127, torch.int8), w), F.linear(x, unpacked), whole, q


def quantised():
    values = lambda n: ((torch.randn(n, 32),), {})
    return Quantised(), [values(24), values(17)], {"dynamic_shapes": ({0: Dim("rows", min=17, max=64)},)}


class Aliases(nn.Module):
    """Results that are inputs, parameters, buffers, one another or views; one tensor returned twice; an input that nobody reads."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 4))
        self.register_buffer("b", torch.randn(4))

    def forward(self, x, unused, y):
        z = x.t()
        y.add_(1)
        return x, z, z[1:], self.w, self.b, self.w.t()[1], y, y, y.view(-1), (x + 1, None), None, 7, True, 0.5, "word"


def aliases():
    values = lambda: ((torch.randn(2, 3), torch.randn(5), torch.randn(2, 2)), {})
    return Aliases(), [values(), values()], {}


class Types(nn.Module):
    """Every element type at both ends and between."""

    def forward(self, a, b, c, d, e, f, g, h):
        return a + b, b.to(torch.float16) * 2, c * 3 // 2, d.to(torch.int8) + a.to(torch.int8), e ^ True, (f.double() * g).to(torch.bfloat16), h.to(torch.uint8) << 1, (c.float() / 3).to(torch.int16), d | 3


def types():
    make = lambda n: ((torch.randn(n), torch.randn(n).bfloat16(), torch.randint(-9, 9, (n,), dtype=torch.int16), torch.randint(0, 200, (n,), dtype=torch.uint8), torch.rand(n) > 0.5,
                       torch.randn(n).half(), torch.randn(n, dtype=torch.float64), torch.randint(-9, 9, (n,), dtype=torch.int8)), {})
    return Types(), [make(7), make(7)], {}


class Empty(nn.Module):
    """Sizes of nothing: inputs without elements, sums and products over none, lists of none."""

    def forward(self, x, y):
        return x.sum(0), x @ y, torch.cat([x, x], 0), x.sort(0)[0], x.mean(1), torch.stack([x, x]).prod(1), y.t().softmax(0), F.linear(x, y.t()), x.reshape(-1), x.cumsum(0), torch.zeros(0, 3), x[:0]


def empty():
    return Empty(), [((torch.randn(0, 4), torch.randn(4, 3)), {})] * 2, {}


class InPlace(nn.Module):
    """Operators in place whose overloads have another name than those that give a new tensor; operators that turn a tensor."""

    def forward(self, x, y, i):
        a, b, c, d, e, f = (x.clone() for _ in range(6))
        a.pow_(3)
        b **= y
        c.transpose_(0, 1).mul_(2)
        d.ldexp_(i)
        j, k, wide = i.clone(), i.clone(), x.double()
        j //= 2
        k.floor_divide_(i + 1)
        wide.float_power_(2.5).float_power_(y)
        return a, b, c, d, e.unsqueeze_(1), f[:1].squeeze_(0), j, k, wide, x.clone().swapaxes_(0, 1)


def in_place():
    values = lambda: ((torch.rand(3, 4) + 0.5, torch.rand(3, 4) + 0.5, torch.randint(-9, 9, (3, 4)).abs() + 1), {})
    return InPlace(), [values(), values()], {}


class Resized(nn.Module):
    """A table of places brought to sizes that values decide, as encoders of images of any size do."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(1, 6, 4, 4))

    def forward(self, shapes):
        found = []
        for i, mode in enumerate(("bilinear", "bicubic")):
            h, w = shapes[i].tolist()
            torch._check(h >= 1)
            torch._check(w >= 1)
            found.append(F.interpolate(self.table, size=(h, w), mode=mode, align_corners=False, antialias=True).reshape(6, h * w).t())
        return found


def resized():
    return Resized(), [((torch.tensor(sizes),), {}) for sizes in ([[4, 4], [2, 8]], [[1, 1], [12, 2]], [[2, 3], [1, 5]], [[6, 4], [4, 6]])], {}


MODELS = {f.__name__: f for f in (trees, weights, flow, derived, deferred, quantised, aliases, types, empty, in_place, resized)}
