# SPDX-License-Identifier: Apache-2.0
# The kernels and models that bench/compare.py times.
import torch
import triton
import triton.language as tl
from torch import nn
from torch.library import triton_op, wrap_triton


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i, mask=mask).to(tl.float32)
    tl.store(out + i, (value * tl.sigmoid(value)).to(out.dtype.element_ty), mask=mask)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    value = tl.load(x + row * columns + i, mask=mask, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * columns + i, value / tl.sum(value, axis=0), mask=mask)


@triton_op("bench::silu", mutates_args={})
def silu(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    wrap_triton(silu_kernel)[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


class TwoLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(128, 64)
        self.down = nn.Linear(64, 128)

    def forward(self, x):
        return self.down(silu(self.up(x)))


class Linear(nn.Module):
    def __init__(self, inner: int = 1024, columns: int = 1024):
        super().__init__()
        self.linear = nn.Linear(inner, columns)

    def forward(self, x):
        return self.linear(x)
