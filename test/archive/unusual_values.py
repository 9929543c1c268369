# SPDX-License-Identifier: Apache-2.0
"""More models for unusual_archives_test.py: dims that are found or given in every way, numbers that are computed from sizes, sizes that values
decide, element types of weights, hooks, shared modules. Entries are as in unusual_models.py, with the calls that the package must refuse as
`refused` among the options: (arguments, keywords, a text of the message); those of `guarded` where the archive has guards, which run_decompositions() leaves out."""
import collections
import math

import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F
from torch.nn.utils import parametrizations


class Found(nn.Module):
    """Dims that export() finds itself, one of them up to 9."""

    def forward(self, x, y, table):
        z = torch.cat([x, y[None].expand(x.shape[0], -1)], 1)
        return z.softmax(-1), x.mean(), x.flatten().cumsum(0), table["a"] + x.shape[0], x.shape[0], x.shape[1] * 2


def automatic():
    values = lambda n, m, k: ((torch.randn(n, m), torch.randn(k), {"a": torch.randn(m)}), {})
    shapes = ({0: Dim.AUTO(max=9), 1: Dim.DYNAMIC}, (Dim.AUTO,), {"a": {0: Dim.AUTO}})
    return Found(), [values(3, 4, 5), values(1, 4, 5), values(9, 2, 1), values(9, 7, 5)], {"dynamic_shapes": shapes, "refused": [(*values(10, 4, 5), "must be in")]}


def collected():
    values = lambda n, m, k: ((torch.randn(n, m), torch.randn(k), {"a": torch.randn(m)}), {})
    calls = [values(3, 4, 5), values(1, 3, 1), values(8, 6, 2)]
    shapes = torch.export.ShapesCollection()
    x, y, table = calls[0][0]
    rows, columns = Dim("rows", max=8), Dim("columns", min=2, max=16)
    shapes[x], shapes[y], shapes[table["a"]] = {0: rows, 1: columns}, (Dim.AUTO,), (columns,)
    # The collection knows tensors by their identity.
    return Found(), calls, {"collection": shapes, "refused": [(*values(9, 3, 1), "must be in"), (*values(3, 17, 1), "must be in")]}


def additional():
    values = lambda n, m, k: ((torch.randn(n, m), torch.randn(k), {"a": torch.randn(m)}), {})
    calls = [values(3, 4, 5), values(6, 2, 3), values(5, 8, 5)]
    more = torch.export.AdditionalInputs()
    for args, kwargs in calls:
        more.add(args, kwargs)
    return Found(), calls, {"collection": more}


class Floats(nn.Module):
    """Numbers with a fraction that are made of sizes: factors, fills, roots, rounding to a size."""

    def forward(self, x, scale):
        n, m = x.shape
        a = x * (n**0.5) + m / 3 - n**0.5 / m
        b = torch.full((3, m), n / 7) + x.new_full((2,), n / 2)[:1] + torch.full_like(x, m / 9)[:1]
        c = torch.pow(x.abs() + 1, 1 / n) + x.clamp(max=n / 9) + x.clamp_min(-m / 5) + torch.where(x > 0, n / 3, x)
        d = x.masked_fill(x > 1, n / 3) + torch.tensor(n / 2) + torch.scalar_tensor(n) + torch.tensor([n, m]).sum()
        e = torch.arange(6).reshape(2, 3) * (n / 2) + torch.tensor([[n, 2], [m, n * m]], dtype=torch.float32)[:, :1]
        f = (x * (1 / m)).bfloat16() * (n / 3)
        return a, b, c, d, e, f, scale * (1.0 / n), n / 2, n**-1, float(3), torch.sym_float(n), n * 0.5 + m, n * m, n % 3


def floats():
    values = lambda n, m: ((torch.randn(n, m), torch.randn(3)), {})
    return Floats(), [values(6, 5), values(1, 2), values(9, 8), values(16, 12)], {"dynamic_shapes": ({0: Dim("n", min=2, max=16), 1: Dim("m", min=2, max=12)}, None), "refused": [(*values(17, 3), "must be in")]}


