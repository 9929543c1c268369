# SPDX-License-Identifier: Apache-2.0
# error: 13:5: a kernel cannot be launched from a kernel; call it without [grid]
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    kernel[(1,)](x_ptr, out_ptr, n, BLOCK=64)
    tl.store(out_ptr + i, x)
