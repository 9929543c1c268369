# SPDX-License-Identifier: Apache-2.0
# error: 8:12: Expected pred to be bool or single-element tensor, but got bool[4, 3]
# command: export {file}:f --input x=f32[4,3]
import torch


def f(x):
    return torch.cond(x > 0, lambda x: x * 2, lambda x: x + 1, (x,))
