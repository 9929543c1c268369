# SPDX-License-Identifier: Apache-2.0
"""Writes to tensors whose operands want gradients, writes into leaves, where gradients lie in memory, searches among NaN."""
import operator
import warnings
from collections import deque

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.rand(3, 3, requires_grad=True)
first, places = torch.tensor([0]), torch.tensor([[0, 1, 2]])

# What is written keeps for the operand's gradient what it held before.
writes = {
    "mul_": lambda y: y.mul_(x), "div_": lambda y: y.div_(x), "atan2_": lambda y: y.atan2_(x), "pow_": lambda y: y.pow_(x), "hypot_": lambda y: y.hypot_(x), "xlogy_": lambda y: y.xlogy_(x), "addcmul_": lambda y: y.addcmul_(x, x),
    "lerp_": lambda y: y.lerp_(x, x), "twice": lambda y: y.mul_(2).mul_(x), "index_copy_": lambda y: y.index_copy_(0, first, x[:1]), "scatter_add_": lambda y: y.scatter_add_(0, places, x[:1]), "row": lambda y: y[1].mul_(x[0]),
    "amax": lambda y: y.scatter_reduce_(0, places, x[:1], "amax", include_self=False), "amin": lambda y: y.scatter_reduce_(0, places, x[:1], "amin"), "mean": lambda y: y.scatter_reduce_(0, places, x[:1], "mean"), "sum": lambda y: y.scatter_reduce_(0, places, x[:1], "sum"),
    "index_reduce_": lambda y: y.index_reduce_(0, first, x[:1], "amax"), "iadd": lambda y: operator.iadd(y, x), "imul": lambda y: operator.imul(y, x.t()),
}
for name, write in writes.items():
    torch.manual_seed(1)
    y, x.grad = torch.rand(3, 3), None
    write(y)
    (y * torch.arange(9.0).view(3, 3)).sum().backward()
    print(name, y._version > 0, y.requires_grad, [f"{value:.3f}" for value in x.grad.flatten().tolist()])

for name, change in {"fill_diagonal_": lambda v: v.fill_diagonal_(0.0), "wrapped": lambda v: v.fill_diagonal_(0.0, wrap=True), "rrelu": lambda v: F.rrelu(v - 0.5, 0.2, 0.2, inplace=True)}.items():
    w = torch.linspace(0.1, 1.2, 15).view(5, 3).requires_grad_()
    v = w * 2
    (change(v) * torch.arange(15.0).view(5, 3)).sum().backward()
    print(name, [f"{value:.2f}" for value in w.grad.flatten().tolist()])

for name, write in {"uniform_": lambda w: w.uniform_(), "normal_": lambda w: w.normal_(), "bernoulli_": lambda w: w.bernoulli_(), "random_": lambda w: w.random_(), "exponential_": lambda w: w.exponential_(), "cauchy_": lambda w: w.cauchy_(), "zero_": lambda w: w.zero_(), "fill_": lambda w: w.fill_(1), "fill_diagonal_": lambda w: w.fill_diagonal_(1), "view": lambda w: w.view(-1).uniform_(), "row": lambda w: w[0].zero_()}.items():
    w = torch.rand(3, 3, requires_grad=True)
    try:
        write(w)
        print(name, "passes")
    except RuntimeError as error:
        print(name, error)
    with torch.no_grad():
        write(w)

# A leaf's gradient lies in memory as the leaf does.
torch.manual_seed(2)
image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last).requires_grad_()
for name, function in {"relu": torch.relu, "conv": lambda t: F.conv2d(t, torch.ones(2, 3, 3, 3)), "norm": lambda t: F.layer_norm(t, [4, 5], torch.arange(20.0).view(5, 4).t()), "norms": lambda t: F.layer_norm(t, [3, 4, 5]), "pool": lambda t: F.max_pool2d(t, 2), "flat": lambda t: t.flatten(1) ** 2}.items():
    image.grad = None
    made = function(image)
    (made * made).sum().backward()
    print(name, made.stride() if name[:4] == "norm" else "", image.grad.stride(), f"{image.grad.double().abs().sum():.2f}")
(image * image).sum().backward()
print(image.grad.stride(), image.grad.is_contiguous(memory_format=torch.channels_last))
turned = torch.randn(3, 4).t().requires_grad_()
(turned @ torch.ones(3, 2)).sum().backward()
print(turned.grad.stride(), torch.randn(4, 3).requires_grad_().grad)
print(F.rms_norm(torch.arange(24.0).view(2, 3, 4).transpose(1, 2), [4, 3])[0, 0], F.layer_norm(torch.arange(24.0).view(2, 3, 4).transpose(1, 2), [4, 3])[1, 2])

# Searches step by step, so that NaN among the numbers decides as it does there.
nan, inf = float("nan"), float("inf")
wanted = torch.tensor([0.0, 1.0, 2.5, 3.0, nan, inf, -inf])
for row in ([1.0, 2.0, 3.0, nan], [nan, 1.0, 2.0], [1.0, nan, 2.0, nan, 3.0], [], [2.0], [nan]):
    row = torch.tensor(row)
    print(torch.searchsorted(row, wanted), torch.searchsorted(row, wanted, right=True), torch.bucketize(wanted, row, out_int32=True))
rows = torch.tensor([[1, 3, 5], [2, 2, 7]])
print(torch.searchsorted(rows, torch.tensor([[3, 6], [2, 8]]), side="right"), torch.searchsorted(rows[0], 4), torch.searchsorted(rows[0], torch.tensor([[1], [9]])))
print(torch.searchsorted(torch.tensor([5, 1, 3]), torch.tensor([1, 2, 4, 6]), sorter=torch.tensor([1, 2, 0])), torch.searchsorted(torch.arange(1000.0), torch.tensor([0.5, 998.5, 2000.0])))
print(torch.tensor(deque([1, 2], maxlen=4)), torch.tensor([deque([1.5]), deque([2.5])]), torch.as_tensor(deque([True])))
