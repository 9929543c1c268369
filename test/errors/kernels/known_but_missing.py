# SPDX-License-Identifier: Apache-2.0
# error: 11:23: 'tl._experimental_descriptor_load' is not supported yet
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl._experimental_descriptor_load(x_ptr))
