# SPDX-License-Identifier: Apache-2.0
# error: 13:5: a function inside a kernel is not part of the kernel language; define a @triton.jit function outside of it
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    def helper(a):
        return a
    tl.store(out_ptr + i, x)
