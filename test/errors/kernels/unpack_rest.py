# SPDX-License-Identifier: Apache-2.0
# error: 12:5: cannot unpack 1 values into at least 2 names
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr)
    a, *rest, b = (x,)
    tl.store(out_ptr, a)
