# SPDX-License-Identifier: Apache-2.0
# error: 5:12: IndexError: The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [4] at index 0
# command: export {file}:f --input x=f32[4]
def f(x):
    return x[x[:3] > 0]
