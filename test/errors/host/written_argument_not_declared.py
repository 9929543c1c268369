# SPDX-License-Identifier: Apache-2.0
# error: 22:12: operator 'test::writes' writes to 'x', which mutates_args does not name; write mutates_args={"x"}
# command: export {file}:f --input x=f32[4]
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def k(x):
    tl.store(x, 1.0)


@triton_op("test::writes", mutates_args={})
def writes(x: torch.Tensor) -> torch.Tensor:
    wrap_triton(k)[(1,)](x)
    return torch.empty_like(x)


def f(x):
    return writes(x)
