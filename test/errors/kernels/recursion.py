# SPDX-License-Identifier: Apache-2.0
# error: 13:12: 'factorial' calls itself; recursion is not part of the kernel language
# note: 21:27: in the call of 'factorial' here
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

@triton.jit
def factorial(x, n):
    if n <= 1:
        return x
    return factorial(x * n, n - 1)



@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, factorial(x, n))
