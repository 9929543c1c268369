# SPDX-License-Identifier: Apache-2.0
"""Kernels of the C++ interface's tests."""
import triton
import triton.language as tl


@triton.jit
def gate_kernel(x_ptr, sum_ptr, product_ptr, n, factor, BLOCK: tl.constexpr):
    """Two outputs and a float scalar."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(sum_ptr + offsets, x + factor, mask=mask)
    tl.store(product_ptr + offsets, x * factor, mask=mask)


@triton.jit
def add_into_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """In place."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(x_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)