class Decided(nn.Module):
    """Sizes that values decide through views, joins, indices, convolutions, products and orders."""

    def __init__(self):
        super().__init__()
        self.conv, self.line, self.table = nn.Conv1d(4, 3, 3, padding=1), nn.Linear(4, 2), nn.Embedding(10, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x, count, ids, keep):
        k = count.item()
        torch._check(k >= 1)
        torch._check(k <= x.shape[0])
        head = x[:k]
        two = torch.cat([head, x, head * 2])
        ids = ids[ids >= 0]
        words = self.table(ids)
        picked = x[keep]
        wide = head.reshape(k, 2, 2).transpose(0, 1).reshape(-1)
        pair = head @ x.t()
        image = self.conv(two.t()[None])
        return (two, words, picked.sum(0), wide, pair.softmax(-1), image, self.line(self.norm(head)), torch.zeros(k, k + 1) + 1, head.cumsum(0), head.sort(0)[0], F.pad(head, (1, 0, 0, 2)),
                torch.arange(k), head.mean(1).unsqueeze(0).expand(3, -1), torch.stack([head, head]), head.index_select(0, torch.arange(k) // 2), (head > 0).sum(), k, k * 2 + 1,
                torch.where(head > 0, head, 0.0), head.view(-1, 4)[0], head.amax(0), F.scaled_dot_product_attention(head[None], head[None], head[None]), torch.unique(ids), head.flip(0), head.repeat(2, 1), torch.tril(torch.ones(k, k)))


def decided():
    def values(n, k):
        ids = torch.randint(-3, 10, (n,))
        ids[0] = 4
        keep = torch.rand(n) > 0.4
        return (torch.randn(n, 4), torch.tensor(k), ids, keep), {}

    n = Dim("n", min=2, max=32)
    return Decided(), [values(6, 3), values(2, 1), values(2, 2), values(32, 32)], {"dynamic_shapes": ({0: n}, None, {0: n}, {0: n}), "refused": [(*values(33, 3), "must be in"), (*values(6, 7), "u"), (*values(6, 0), "u")]}


class Lists(nn.Module):
    """Numbers out of tensors: tolist, splits by values, sizes of several values that are checked against each other."""

    def forward(self, x, lengths, shape):
        a, b, c = lengths.tolist()
        for size in (a, b, c):
            torch._check(size >= 0)
        torch._check(a + b + c == x.shape[0])
        first, second, third = torch.split(x, [a, b, c])
        h, w = shape.tolist()
        torch._check(h > 0)
        torch._check(w > 0)
        torch._check(h * w == 12)
        grid = x.new_zeros(12).view(h, w) + torch.arange(w)
        return first.sum(0), second * 2, third.mean(), grid, a + b, torch.repeat_interleave(x, torch.tensor([1, 2, 0, 1, 3, 1, 1], dtype=torch.int64), dim=0)


def lists():
    values = lambda sizes, shape: ((torch.randn(7, 3), torch.tensor(sizes), torch.tensor(shape)), {})
    return Lists(), [values([2, 4, 1], [3, 4]), values([0, 0, 7], [12, 1]), values([7, 0, 0], [1, 12]), values([1, 5, 1], [4, 3])], {"refused": [(*values([2, 2, 2], [3, 4]), ""), (*values([2, 4, 1], [5, 4]), "")]}


class Hooked(nn.Module):
    """Hooks before and after forward, with and without keywords; parametrised weights; one module under two names."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.c = self.a
        self.d = nn.Sequential(self.b, nn.ReLU(), self.b)
        self.e = parametrizations.weight_norm(nn.Linear(4, 4))
        self.f = parametrizations.spectral_norm(nn.Linear(4, 4))
        self.g = nn.ParameterDict({"w": self.a.weight, "v": nn.Parameter(torch.randn(4))})
        self.h = nn.ParameterList([self.g["v"], nn.Parameter(torch.randn(4, 4).t())])
        self.o = parametrizations.orthogonal(nn.Linear(4, 4), use_trivialization=False)
        torch.nn.utils.parametrize.remove_parametrizations(self.o, "weight")
        self.a.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        self.b.register_forward_hook(lambda module, args, result: result + args[0])
        self.e.register_forward_hook(lambda module, args, kwargs, result: (result, kwargs), with_kwargs=True)

    def forward(self, x):
        y, _ = self.e(input=x)
        return self.d(self.c(self.a(x))) + self.f(y) + self.g["v"] @ self.g["w"] + self.h[0] * self.h[1].sum(0) + self.o(x)


def hooked():
    values = lambda n: ((torch.randn(n, 4),), {})
    return Hooked(), [values(3), values(1), values(5)], {"dynamic_shapes": ({0: Dim("n", max=5)},), "refused": [(*values(6), "must be in")]}


class Stored(nn.Module):
    """Weights of every type that a file can hold and numbers of odd values."""

    def __init__(self):
        super().__init__()
        self.register_buffer("e4m3", torch.randn(4, 4).to(torch.float8_e4m3fn))
        self.register_buffer("e5m2", torch.randn(4, 4).to(torch.float8_e5m2))
        self.register_buffer("u16", torch.tensor([0, 1, 40000, 65535], dtype=torch.uint16))
        self.register_buffer("u32", torch.tensor([0, 1, 3000000000, 4294967295], dtype=torch.uint32))
        self.register_buffer("bf", torch.tensor(0.3, dtype=torch.bfloat16))
        self.register_buffer("short", torch.randn(4).half())
        self.register_buffer("least", torch.tensor([-2**63, 2**63 - 1, 0, -1]))
        self.register_buffer("odd", torch.tensor([float("inf"), float("-inf"), float("nan"), -0.0]))
        self.factor = torch.tensor(2.5, dtype=torch.bfloat16)

    def forward(self, x):
        return (x @ self.e4m3.float() + self.e5m2.to(torch.float32)[0], self.u16.to(torch.int32) + 1, self.u32.to(torch.int64) * 2, x.bfloat16() * self.bf * self.factor, self.short * x, self.least, self.odd + x * 0,
                self.u16, self.u32, self.bf, x.clamp(-math.inf, 1e30), torch.full((2,), float("nan")), torch.full((1,), -2**63), self.e4m3.to(torch.bfloat16), x + 1e-45, self.least // 3)


def stored():
    values = lambda n: ((torch.randn(n, 4),), {})
    return Stored(), [values(4), values(1)], {"dynamic_shapes": ({0: Dim("n", max=4)},), "refused": [(*values(5), "must be in")]}


class Written(nn.Module):
    """Inputs that are written to through views, in pieces, twice, and returned."""

    def forward(self, x, y, z, *, into):
        x[1:].view(-1)[::2].add_(1)
        x[:, 0].copy_(y[:-4])
        y.unsqueeze(0).unsqueeze(0)[0, 0, 2:].zero_()
        z.index_put_((torch.tensor([0, 1]),), torch.tensor([5.0, 6.0]))
        z.masked_fill_(z < 0, 7.0).clamp_(max=6.5)
        into["deep"][0].fill_(3.0)
        into["also"].diagonal().mul_(2)
        return x, y[1:], z.sum(), into["also"], {"again": x.view(-1)}


def written():
    values = lambda n: ((torch.randn(n, 3), torch.randn(n + 4), torch.randn(4)), {"into": {"deep": [torch.randn(2)], "also": torch.randn(3, 3)}})
    n = Dim("n", min=3, max=6)
    return Written(), [values(4), values(3), values(6)], {"dynamic_shapes": {"x": {0: n}, "y": {0: n + 4}, "z": None, "into": {"deep": [None], "also": None}}}


class Named(nn.Module):
    """Names that other languages keep to themselves, and names of one sound."""

    def __init__(self):
        super().__init__()
        for name in ("0", "naïve", "a_b", "int", "tensor", "self_", "L", "forward_1"):
            self.add_module(name, nn.Linear(2, 2))
        self.a = nn.ModuleDict({"b": nn.Linear(2, 2)})
        self.register_buffer("given", torch.randn(2))

    def forward(self, input, dtype, out, *, print, length):
        for module in self._modules.values():
            input = module(input) if isinstance(module, nn.Linear) else module["b"](input)
        return {"return": input + dtype, "0": out * print, "naïve": length + self.given, "a b": self.given * 1}


def named():
    values = lambda: ((torch.randn(3, 2), torch.randn(2), torch.randn(2)), {"print": torch.randn(2), "length": torch.randn(2)})
    return Named(), [values(), values()], {}


class Nothing(nn.Module):
    """No inputs; results that are constants, the weights and numbers alone."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))
        self.register_buffer("n", torch.zeros(2))

    def forward(self):
        self.n += 1
        return torch.arange(3), self.w, None, 3, torch.tensor([1.5, 2.5]), (), {}, [self.n.sum()], torch.ones(0, 2), True, "text", 0.25


def nothing():
    return Nothing(), [((), {}), ((), {})], {}


class Silent(nn.Module):
    """Gives nothing; writes to an input and to what it keeps."""

    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(2))

    def forward(self, x):
        self.n.add_(x)
        x.zero_()


