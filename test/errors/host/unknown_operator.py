# SPDX-License-Identifier: Apache-2.0
# error: 8:12: 'torch.fft.hfft' is not supported yet; it is called here
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    return torch.fft.hfft(x)
