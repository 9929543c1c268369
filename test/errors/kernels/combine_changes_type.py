# SPDX-License-Identifier: Apache-2.0
# error: 18:9: the combining function 'combine' returns fp64 for fp32
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

@triton.jit
def combine(a, b):
    return (a + b).to(tl.float64)



@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.reduce(x, 0, combine)
    tl.store(out_ptr + i, x)