def silent():
    values = lambda: ((torch.randn(2),), {})
    return Silent(), [values(), values()], {}


class Containers(nn.Module):
    """Containers of the standard library at both ends, in another order than that of their keys."""

    def forward(self, ordered, counted, queue, pairs=()):
        first, second = ordered["z"], ordered["a"]
        total = sum(queue) + counted["k"][0]
        for left, right in pairs:
            total = total + left * right
        return collections.OrderedDict([("z", first + total), ("a", second)]), collections.deque([total, first]), collections.defaultdict(list, {"m": [total * 2]}), [[[]]], {"z": {"y": {"x": first}}, "a": second * 3}


def containers():
    values = lambda: ((collections.OrderedDict([("z", torch.randn(2)), ("a", torch.randn(2))]), collections.defaultdict(list, {"k": [torch.randn(2)]}), collections.deque([torch.randn(2), torch.randn(2)])),
                      {"pairs": [(torch.randn(2), torch.randn(2)), [torch.randn(2), torch.randn(2)]]})
    return Containers(), [values(), values()], {}


class Numbers(nn.Module):
    """Ints that differ from call to call, beside floats, bools and texts that are fixed."""

    def forward(self, x, n, factor, flag, word="a", *, m):
        y = x * factor + n if flag and word == "a" else x
        return y + m, n * 2 + m, torch.full((3,), n), x * (m / 2)


