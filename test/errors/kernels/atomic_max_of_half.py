# SPDX-License-Identifier: Apache-2.0
# error: 13:5: 'tl.atomic_max' does not support elements of type fp16
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.atomic_max(x_ptr.to(tl.pointer_type(tl.float16)) + i, 1.0)
    tl.store(out_ptr + i, x)
