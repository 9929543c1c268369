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


@triton.jit
def gather_kernel(x, index, out, n, size, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.abs(tl.load(index + i, mask=i < n, other=0)) % size
    tl.store(out + i, tl.load(x + where, mask=i < n), mask=i < n)


@triton.jit
def scan_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i, mask=i < n, other=0), 0), mask=i < n)


@triton.jit
def count_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0), 0))


@triton.jit
def dot_kernel(x, out, rows, columns, BLOCK: tl.constexpr):
    r = tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK)
    a = tl.load(x + r[:, None] * columns + k, mask=(r[:, None] < rows) & (k < columns), other=0.0).to(tl.float32)
    a = a - tl.floor(a / 4) * 4
    tl.store(out + r[:, None] * rows + r, tl.dot(a, tl.trans(a)), mask=(r[:, None] < rows) & (r < rows))


@triton.jit
def sort_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i, mask=i < n, other=30000)), mask=i < n)


@triton.jit
def row_max_kernel(x, out, columns, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    tl.store(out + row, tl.max(tl.load(x + row * columns + j, mask=j < columns, other=-30000), 0))


@triton.jit
def cast_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def turn_kernel(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (r[:, None] < rows) & (c < columns)
    tl.store(out + c * rows + r[:, None], tl.load(x + r[:, None] * columns + c, mask=mask), mask=mask)
