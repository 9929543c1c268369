# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl

from .activation import silu


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, row_stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    gate_ptr += row * row_stride
    up_ptr += row * row_stride
    out_ptr += row * n_cols
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    gate = tl.load(gate_ptr + cols, mask=mask, other=0).to(tl.float32)
    up = tl.load(up_ptr + cols, mask=mask, other=0).to(tl.float32)
    tl.store(out_ptr + cols, (silu(gate) * up).to(out_ptr.dtype.element_ty), mask=mask)