def numbers():
    values = lambda n, m: ((torch.randn(4), n, 0.5, True), {"m": m})
    return Numbers(), [values(3, 5), values(1, 0), values(-4, 8)], {"dynamic_shapes": {"x": None, "n": Dim.DYNAMIC, "factor": None, "flag": None, "m": Dim.DYNAMIC}, "numbers": True}


class Contexts(nn.Module):
    """no_grad, enable_grad, inference_mode, autocast, checkpoint."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = self.line(x)
            with torch.enable_grad():
                y = y * 2
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = self.line(x)
            with torch.autocast("cpu", enabled=False):
                z = z.float() @ self.line.weight
        w = torch.utils.checkpoint.checkpoint(self.line, x, use_reentrant=False)
        return y, z, w.detach()


def contexts():
    values = lambda n: ((torch.randn(n, 4),), {})
    return Contexts(), [values(3), values(1)], {"dynamic_shapes": ({0: Dim("n", max=7)},)}


class Zero(nn.Module):
    """A dim that may be nothing."""

    def forward(self, x, y):
        return torch.cat([x, y]), x.sum(0), (x @ y.t()).shape[0], x.softmax(0), x.reshape(-1), F.linear(x, y[:2]), x.t().contiguous(), x.any(), x * 2


def zero():
    values = lambda n: ((torch.randn(n, 3), torch.randn(4, 3)), {})
    return Zero(), [values(3), values(0), values(1), values(7)], {"dynamic_shapes": ({0: Dim("n", min=0, max=7)}, None), "refused": [(*values(8), "must be in")]}


class Alike(nn.Module):
    """Sizes that the program checked to be equal meet in calls under several names: parts beside the whole, products beside a dim."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(7, 3))

    def forward(self, x, lengths, shape, y):
        a, b, c = lengths.tolist()
        for size in (a, b, c):
            torch._check(size >= 0)
        torch._check(a + b + c == x.shape[0])
        first, second, third = torch.split(x, [a, b, c])
        joined = torch.cat([first * 2, second, third + 1])
        self.kept.copy_(joined)
        h, w = shape.tolist()
        torch._check(h > 0)
        torch._check(w > 0)
        torch._check(h * w == y.shape[0])
        flat = torch.arange(h * w) + 0.5
        return (joined + x, joined.t() @ x, joined.t().contiguous().view(-1), joined[None].expand(2, x.shape[0], 3) * 1.5, third + torch.zeros(c, 1), torch.cat([first, second]) * torch.ones(7 - c, 1),
                torch.where(x > 0, joined, 0.0), flat * y, torch.stack([y, flat]), joined.t().contiguous().softmax(-1) - x.t(), torch.addmm(x, joined @ joined.t(), joined), x.clone().add_(joined), joined.clone().mul_(x), self.kept * 1)


