# SPDX-License-Identifier: Apache-2.0
# error: 8:12: 'torch.stft' is not supported yet; it is called here
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    return torch.stft(x, 4)
