# SPDX-License-Identifier: Apache-2.0
# error: 11:9: arange's range must be a power of 2, got 48; take the next one and mask the rest
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 48)
    tl.store(out_ptr + i, i)
