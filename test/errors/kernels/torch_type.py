# SPDX-License-Identifier: Apache-2.0
# error: 12:9: dtype must be an element type such as tl.float32, got torch.float16; write tl.float16
import torch
import triton
import triton.language as tl

CASES = [("kernel", "*fp32, *fp32, i32, BLOCK=64")]


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    y = tl.zeros((BLOCK,), dtype=torch.float16)
    tl.store(out_ptr + tl.arange(0, BLOCK), y)
