# SPDX-License-Identifier: Apache-2.0
# error: 11:29: a pointer cannot be indexed; add the index: tl.load(pointer + index)
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr, x_ptr[n])
