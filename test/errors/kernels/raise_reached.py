# SPDX-License-Identifier: Apache-2.0
# error: 14:9: this 'raise' is reached with these constexpr values
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if BLOCK < 128:
        raise ValueError('too small')
    tl.store(out_ptr + i, x)
