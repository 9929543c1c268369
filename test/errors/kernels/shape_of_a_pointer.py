# SPDX-License-Identifier: Apache-2.0
# error: 11:23: a pointer or scalar has no dims to ask for; pass sizes as arguments
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr, x_ptr.shape[0])
