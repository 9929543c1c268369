# SPDX-License-Identifier: Apache-2.0
# error: 15:9: loop-carried variable 'acc' has type int32 before the loop and fp32 after one pass; make it one type, for example with .to()
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    acc = 0
    for k in range(n):
        acc += 0.5
    tl.store(out_ptr + i, x + acc)
