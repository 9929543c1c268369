# SPDX-License-Identifier: Apache-2.0
# error: 6:17: ZeroDivisionError: integer division or modulo by zero
# command: export {file}:f --input x=f32[4]
def f(x):
    n = 0
    return x * (1 // n)
