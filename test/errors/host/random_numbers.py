# SPDX-License-Identifier: Apache-2.0
# error: 8:16: 'randn_like' with a generator: a program draws from the seed and offset of its run; leave generator out
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    return x + torch.randn_like(x, generator=torch.Generator())
