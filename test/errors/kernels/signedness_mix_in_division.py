# SPDX-License-Identifier: Apache-2.0
# error: 14:27: cannot use // with <[64], uint32> and <[64], int32> because they have different signedness; cast them to the same one
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    u = i.to(tl.uint32)
    tl.store(out_ptr + i, u // i)
