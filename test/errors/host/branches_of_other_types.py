# SPDX-License-Identifier: Apache-2.0
# error: 8:12: When merging two branches' output in torch.cond, expected same dtype but got torch.float64 and torch.float32
# command: export {file}:f --input x=f32[4,3]
import torch


def f(x):
    return torch.cond(x.sum() > 0, lambda x: x.double(), lambda x: x + 1, (x,))
