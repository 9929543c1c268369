# SPDX-License-Identifier: Apache-2.0
# error: 18:12: the fake of operator 'lib::halves' promises f32[8, 6] where its function gives f32[8, 3]
# command: export {file}:f --input x=f32[8,6]
import torch
from torch.library import custom_op


@custom_op("lib::halves", mutates_args=())
def halves(x: torch.Tensor) -> torch.Tensor:
    return x[:, :3] * 2

@halves.register_fake
def _(x):
    return torch.empty_like(x)


def f(x):
    return halves(x) + 1
