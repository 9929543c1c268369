# SPDX-License-Identifier: Apache-2.0
"""Operators that write to their arguments."""
import torch
import triton
import triton.language as tl
from torch import nn
from torch.library import custom_op, triton_op, wrap_triton


@triton.jit
def axpy_kernel(x_ptr, y_ptr, alpha, n, BLOCK_SIZE: tl.constexpr = 256):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    y = tl.load(y_ptr + offsets, mask=mask) + alpha * tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, y, mask=mask)


@triton_op("inplace::axpy_", mutates_args={"y"})
def axpy_(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> None:
    n = y.numel()
    wrap_triton(axpy_kernel)[(triton.cdiv(n, 256),)](x, y, alpha, n)


@custom_op("inplace::axpy_opaque_", mutates_args=("y",))
def axpy_opaque_(x: torch.Tensor, y: torch.Tensor, alpha: float) -> None:
    n = y.numel()
    axpy_kernel[(triton.cdiv(n, 256),)](x, y, alpha, n)


@axpy_opaque_.register_fake
def _(x, y, alpha):
    return None


class Accumulate(nn.Module):
    def __init__(self, mode="triton_op"):
        super().__init__()
        self.mode = mode

    def forward(self, x, y):
        work = y.clone()
        if self.mode == "raw":
            axpy_kernel[(triton.cdiv(work.numel(), 256),)](x, work, 0.25, work.numel())
        elif self.mode == "custom_op":
            axpy_opaque_(x, work, alpha=0.25)
        else:
            axpy_(x, work, alpha=0.25)
        work += x
        return work * 2, y


def mutate_input(x, y):
    axpy_(x, y, 2.0)
    return y + 1


def mutate_row(x, y):
    """Writes through a view: only the first row of y changes."""
    axpy_(x[0], y[0], 3.0)
    return y.sum(dim=0)
