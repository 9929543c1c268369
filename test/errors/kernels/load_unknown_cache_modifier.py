# SPDX-License-Identifier: Apache-2.0
# error: 13:9: cache modifier '.zz' is unknown for a load; .ca, .cg and .cv are known
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(x_ptr + i, cache_modifier='.zz')
    tl.store(out_ptr + i, x)
