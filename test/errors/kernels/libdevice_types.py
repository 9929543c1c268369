# SPDX-License-Identifier: Apache-2.0
# error: 15:27: 'libdevice.tanh' takes (fp32) or (fp64), got (int32)
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

from triton.language.extra import libdevice


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, libdevice.tanh(i))
