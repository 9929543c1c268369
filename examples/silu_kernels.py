# SPDX-License-Identifier: Apache-2.0
"""The SiLU kernel of the example model, in a file of its own as projects have it."""
import triton
import triton.language as tl


@triton.jit
def silu_kernel(in_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(in_ptr + offsets, mask=mask)
    wide = x.to(tl.float32)
    out = wide * (1.0 / (1.0 + tl.exp(-wide)))
    tl.store(out_ptr + offsets, out.to(x.dtype), mask=mask)
