# SPDX-License-Identifier: Apache-2.0
# error: 15:9: 'tl.dot' expects both operands of one type, got <[32, 32], fp16> and <[32, 32], fp32>
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    a = tl.zeros([32, 32], tl.float16)
    b = tl.zeros([32, 32], tl.float32)
    c = tl.dot(a, b)
    tl.store(out_ptr + i, x)
