# SPDX-License-Identifier: Apache-2.0
"""Launches and operators of the user's inside of branches and loops."""
import torch
import triton
import triton.language as tl
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.library import triton_op, wrap_triton


@triton.jit
def axpy(x_ptr, y_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, alpha * x + y, mask=mask)


@triton.jit
def add_to(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    out = tl.load(out_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, out + tl.load(x_ptr + offsets, mask=mask), mask=mask)


def launched(x, y, alpha):
    out = torch.empty_like(x)
    axpy[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), alpha, BLOCK=16)
    return out


@triton_op("control::axpy", mutates_args={})
def operator(x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(axpy)[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), alpha, BLOCK=16)
    return out


def branch(x, flag):
    """One branch launches into a new tensor, the other in place of one of its own; what stands before and behind a launch is
    fused into it."""

    def other(x):
        total = x * 3
        add_to[(triton.cdiv(x.numel(), 16),)](x, total, x.numel(), BLOCK=16)
        return total

    return torch.cond(flag, lambda x: launched(x * 2, x, 0.5).abs(), other, (x,))


def loop(n, x):
    return while_loop(lambda i, y: i < n, lambda i, y: (i + 1, launched(y, x, 0.5)), (torch.tensor(0), x))[1]


def loop_of_operator(n, x):
    def body(i, y):
        return i + 1, torch.cond(i % 2 == 0, lambda y: operator(y, x, 0.5), lambda y: operator(y, y, -2.0), (y,))

    return while_loop(lambda i, y: i < n, body, (torch.tensor(0), x))[1]


def scanned(init, x):
    """Slices that begin at odd addresses."""

    def step(carry, row):
        total = launched(carry, row, 0.5)
        return total, torch.relu(total)

    return scan(step, init, x)


def endless(x):
    return while_loop(lambda x: x.sum() * 0 == 0, lambda x: x * 0.5, (x,))[0]
