# SPDX-License-Identifier: Apache-2.0
# error: 13:9: static assertion does not hold: the k of topk is a power of two that the last dim holds, got 3
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.topk(x, 3)
    tl.store(out_ptr + i, x)
