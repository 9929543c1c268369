# SPDX-License-Identifier: Apache-2.0
# error: 15:31: 'SCALE' is a global of the module and not a constexpr, so a kernel cannot use it; write SCALE = tl.constexpr(0.5) or pass it as an argument
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

SCALE = 0.5


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x * SCALE)
