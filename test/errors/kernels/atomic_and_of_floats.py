# SPDX-License-Identifier: Apache-2.0
# error: 13:5: 'tl.atomic_and' takes pointers to integers, got <[64], pointer<fp32>>
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.atomic_and(x_ptr + i, 1)
    tl.store(out_ptr + i, x)
