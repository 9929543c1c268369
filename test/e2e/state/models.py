# SPDX-License-Identifier: Apache-2.0
"""Models whose forward changes what they hold. PyTorch and our evaluator read this file."""
import torch
from torch import nn
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
