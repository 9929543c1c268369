# SPDX-License-Identifier: Apache-2.0
# error: 12:12: 'tl.exp' takes float32 and float64, got <[64], bf16>; cast with .to(tl.float32)
# note: 17:12: in the call of 'inner' here
# note: 25:27: in the call of 'outer' here
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]

@triton.jit
def inner(x):
    return tl.exp(x.to(tl.bfloat16))


@triton.jit
def outer(x):
    return inner(x) + 1



@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, outer(x))
