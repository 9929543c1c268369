# SPDX-License-Identifier: Apache-2.0
# error: 13:14: the bounds of range must be integer scalars, got fp32
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(0, 1.5):
        x += k
    tl.store(out_ptr + i, x)
