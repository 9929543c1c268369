# SPDX-License-Identifier: Apache-2.0
# error: 14:9: 'size' is defined already, and a constexpr is not assigned again; give it another name
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for size_of in tl.static_range(2):
        size: tl.constexpr = size_of
    tl.store(out_ptr + i, x)
