# SPDX-License-Identifier: Apache-2.0
# error: 8:8: a branch on a tensor's value cannot be traced: the value is only known when the program runs; use torch.where
# command: export {file}:f --input x=f32[4]


def f(x):
    count = (x > 0).sum().item()
    if count > 2:
        return x
    return -x
