# SPDX-License-Identifier: Apache-2.0
# error: 5:14: '.bit_length()' of a dynamic size has no one value; triton.next_power_of_2 and comparisons make variants of the program
# command: export {file}:f --input x=f32[n:1..64]
def f(x):
    return x * x.shape[0].bit_length()
