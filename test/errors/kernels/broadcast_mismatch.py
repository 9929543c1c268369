# SPDX-License-Identifier: Apache-2.0
# error: 14:27: cannot make shapes of <[64], fp32> and <[32], fp32> compatible: dim 0 is 64 and 32
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.arange(0, 32)
    tl.store(out_ptr + i, x + y)
