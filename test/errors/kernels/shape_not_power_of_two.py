# SPDX-License-Identifier: Apache-2.0
# error: 13:9: shape elements must be powers of 2, got 3
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    z = tl.zeros([3], tl.float32)
    tl.store(out_ptr + i, x)
