# SPDX-License-Identifier: Apache-2.0
# error: 13:5: 'x_ptr' is annotated as tl.const, a pointer to what is only read, and this writes through it
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr: tl.const, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.atomic_add(x_ptr + n, 1.0)
    tl.store(out_ptr + i, x)
