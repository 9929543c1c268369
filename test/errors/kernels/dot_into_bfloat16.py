# SPDX-License-Identifier: Apache-2.0
# error: 14:9: 'tl.dot' cannot accumulate in bfloat16; use out_dtype=tl.float32 and cast with .to(tl.bfloat16)
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    a = tl.zeros([32, 32], tl.bfloat16)
    c = tl.dot(a, a, out_dtype=tl.bfloat16)
    tl.store(out_ptr + i, x)
