# SPDX-License-Identifier: Apache-2.0
# error: 9:12: 'clone.item()' is a number that a tensor holds, known only when the program runs, and cannot be used as a size or a dim; keep it a tensor: torch.where, or a kernel
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    count = (x > 0).float().sum().item()
    return torch.zeros(count)
