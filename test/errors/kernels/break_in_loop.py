# SPDX-License-Identifier: Apache-2.0
# error: 15:13: 'break' is not part of the kernel language; write a 'while' with a flag, or a mask
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(n):
        if k == 3:
            break
    tl.store(out_ptr + i, x)
