# SPDX-License-Identifier: Apache-2.0
# error: 17:5: RuntimeError: wrap_triton only works on functions annotated with triton.jit or triton.autotune; put @triton.heuristics below @triton.autotune
# command: export {file}:f --input x=f32[4]
import torch
import triton
import triton.language as tl
from torch.library import capture_triton


@triton.heuristics({"BLOCK": lambda args: 16})
@triton.jit
def k(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


def f(x):
    capture_triton(k)[(1,)](x)
    return x
