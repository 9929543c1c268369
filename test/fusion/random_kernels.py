# SPDX-License-Identifier: Apache-2.0
# Stock Triton kernels and the functions around them that random_models.py builds functions from.
import torch
import triton
import triton.language as tl
from kernels import block_pointer_kernel, not_kernel, silu_kernel
from torch.library import triton_op, wrap_triton


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1)
    tl.store(out_ptr + offsets, x * 3 + 1, mask=mask)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    again = tl.load(x_ptr + n - 1 - offsets, mask=mask, other=0)
    tl.store(out_ptr + offsets, x - again, mask=mask)


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + (n - 1 - offsets), x * 2, mask=mask)


@triton.jit
def strided_kernel(x_ptr, out_ptr, xs0, xs1, os0, os1, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (r[:, None] < rows) & (c[None, :] < columns)
    x = tl.load(x_ptr + r[:, None] * xs0 + c[None, :] * xs1, mask=mask)
    tl.store(out_ptr + r[:, None] * os0 + c[None, :] * os1, x * 2 + 1, mask=mask)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def other_sum_kernel(x_ptr, out_ptr, columns, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + cols, mask=cols < columns, other=OTHER).to(tl.float32)
    tl.store(out_ptr + row * columns + cols, x * 0 + tl.sum(x, axis=0), mask=cols < columns)


@triton.jit
def rms_kernel(x_ptr, w_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + cols, mask=cols < columns, other=0.0).to(tl.float32)
        total += x * x
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < columns
        x = tl.load(x_ptr + row * columns + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
        tl.store(out_ptr + row * columns + cols, x * scale * w, mask=mask)


@triton.jit
def in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2, mask=mask)


@triton.jit
def two_kernel(x_ptr, a_ptr, b_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(a_ptr + offsets, x + 1, mask=mask)
    tl.store(b_ptr + offsets, x - 1, mask=mask)


@triton.jit
def even_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets < n) & (offsets % 2 == 0)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 10, mask=mask)


@triton.jit
def head_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n - 2
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 10, mask=mask)


@triton.jit
def read_back_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)
    again = tl.load(out_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, again + again, mask=mask)


@triton.jit
def accumulate_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # Adds to what the buffer held.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    old = tl.load(out_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, old + tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def persistent_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        offsets = tile * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 3, mask=mask)


@triton.jit
def column_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    r = tl.arange(0, BLOCK)
    mask = r < rows
    x = tl.load(x_ptr + r * columns + column, mask=mask, other=0).to(tl.float32)
    tl.store(out_ptr + r * columns + column, x - tl.sum(x, axis=0), mask=mask)


def flat(kernel, *inputs, out=None, BLOCK=32):
    out = torch.empty_like(inputs[0]) if out is None else out
    n = inputs[0].numel()
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](*inputs, out, n, BLOCK=BLOCK)
    return out


@triton_op("random_fusion::silu", mutates_args={})
def silu_op(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    wrap_triton(silu_kernel)[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


def silu(x):
    return flat(silu_kernel, x)


def scale(x):
    return flat(scale_kernel, x, BLOCK=128)


def add(x, y):
    return flat(add_kernel, x, y)


def twice(x):
    return flat(twice_kernel, x)


def reverse(x):
    return flat(reverse_kernel, x)


def strided(x, out=None):
    out = torch.empty_like(x) if out is None else out
    rows, columns = x.shape
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 32))
    strided_kernel[grid](x, out, x.stride(0), x.stride(1), out.stride(0), out.stride(1), rows, columns, BM=16, BN=32)
    return out


def block(x):
    out = torch.empty_like(x)
    rows, columns = x.shape
    block_pointer_kernel[(triton.cdiv(rows, 8), triton.cdiv(columns, 32))](x, out, rows, columns, BM=8, BN=32)
    return out


def softmax(x):
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=64)
    return out


def other_sum(x, other):
    out = torch.empty_like(x)
    other_sum_kernel[(x.shape[0],)](x, out, x.shape[1], OTHER=other, BLOCK=64)
    return out


def rms(x, w):
    out = torch.empty_like(x)
    rms_kernel[(x.shape[0],)](x, w, out, x.shape[1], 1e-5, BLOCK=32)
    return out


def in_place(x):
    in_place_kernel[(triton.cdiv(x.numel(), 64),)](x, x.numel(), BLOCK=64)
    return x


def two(x):
    a, b = torch.empty_like(x), torch.empty_like(x)
    two_kernel[(triton.cdiv(x.numel(), 64),)](x, a, b, x.numel(), BLOCK=64)
    return a, b


def persistent(x):
    out = torch.empty_like(x)
    persistent_kernel[(3,)](x, out, x.numel(), BLOCK=32)
    return out


def even(x):
    return flat(even_kernel, x, out=torch.full_like(x, 2))


def head(x):
    return flat(head_kernel, x, out=torch.zeros_like(x))


def read_back(x):
    return flat(read_back_kernel, x)


def accumulate(x):
    return flat(accumulate_kernel, x, out=torch.ones_like(x))


def negate(flag):
    return flat(not_kernel, flag, out=torch.empty(flag.shape, dtype=torch.bool))


def centered(x):
    out = torch.empty_like(x)
    column_kernel[(x.shape[1],)](x, out, x.shape[0], x.shape[1], BLOCK=64)
    return out
