# SPDX-License-Identifier: Apache-2.0
# error: 5:17: OverflowError: the result of '**' does not fit 127 bits; integers here are not unlimited
# command: export {file}:f --input x=f32[4]
def f(x):
    return x * (2 ** (10 ** 9))
