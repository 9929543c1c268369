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
