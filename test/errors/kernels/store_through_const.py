# SPDX-License-Identifier: Apache-2.0
# error: 15:9: 'x_ptr' is annotated as tl.const, a pointer to what is only read, and this writes through it
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr: tl.const, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    place = x_ptr + i
    for _ in range(n):
        tl.store(place, x)
        place += BLOCK
    tl.store(out_ptr + i, x)