def alike():
    values = lambda sizes, shape, n: ((torch.randn(7, 3), torch.tensor(sizes), torch.tensor(shape), torch.randn(n)), {})
    calls = [values([2, 4, 1], [3, 4], 12), values([0, 0, 7], [5, 1], 5), values([0, 7, 0], [1, 1], 1), values([1, 5, 1], [5, 8], 40)]
    return Alike(), calls, {"dynamic_shapes": (None, None, None, {0: Dim("n", max=40)}), "refused": [(*values([2, 2, 2], [3, 4], 12), "u0 + u1 + u2"), (*values([2, 4, 1], [3, 4], 11), "u3*u4"), (*values([-1, 7, 1], [3, 4], 12), "u0")]}


class Broadcast(nn.Module):
    """Sizes that are one where the export had more: broadcasts, squeezes, reductions, strides."""

    def forward(self, x, y, image):
        n, m = x.shape
        a = x[:, None] + y
        b = x.expand(3, n, m).sum(1) * y.mean(0)
        c = F.max_pool2d(F.avg_pool2d(image, 2, 1, ceil_mode=False), 2, 1) + image.mean((2, 3), keepdim=True)
        d = torch.einsum("nm,km->nk", x, y).std(1) + x.var(1, unbiased=False)
        return a, b, c, d, F.conv2d(image, image.new_ones(1, 2, 3, 3), stride=2, padding=1), F.interpolate(image, scale_factor=2, mode="bilinear"), x.unfold(1, 2, 1), x.roll(1, 0), torch.cdist(x, y)


def broadcast():
    values = lambda n, k, h: ((torch.randn(n, 5), torch.randn(k, 5), torch.randn(n, 2, h, 6)), {})
    n, k, h = Dim("n", max=8), Dim("k", min=2, max=9), Dim("h", min=4, max=20)
    return Broadcast(), [values(3, 4, 8), values(1, 2, 4), values(8, 9, 20), values(1, 9, 6)], {"dynamic_shapes": ({0: n}, {0: k}, {0: n, 2: h}), "refused": [(*values(9, 4, 8), "must be in"), (*values(2, 2, 22), "must be in")]}


class Squeezed(nn.Module):
    """An operator whose dims depend on whether a size is one: the package is for two and more."""

    def forward(self, x):
        return x.squeeze(0) * 2, x.sum(0)


def squeezed():
    values = lambda n: ((torch.randn(n, 5),), {})
    return Squeezed(), [values(3), values(2), values(8)], {"dynamic_shapes": ({0: Dim("n", max=8)},), "refused": [(*values(1), "must be in 2..8"), (*values(9), "must be in")]}


class Matrices(nn.Module):
    """Factors of matrices, not only of square ones, and what is computed with them."""

    def forward(self, a, b, wide, v):
        n = a.shape[-1]
        sure = a @ a.mT + torch.eye(n)
        lower = torch.linalg.cholesky(sure)
        LU, pivots = torch.linalg.lu_factor(a)
        P, L, U = torch.linalg.lu(wide)
        sign, size = torch.linalg.slogdet(a)
        Q, R = torch.linalg.qr(wide)
        return (torch.linalg.inv(a), torch.linalg.det(a), sign, size, torch.linalg.solve(a, b), torch.linalg.solve(a, v), torch.linalg.solve(sure, b.mT, left=False), lower, torch.linalg.cholesky(sure, upper=True),
                LU, pivots, P, L, U, torch.linalg.lu_solve(LU, pivots, b), torch.linalg.lu_solve(LU, pivots, b, adjoint=True), torch.cholesky_solve(b, lower), torch.cholesky_inverse(lower),
                torch.linalg.solve_triangular(lower, b, upper=False), torch.linalg.solve_triangular(lower.mT, b.mT @ lower, upper=True, left=False), Q, R, torch.linalg.qr(wide.mT, mode="complete")[1],
                torch.matrix_exp(a * 0.5), torch.linalg.matrix_power(sure, -2), torch.linalg.inv_ex(a)[1], torch.logdet(sure), torch.linalg.matrix_norm(a, 1))


