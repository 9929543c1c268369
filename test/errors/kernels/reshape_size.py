# SPDX-License-Identifier: Apache-2.0
# error: 13:9: cannot reshape <[64], fp32> to <[32, 4], fp32>: 64 elements are not 128
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.reshape(x, [32, 4])
    tl.store(out_ptr + i, x)
