# SPDX-License-Identifier: Apache-2.0
# error: 11:5: RuntimeError: wrap_triton only works on functions annotated with triton.jit or triton.autotune, got function
# command: export {file}:f --input x=f32[4]
import torch
from torch.library import wrap_triton

def helper(x):
    return x

def f(x):
    wrap_triton(helper)[(1,)](x)
    return x
