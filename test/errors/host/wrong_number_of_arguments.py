# SPDX-License-Identifier: Apache-2.0
# error: 9:12: TypeError: g() missing 1 required positional argument: 'b'
# command: export {file}:f --input x=f32[4]
def g(a, b):
    return a + b


def f(x):
    return g(x)
