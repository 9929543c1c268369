# SPDX-License-Identifier: Apache-2.0
# error: 9:12: a tensor that was made outside of forward is written to in it; a program's constants are read-only, so clone() it first, or make it an input
# command: export {file}:f --input x=f32[3]
import torch

table = torch.tensor([1.0, 2.0, 3.0])

def f(x):
    return table.add_(x)
