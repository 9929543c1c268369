# SPDX-License-Identifier: Apache-2.0
# error: 14:9: a descriptor of 2 dims takes as many offsets, got 1
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    d = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [16, 16])
    y = d.load([0])
    tl.store(out_ptr + i, x)
