# SPDX-License-Identifier: Apache-2.0
# error: 13:12: 'tl.split' needs a tile whose last dim is 2, got <[64], fp32>
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    a, b = tl.split(x)
    tl.store(out_ptr + i, x)
