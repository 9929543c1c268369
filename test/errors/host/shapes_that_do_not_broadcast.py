# SPDX-License-Identifier: Apache-2.0
# error: 8:12: 'aten.add.Tensor' cannot broadcast [4, 5] with [3, 3]: 5 and 3 are not known to be equal, and neither is known to be 1
# command: export {file}:f --input x=f32[4,5]
import torch


def f(x):
    return x + torch.ones(3, 3)
