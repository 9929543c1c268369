# SPDX-License-Identifier: Apache-2.0
# error: 15:27: 'y' is assigned inside the loop in line 13 only; give it a value before the loop
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(n):
        y = x * k
    tl.store(out_ptr + i, y)
