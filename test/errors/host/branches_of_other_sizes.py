# SPDX-License-Identifier: Apache-2.0
# error: 8:12: When merging two branches' output in torch.cond, expected same size but got torch.Size([3, 3]) and torch.Size([4, 3]); a package has no sizes that the branch decides
# command: export {file}:f --input x=f32[4,3]
import torch


def f(x):
    return torch.cond(x.sum() > 0, lambda x: x[1:] + 1, lambda x: x + 1, (x,))
