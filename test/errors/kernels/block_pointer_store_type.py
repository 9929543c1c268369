# SPDX-License-Identifier: Apache-2.0
# error: 14:5: a store through a block pointer needs a value of type <[64], fp32>, got <[64], fp16>; cast it with .to()
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    p = tl.make_block_ptr(out_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    tl.store(p, x.to(tl.float16))
