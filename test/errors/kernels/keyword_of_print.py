# SPDX-License-Identifier: Apache-2.0
# error: 13:5: 'tl.device_print' has no parameter 'end'; known are prefix, *args, hex
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    print("n", n, end="")
    tl.store(out_ptr + i, x)
