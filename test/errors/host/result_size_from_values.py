# SPDX-License-Identifier: Apache-2.0
# error: 8:12: NotImplementedError: the shape of what torch.nonzero gives depends on values, which are only known when the program runs; use torch.where and masks
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    return torch.nonzero(x)
