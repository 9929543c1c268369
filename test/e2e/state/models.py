# SPDX-License-Identifier: Apache-2.0
"""Models whose forward changes what they hold. PyTorch and our evaluator read this file."""
import torch
from torch import nn
from torch._higher_order_ops.map import map as map_each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.nn import functional as F


class Counter(nn.Module):
    """Numbers in place, by an operator and by `+=`."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("total", torch.arange(4.0))
        self.register_buffer("largest", torch.full((4,), -1e30), persistent=False)

    def forward(self, x):
        self.calls += 1
        self.total.add_(x.sum(0))
        self.largest.copy_(torch.maximum(self.largest, x.amax(0)))
        return self.total / self.calls, self.calls


class Bound(nn.Module):
    """Bound anew instead of written; what was returned before stays what it was."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("a", torch.zeros(3))
        self.register_buffer("b", torch.ones(3))

    def forward(self, x):
        before = self.calls
        self.calls = self.calls + 1
        self.a, self.b = self.b, self.a + x
        return before, self.a - self.b


class Cache(nn.Module):
    """Keys and values of a decoder: one place by an index of values, a slice by numbers; named as the inputs are."""

    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.zeros(2, 3, 10, 4))
        self.register_buffer("v", torch.zeros(2, 3, 10, 4))

    def forward(self, q, k, v, pos):
        self.k[:, :, pos] = k
        self.v.index_copy_(2, pos, v)
        weights = torch.softmax(q @ self.k.transpose(-1, -2), -1)
        return weights @ self.v


class Slices(nn.Module):
    """Through views, several times over."""

    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.arange(2 * 8 * 3.0).reshape(2, 8, 3))
        self.register_buffer("none", torch.zeros(0, 3))

    def forward(self, x):
        self.k[:, 3:6] = x
        self.k[:, 0:2].mul_(0.5).add_(1)
        row = self.k[1]
        row[7] -= x[0, 0]
        self.none.add_(1)
        return self.k.sum(1), self.none


class Flags(nn.Module):
    """bool, integers of all sizes, 16-bit and 64-bit floats."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(5, dtype=torch.bool))
        self.register_buffer("bytes", torch.zeros(3, dtype=torch.uint8))
        self.register_buffer("narrow", torch.ones(2, dtype=torch.float16))
        self.register_buffer("wide", torch.ones(2, dtype=torch.float64))

    def forward(self, index):
        self.seen[index] = True
        self.bytes += 100
        self.narrow *= 1.5
        self.wide.div_(3)
        return self.seen, self.bytes + 1


class Average(nn.Module):
    """A moving average of what passes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.mean.lerp_(x.mean(0), 0.25)
        return x - self.mean


class Twice(nn.Module):
    """One module under two names, called twice: its state changes twice."""

    def __init__(self):
        super().__init__()
        self.first = Average()
        self.again = self.first
        self.other = Average()

    def forward(self, x):
        return self.other(self.again(self.first(x)))


class Scale(nn.Module):
    """A parameter that forward writes to."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        with torch.no_grad():
            self.scale.mul_(0.5)
        return x * self.scale


class Norms(nn.Module):
    """Batch norms of every kind; in training those that keep statistics change them."""

    def __init__(self):
        super().__init__()
        self.plain = nn.BatchNorm1d(3)
        self.mean = nn.BatchNorm1d(3, momentum=None)
        self.fast = nn.BatchNorm1d(3, momentum=0.9, eps=0.1, affine=False)
        self.loose = nn.BatchNorm1d(3, track_running_stats=False)

    def forward(self, x):
        return self.plain(x) + self.mean(x) + self.fast(x) + self.loose(x)


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(2)
        self.each = nn.InstanceNorm2d(2, momentum=0.4, track_running_stats=True)
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("var", torch.ones(2))

    def forward(self, x):
        return self.norm(x), self.each(x), F.batch_norm(x, self.mean, self.var, None, None, True, 0.3)


class Branching(nn.Module):
    """State that one branch changes, or each another part of; through a view, an operand and a branch in a branch."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("table", torch.zeros(4, 3))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        rows = self.table[1:3]

        def yes(x):
            self.seen.add_(x.sum(0))
            rows[0] = x[0]

            def deeper(seen):
                rows[1].mul_(0.5).add_(seen)
                self.steps += 2
                return seen * 2

            return torch.cond(x.mean() > 1, deeper, lambda seen: seen + rows.sum(0), (self.seen,))

        def no(x):
            self.table[3].copy_(x[-1])
            self.steps.add_(1)
            return x[0] - self.seen

        y = torch.cond(x.sum() > 0, yes, no, (x,))
        doubled = x * 1
        z = torch.cond(self.steps > 2, lambda d: d.mul_(2).sum(), lambda d: d.sum() + 0, (doubled,))
        return y + self.table.sum(0) + self.steps, z, doubled


class Looping(nn.Module):
    """A cache that loops write: at a place for each turn, before a branch, inside of a scan and of a map."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(6, 3))
        self.register_buffer("last", torch.zeros(3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, n):
        def body(i, y):
            self.cache.index_copy_(0, (i % 6).reshape(1), y.reshape(1, 3))
            self.cache[0] += 1
            y = torch.cond(i % 2 == 0, lambda y: y + self.last, lambda y: y - self.cache[0], (y,))
            self.last.copy_(y)
            return i + 1, y * 0.5

        i, y = while_loop(lambda i, y: (i < n) & (self.cache.sum() < 500), body, (torch.tensor(0), x[0]))

        def step(carry, row):
            self.calls.add_(1)
            return carry + row, carry * self.calls

        carry, rows = scan(step, y, x)

        def each(row):
            self.cache[5].add_(row)
            return row * self.cache[5]

        return i, carry, rows, map_each(each, x)


class Tables(nn.Module):
    """Writes into one buffer, one after the other, of the same places too."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(2, 5, 3))
        self.register_buffer("count", torch.zeros(5, dtype=torch.int64))

    def forward(self, x, at):
        self.cache[:, at] = x
        self.cache.index_put_((torch.tensor([1, 0]), at), x[1] * 2)
        self.cache.scatter_(2, (at % 3).reshape(2, 1, 1), 7.0)
        before = self.cache.sum() * 1
        self.cache.index_copy_(1, at, x - 1)
        self.count.index_add_(0, at, torch.ones_like(at)).scatter_add_(0, at, at)
        self.cache[0, at[0]] = self.count[:3].float()
        return before, self.cache * 1
