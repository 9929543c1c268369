# SPDX-License-Identifier: Apache-2.0
# error: 8:12: torch.cond's true_fn might be aliasing the input or the output: higher order ops do not support aliasing; replace 'return input' with 'return input.clone()'
# command: export {file}:f --input x=f32[4,3]
import torch


def f(x):
    return torch.cond(x.sum() > 0, lambda x: x.view(-1), lambda x: (x + 1).view(-1), (x,))
