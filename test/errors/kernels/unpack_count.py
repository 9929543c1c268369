# SPDX-License-Identifier: Apache-2.0
# error: 13:5: cannot unpack 3 values into 2 names
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    a, b = (x, x, x)
    tl.store(out_ptr + i, x)