def matrices():
    def values(batch, n):
        # Far from singular, so that no rounding is made large.
        a = torch.randn(batch, n, n) + 3 * torch.eye(n)[torch.randperm(n)]
        return (a, torch.randn(batch, n, 2), torch.randn(batch, n + 2, n), torch.randn(batch, n)), {}

    singular = (torch.zeros(3, 4, 4), torch.randn(3, 4, 2), torch.randn(3, 6, 4), torch.randn(3, 4)), {}
    return Matrices(), [values(3, 4), values(3, 4)], {"refused": [(*singular, "singular")]}


class Systems(nn.Module):
    """Matrices of sizes and batches that differ, of one and of none."""

    def forward(self, a, b):
        sure = a @ a.mT + torch.eye(a.shape[-1])
        lower = torch.linalg.cholesky(sure)
        return torch.linalg.inv(a), torch.linalg.det(a), torch.linalg.solve(a, b), lower, torch.linalg.solve_triangular(lower, b, upper=False), torch.linalg.slogdet(sure)[1], torch.cholesky_solve(b, lower)


def systems():
    values = lambda batch, n: ((torch.randn(batch, n, n) + 3 * torch.eye(n)[torch.randperm(n)], torch.randn(batch, n, 2)), {})
    batch, n = Dim("batch", max=6), Dim("n", max=7)
    return Systems(), [values(3, 4), values(1, 1), values(0, 3), values(6, 7), values(2, 2)], {"dynamic_shapes": ({0: batch, 1: n, 2: n}, {0: batch, 1: n}), "refused": [(*values(7, 2), "must be in"), (*values(2, 8), "must be in")]}


class Ratios(nn.Module):
    """Branches by quotients of sizes and by roots, which an archive notes as guards."""

    def forward(self, x, y):
        scale = 2.0 if x.shape[0] / y.shape[0] > 1.5 else 3.0
        if 3.0 * (x.shape[1] / x.shape[0]) >= 1.0:
            scale = scale + 1
        if y.shape[0] ** 0.5 < 2.5:
            scale = scale * 2
        return x.sum() * scale + y.sum()


def ratios():
    values = lambda n, m, k: ((torch.randn(n, m), torch.randn(k)), {})
    shapes = ({0: Dim.DYNAMIC, 1: Dim.DYNAMIC}, {0: Dim.DYNAMIC})
    refused = [(*values(3, 4, 2), "guard"), (*values(7, 2, 3), "guard"), (*values(12, 9, 7), "must be in")]
    return Ratios(), [values(6, 4, 3), values(16, 9, 5), values(9, 3, 4), values(5, 9, 3)], {"dynamic_shapes": shapes, "guarded": refused}


class Tuples(nn.Module):
    """Bits, divisors, slopes, rows that are looked up under a norm, values that occur most."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 3, max_norm=0.7)

    def forward(self, x, i, j):
        mantissa, exponent = torch.frexp(x)
        value, place = torch.mode(i, 1)
        return (mantissa, exponent, torch.gcd(i, j), torch.lcm(i, j), value, self.table(i.abs() % 9), *torch.gradient(x, spacing=0.5), torch.gradient(x, dim=1, edge_order=2)[0], torch.fft.fftshift(x), torch.fft.ifftshift(x, dim=(1,)),
                torch.gradient(x, spacing=(torch.tensor([0.0, 1.0, 1.5, 4.0, 4.5]),), dim=1)[0], *torch.triu_indices(0, 0), self.table.weight * 1)


def tuples():
    def values(n):
        x = torch.randn(n, 5) * torch.tensor([1e-40, 1.0, 1e30, 0.0, 3e-5])
        return (x, torch.randint(-30, 30, (n, 7)), torch.randint(-30, 30, (n, 7))), {}

    return Tuples(), [values(5), values(5)], {}


MODELS = {f.__name__: f for f in (automatic, collected, additional, floats, decided, lists, hooked, stored, written, named, nothing, silent, containers, numbers, contexts, zero, alike, broadcast, squeezed, matrices, systems, ratios, tuples)}
