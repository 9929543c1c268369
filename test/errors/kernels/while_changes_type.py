# SPDX-License-Identifier: Apache-2.0
# error: 15:13: loop-carried variable 'k' has type fp32 before the loop and int32 after one pass; make it one type, for example with .to()
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    k = 1.0
    while k < n:
        k = k.to(tl.int32) + 1
    tl.store(out_ptr + i, x)
