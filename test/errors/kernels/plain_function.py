# SPDX-License-Identifier: Apache-2.0
# error: 17:27: 'double' is a plain Python function; a kernel can call @triton.jit and @triton.constexpr_function functions
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

def double(x):
    return x * 2



@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, double(x))
