# SPDX-License-Identifier: Apache-2.0
# error: 15:27: 'y' is assigned on one side only of the branch in line 13; give it a value before the branch
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if n > 3:
        y = x
    tl.store(out_ptr + i, y)
