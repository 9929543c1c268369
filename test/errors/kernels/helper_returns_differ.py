# SPDX-License-Identifier: Apache-2.0
# error: 11:5: 'pick' returns 2 values on one path and 1 on another
# note: 21:27: in the call of 'pick' here
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

@triton.jit
def pick(x, n):
    if n > 0:
        return x, x
    return x



@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, pick(x, n))
