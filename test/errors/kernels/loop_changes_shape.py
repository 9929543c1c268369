# SPDX-License-Identifier: Apache-2.0
# error: 15:15: loop-carried variable 'acc' has type <[64], fp32> before the loop and <[64, 64], fp32> after one pass; make it one type, for example with .to()
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    acc = x
    for k in range(n):
        acc = acc[:, None] + x[None, :]
    tl.store(out_ptr + i, x)
