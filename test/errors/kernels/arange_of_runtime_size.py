# SPDX-License-Identifier: Apache-2.0
# error: 11:9: arange's end must be an integer known while compiling, got int32; annotate the parameter: n: tl.constexpr
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out_ptr + i, i)
