# SPDX-License-Identifier: Apache-2.0
# Stands at the head of every recorded program: kernels that write through the pointers they get.
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def fill_kernel(out, n, value, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.zeros([BLOCK], tl.float32) + value, mask=i < n)


@triton.jit
def map_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2 + 1, mask=i < n)


@triton.jit
def add_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(out + i, mask=i < n) + tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def pair_kernel(a, b, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    left = tl.load(a + i, mask=i < n)
    right = tl.load(b + i, mask=i < n)
    tl.store(a + i, right + 1, mask=i < n)
    tl.store(b + i, left - 1, mask=i < n)


@triton.jit
def rows_kernel(x, columns, row_stride, column_stride, value, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    place = x + tl.program_id(0) * row_stride + j * column_stride
    tl.store(place, tl.load(place, mask=j < columns) + value, mask=j < columns)


@triton.jit
def sums_kernel(x, out, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    line = tl.load(x + row * row_stride + j * column_stride, mask=j < columns, other=0.0)
    tl.store(out + row, tl.sum(line, 0))
