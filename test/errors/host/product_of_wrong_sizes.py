# SPDX-License-Identifier: Apache-2.0
# error: 8:12: 'aten.matmul.default' expects inner dims to match, got 5 and 3
# command: export {file}:f --input x=f32[4,5]
import torch


def f(x):
    return x @ torch.ones(3, 3)
