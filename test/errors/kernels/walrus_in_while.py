# SPDX-License-Identifier: Apache-2.0
# error: 12:11: ':=' in the condition of a 'while' is not part of the kernel language; assign the name before the loop and at the end of its body
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    left = n
    while (left := left - 1) > 0:
        tl.store(out_ptr + left, tl.load(x_ptr + left))
