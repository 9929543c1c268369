# SPDX-License-Identifier: Apache-2.0
# error: 5:16: bit_length()'s number depends on a dynamic dimension ('n') where a number is needed; make that dimension static
# command: export {file}:f --input x=f32[n:1..64]
def f(x):
    return x * x.shape[0].bit_length()
