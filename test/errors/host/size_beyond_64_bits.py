# SPDX-License-Identifier: Apache-2.0
# error: 8:12: OverflowError: a size does not fit 64 bits
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    return x.reshape(10**18, 10**18)
