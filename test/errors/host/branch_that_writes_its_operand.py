# SPDX-License-Identifier: Apache-2.0
# error: 8:46: torch.cond's true_fn might be modifying the input: it writes to one of its operands, and higher order operators do not support input mutation; return the new contents as a result
# command: export {file}:f --input x=f32[4,3]
import torch


def f(x):
    return torch.cond(x.sum() > 0, lambda x: x.add_(1), lambda x: x + 1, (x,))
