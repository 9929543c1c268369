# SPDX-License-Identifier: Apache-2.0
"""Kernels of the C++ interface's tests."""
import triton
import triton.language as tl


@triton.jit
def silu(x, out, n, BLOCK_SIZE: tl.constexpr):
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(out + at, (v / (1.0 + tl.exp(-v))).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def sum_and_difference(a, b, total, rest, n, BLOCK_SIZE: tl.constexpr = 128):
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(a + at, mask=at < n)
    y = tl.load(b + at, mask=at < n)
    tl.store(total + at, x + y, mask=at < n)
    tl.store(rest + at, x - y, mask=at < n)


@triton.jit
def scale_in_place(x, factor, n, BLOCK_SIZE: tl.constexpr):
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(x + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@triton.autotune(configs=[triton.Config({"BLOCK_SIZE": 64}), triton.Config({"BLOCK_SIZE": 256})], key=["n"])
@triton.jit
def tuned_silu(x, out, n, BLOCK_SIZE: tl.constexpr):
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, v / (1.0 + tl.exp(-v)), mask=at < n)
