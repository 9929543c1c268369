# SPDX-License-Identifier: Apache-2.0
# error: 14:9: a load through a block pointer takes boundary_check and padding_option, not mask and other
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    y = tl.load(p, mask=i < n)
    tl.store(out_ptr + i, x)
