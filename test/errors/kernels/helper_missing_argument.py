# SPDX-License-Identifier: Apache-2.0
# error: 18:27: 'scaled' needs an argument for 'factor'
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

@triton.jit
def scaled(x, factor):
    return x * factor



@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, scaled(x))
