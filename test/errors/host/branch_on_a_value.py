# SPDX-License-Identifier: Apache-2.0
# error: 5:8: a branch on a tensor's value cannot be traced: the value is only known when the program runs; use torch.where
# command: export {file}:f --input x=f32[4]
def f(x):
    if x.sum() > 0:
        return x
    return -x
