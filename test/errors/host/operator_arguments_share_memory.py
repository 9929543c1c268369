# SPDX-License-Identifier: Apache-2.0
# error: 14:5: operator 'lib::into' writes to 'x', whose memory 'y' shares in this call; pass a clone() of one of them
# command: export {file}:f --input x=f32[4]
import torch
from torch.library import custom_op


@custom_op("lib::into", mutates_args={"x"})
def into(x: torch.Tensor, y: torch.Tensor) -> None:
    x.add_(y)


def f(x):
    into(x, x.view(-1))
    return x
