# SPDX-License-Identifier: Apache-2.0
# error: 13:9: the last stride of a descriptor must be 1 while compiling: the number, a constexpr, or a parameter that is launched with 1
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    d = tl.make_tensor_descriptor(x_ptr, [n, n], [1, n], [16, 16])
    tl.store(out_ptr + i, x)
