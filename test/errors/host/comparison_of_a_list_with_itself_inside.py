# SPDX-License-Identifier: Apache-2.0
# error: 9:17: the values are nested too deeply to compare
# command: export {file}:f --input x=f32[4]
def f(x):
    a = []
    a.append(a)
    b = []
    b.append(b)
    return x if a == b else -x
