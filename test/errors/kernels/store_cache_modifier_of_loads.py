# SPDX-License-Identifier: Apache-2.0
# error: 13:5: cache modifier '.ca' is unknown for a store; .wb, .cg, .cs and .wt are known
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x, cache_modifier=".ca")
    tl.store(out_ptr + i, x)
