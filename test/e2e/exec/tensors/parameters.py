# SPDX-License-Identifier: Apache-2.0
"""Parameters that do something, each in a call that would give another result without it."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Restless(torch.autograd.Function):
    turn = 0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Restless.turn += 1
        return g * (2 + 1e-7 * Restless.turn)


def cube(x):
    return x * x * x * 0.5


x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
print(check(cube, x), check(cube, (x,), fast_mode=True), check(cube, x, check_grad_dtypes=True), check(cube, x, check_undefined_grad=False))
print(check(Wrong.apply, x, raise_exception=False), check(Wrong.apply, x, raise_exception=False, atol=2.0))
print(check(Restless.apply, x, raise_exception=False), check(Restless.apply, x, raise_exception=False, nondet_tol=1e-6))
print(twice(cube, x), twice(cube, x, gen_non_contig_grad_outputs=True), twice(lambda a, b: a * a * b, (x, x.detach().clone().requires_grad_())))


def said(make):
    try:
        return make()
    except Exception as error:
        return type(error).__name__ + ": " + str(error).split("\n")[0]


m = torch.arange(6.0).reshape(2, 3)
print(said(lambda: m.movedim(5, 0)), said(lambda: torch.movedim(m, 1, -3)), torch.tensor(3.0).movedim(0, -1))
print(said(lambda: m.repeat_interleave(2, 4)), m.repeat_interleave(2, -1, output_size=6).tolist(), torch.tensor(3).mT)
print(torch.eye(2, requires_grad=True).requires_grad, torch.linspace(0, 1, 3, requires_grad=True).sum().backward())
w = torch.arange(12.0).reshape(4, 3).requires_grad_()
F.embedding_bag(torch.tensor([0, 1, 1, 3, 1]), w, torch.tensor([0, 2]), scale_grad_by_freq=True, mode="sum").sum().backward()
print(w.grad.tolist())
e = nn.Embedding(5, 3, padding_idx=0, _freeze=True)
print(e.weight[0].tolist(), e.weight.requires_grad)
a = nn.MultiheadAttention(4, 2)
print(a.in_proj_weight.shape, a.out_proj.bias.tolist(), nn.TransformerEncoderLayer(4, 2, 8)(torch.ones(3, 1, 4)).shape)
print(said(lambda: torch.cdist(m, m, compute_mode="other")), said(lambda: torch.testing.assert_close(nn.Parameter(m), m, allow_subclasses=False)).split(" <")[0])
i = torch.tensor([4, -3, 7])
print(7 // i, 7 % i, 2.5 % i, -9 >> i.abs(), 3 << torch.tensor([1, 2]), True << torch.tensor([1, 2]), torch.round(m / 7, decimals=2), (m * 37).round(decimals=-1))
print(said(lambda: torch.tensor([300, 1], dtype=torch.int8)), torch.tensor([2**53 + 1, -1]).tolist(), torch.full((1,), 2**53 + 1).tolist(), torch.full((1,), 0.1, dtype=torch.float64).item())
