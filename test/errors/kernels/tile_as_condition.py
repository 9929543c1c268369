# SPDX-License-Identifier: Apache-2.0
# error: 13:8: the condition of an 'if' must be a scalar, got <[64], int1>; use tl.where for tiles
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if x > 0:
        x = x + 1
    tl.store(out_ptr + i, x)
