# SPDX-License-Identifier: Apache-2.0
# error: 14:27: number 300 is out of range for type int8 of the other operand of +
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    b = i.to(tl.int8)
    tl.store(out_ptr + i, b + 300)
