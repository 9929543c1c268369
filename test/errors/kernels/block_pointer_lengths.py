# SPDX-License-Identifier: Apache-2.0
# error: 13:9: make_block_ptr's shape, strides, offsets and block_shape must have one length, got 1 for block_shape and 2
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    p = tl.make_block_ptr(x_ptr, (n, n), (1,), (0,), (BLOCK,), (0,))
    tl.store(out_ptr + i, x)
