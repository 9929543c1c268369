# SPDX-License-Identifier: Apache-2.0
"""Tuples that hold tensors, and parameters whose annotations name a type: what Triton makes of them."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl


class Matrix(NamedTuple):
    data: torch.Tensor
    scale: float
    rows: int
    transposed: tl.constexpr


@triton.jit
def add_all(sources, target, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(len(sources)):
        total += tl.load(sources[i] + offsets, mask=offsets < n, other=0)
    tl.store(target + offsets, total, mask=offsets < n)


@triton.jit
def scale_rows(matrix, extra, COLUMNS: tl.constexpr):
    offsets = tl.arange(0, COLUMNS)
    tl.static_assert(matrix.transposed)
    (bias, nothing), (shift,) = extra
    tl.static_assert(nothing is None)
    for row in range(matrix.rows):
        x = tl.load(matrix.data + row * COLUMNS + offsets)
        tl.store(matrix.data + row * COLUMNS + offsets, x * matrix.scale + tl.load(bias + row) + shift)


@triton.jit
def swap(pair, N: tl.constexpr):
    offsets = tl.arange(0, N)
    first, second = tl.load(pair[0] + offsets), tl.load(pair[1] + offsets)
    tl.store(pair[0] + offsets, second)
    tl.store(pair[1] + offsets, first)


@triton.jit
def named_like_a_part(a, a_item_0, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(a_item_0 + offsets, tl.load(a[0] + offsets) * 10 + tl.load(a[1][0] + offsets) + a[1][1])


@triton.jit
def annotated(target, half: tl.float16, brain: "tl.bfloat16", double: "fp64", single: float, whole: tl.int64, small: tl.uint8, plain):
    tl.static_assert(half.dtype == tl.float16)
    tl.static_assert(brain.dtype == tl.bfloat16)
    tl.static_assert(double.dtype == tl.float64)
    tl.static_assert(single.dtype == tl.float32)
    tl.static_assert(whole.dtype == tl.int64)
    tl.static_assert(small.dtype == tl.uint8)
    tl.static_assert(plain.dtype == tl.int32)
    tl.store(target, half)
    tl.store(target + 1, brain)
    tl.store(target + 2, double)
    tl.store(target + 3, single)
    tl.store(target + 4, whole * 4)
    tl.store(target + 5, small + 0.5)
    tl.store(target + 6, plain * single)


@triton.jit
def says(target, N: tl.constexpr):
    tl.static_print("block of", N)
    tl.static_print("a", "b", sep="-", end="!\n")
    tl.store(target, N)


@triton.jit
def bare_annotations(target, shape: tl.constexpr):
    rows: tl.constexpr
    columns: tl.constexpr
    rows, columns = shape
    half: tl.constexpr
    half = rows // 2
    x = tl.full((rows, columns), half, tl.int32)
    line = tl.arange(0, rows * columns)
    tl.static_assert(line[None, None:].shape == [1, rows * columns])
    tl.static_assert(line[None, ::None, None].shape == [1, rows * columns, 1])
    tl.static_assert(tl.full([], 1, tl.int32)[None, None].shape == [1, 1])
    tl.store(target + line, tl.reshape(x, (rows * columns,)))


for count, n in ((1, 5), (3, 300), (2, 1)):
    sources = tuple(torch.randn(n, device="cuda") for _ in range(count))
    target = torch.empty(n, device="cuda")
    add_all[(triton.cdiv(n, 128),)](sources, target, n, BLOCK=128)
    torch.testing.assert_close(target, sum(sources))
print("sums")

data, bias = torch.randn(5, 16, device="cuda"), torch.randn(5, device="cuda")
for rows in (1, 3, 5):
    before = data.clone()
    scale_rows[(1,)](Matrix(data, 0.5, rows, tl.constexpr(True)), ((bias, None), (2.5,)), COLUMNS=16)
    expected = torch.cat([before[:rows] * 0.5 + bias[:rows, None] + 2.5, before[rows:]])
    torch.testing.assert_close(data, expected)
print("named")

both = torch.arange(16, device="cuda", dtype=torch.int32)
swap[(1,)]((both[8:], both[:8]), N=8)
print(both.tolist())

ones, twos, target = (torch.full((4,), v, device="cuda", dtype=torch.int32) for v in (1, 2, 0))
named_like_a_part[(1,)]((ones, (twos, 7)), target, N=4)
print(target.tolist())

target = torch.empty(7, device="cuda", dtype=torch.float64)
annotated[(1,)](target, 1 / 3, 1 / 3, 0.1, 3, 1 << 33, 250, 7)
expected = [torch.tensor(1 / 3, dtype=torch.float16).item(), torch.tensor(1 / 3, dtype=torch.bfloat16).item(), 0.1, 3.0, float(1 << 35), 250.5, 21.0]
print(target.tolist() == expected, target.tolist() if target.tolist() != expected else "")
annotated[(1,)](target, 1, True, 2, 0.25, 1 << 33, 0, 7)
print(target.tolist())
try:
    annotated[(1,)](target, 1.0, 1.0, 1.0, 1.0, 2.5, 3, 7)
except TypeError as error:
    print("TypeError:", error)
says[(1,)](target, N=4)
target = torch.zeros(10, device="cuda", dtype=torch.int32)
bare_annotations[(1,)](target, (4, 2))
print(target.tolist())
