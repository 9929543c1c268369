# SPDX-License-Identifier: Apache-2.0
# error: 13:9: both sides of 'a if c else b' must have one type, got <[64], fp32> and <[64], int32>
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = x if n > 3 else i
    tl.store(out_ptr + i, x)
