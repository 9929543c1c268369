# SPDX-License-Identifier: Apache-2.0
# Matrix products of every shape, for products_test.py.
import torch
import torch.nn.functional as F
from torch import nn


def matmul(x, w):
    return torch.matmul(x, w)


def transposed_operands(x, w):
    return torch.matmul(x.t(), w.t())


def every_second_row(x, w):
    return torch.matmul(x[::2], w)


def linear(x, w, b):
    return F.linear(x, w, b)


def addmm(c, x, w):
    return torch.addmm(c, x, w)


def addmm_scaled(c, x, w):
    return torch.addmm(c, x, w, beta=0.5, alpha=2.0)


def bmm(x, w):
    return torch.bmm(x, w)


class Tied(nn.Module):
    """One weight, read as a table and as two right operands."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 7)

    def forward(self, index):
        x = F.embedding(index, self.table.weight)
        scores = F.linear(x, self.table.weight)
        return torch.matmul(scores, self.table.weight)


def mm(x, w):
    return torch.mm(x, w)


def linear_plain(x, w):
    return F.linear(x, w)


def addmm_without_addend(c, x, w):
    return torch.addmm(c, x, w, beta=0, alpha=3)


def activated(x, w, b):
    return F.relu(F.linear(x, w, b))


def residual(x, w, b, r):
    return r + F.linear(x, w, b) * 0.5


def gated(x, w, v):
    return F.silu(F.linear(x, w)) * F.linear(x, v)


def per_head(x, w, scale, shift):
    return torch.bmm(x, w) * scale + shift


def row_of_batch(x, w, r):
    """`r` steps through the rows unevenly: its own dim comes again for every x[i]."""
    return F.linear(x, w) + r


def wider(x, w):
    return F.linear(x, w).float() * 3


def read_twice(x, w):
    y = F.linear(x, w)
    return y.relu(), y.sum(dim=1)


def transposed_right(x, w):
    return torch.mm(x, w.t())


def transposed_left(x, w):
    return torch.mm(x.t(), w)
