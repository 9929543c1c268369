# SPDX-License-Identifier: Apache-2.0
# error: 14:5: lists of a kernel do not change, so they have no 'append'; make a new one: values = values + [x]
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    values = [x]
    values.append(x)
    tl.store(out_ptr + i, x)
