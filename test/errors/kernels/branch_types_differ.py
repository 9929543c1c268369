# SPDX-License-Identifier: Apache-2.0
# error: 16:13: 'y' has type <[64], fp32> on one side of the branch and <[64], int32> on the other; make it one type, for example with .to()
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if n > 3:
        y = x
    else:
        y = i
    tl.store(out_ptr + i, y)
