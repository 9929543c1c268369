# SPDX-License-Identifier: Apache-2.0
# error: 13:35: pointers are not compared, got <[64], int32> and pointer<fp32>; write p.to(tl.int64) for the address of p
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, n_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # The size was meant: what lies beyond the tensor would be written.
    tl.store(x_ptr + i, 1.0, mask=i < n_ptr)
