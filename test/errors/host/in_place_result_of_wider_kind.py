# SPDX-License-Identifier: Apache-2.0
# error: 5:5: 'add_' gives float32, which PyTorch does not write into a tensor of int32; convert it first
# command: export {file}:f --input x=i32[4]
def f(x):
    x.add_(1.5)
    return x
