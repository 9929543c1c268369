# SPDX-License-Identifier: Apache-2.0
# error: 22:5: operator 'test::writes' writes to a tensor in the list 'xs', which is not supported; pass the tensors that it writes as parameters of their own
# note: 18:5: it is written here
# command: export {file}:f --input x=f32[4]
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def k(x):
    tl.store(x, 1.0)


@triton_op("test::writes", mutates_args=())
def writes(xs: list[torch.Tensor]) -> None:
    wrap_triton(k)[(1,)](xs[0])


def f(x):
    writes([x])
    return x
