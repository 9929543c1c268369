# SPDX-License-Identifier: Apache-2.0
# error: 7:13: a sequence of 16777216 elements is too long for host code
# command: export {file}:f --input x=f32[4]
def f(x):
    v = [0]
    while True:
        v = v + v
