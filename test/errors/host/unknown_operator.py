# SPDX-License-Identifier: Apache-2.0
# error: 8:12: 'torch.fft.fft' cannot be called in host code: it is not part of what is evaluated here; take it out of the traced path, or pass its result as an argument
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    return torch.fft.fft(x)
