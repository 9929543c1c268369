# SPDX-License-Identifier: Apache-2.0
"""Gradients of torch's loops and branches: those of the same loops in Python."""
import torch
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.map import map as mapped


def near(got, want):
    assert got.shape == want.shape and torch.allclose(got, want, rtol=1e-12, atol=1e-12), (got, want)


def check(name, function, python, shapes, seed=0):
    torch.manual_seed(seed)
    first = [torch.rand(shape, dtype=torch.float64).requires_grad_() for shape in shapes]
    second = [one.detach().clone().requires_grad_() for one in first]
    sums = []
    for run, given in ((function, first), (python, second)):
        results = run(*given)
        total = sum([(one**2).sum() for one in results])
        total.backward()
        sums.append(total.detach())
    near(*sums)
    for one, other in zip(first, second):
        assert one.grad is not None, name
        near(one.grad, other.grad)


def turn(carry, x, w):
    carry = carry * 0.5 + x * w
    return carry, (carry + x).sin()


def scanned(init, xs, w):
    carry, ys = scan(lambda c, x: turn(c, x, w), init, xs)
    return [carry, ys]


def scanned_back(init, xs, w):
    carry, ys = scan(lambda c, x: turn(c, x, w), init, xs, reverse=True)
    return [carry, ys]


def turns(init, xs, w, order):
    rows = [None] * len(order)
    for i in order:
        init, rows[i] = turn(init, xs[i], w)
    return [init, torch.stack(rows)]


check("scan", scanned, lambda init, xs, w: turns(init, xs, w, [0, 1, 2, 3, 4]), [(2,), (5, 2), (2,)])
check("scan, reverse", scanned_back, lambda init, xs, w: turns(init, xs, w, [4, 3, 2, 1, 0]), [(2,), (5, 2), (2,)])
check("map", lambda xs, w: [mapped(lambda x, w: x.sin() * w, xs, w)], lambda xs, w: [xs.sin() * w], [(3, 2), (2,)])
check("associative_scan", lambda xs: [associative_scan(lambda a, b: a * b, xs, 0, combine_mode="generic")], lambda xs: [torch.cumprod(xs, 0)], [(4, 3)])


def doubled(x, w):
    count, x = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * w), (torch.tensor(0), x))
    return [x]


check("while_loop", doubled, lambda x, w: [x * w * w * w], [(2, 3), (3,)])
for larger in (True, False):
    check("cond closes over w", lambda x, w: [torch.cond(x.sum() > (0 if larger else 1000), lambda a: a * w, lambda a: a.sin() + w, (x,))],
          lambda x, w: [x * w if larger else x.sin() + w], [(2, 3), (3,)])
    check("cond", lambda x, w: [torch.cond(x.sum() > (0 if larger else 1000), lambda a, w: a * w, lambda a, w: a.sin() + w, (x, w))],
          lambda x, w: [x * w if larger else x.sin() + w], [(2, 3), (3,)])
print("ok")
