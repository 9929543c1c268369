# SPDX-License-Identifier: Apache-2.0
# error: 11:17: the values are nested too deeply to compare
# command: export {file}:f --input x=f32[4]
a = []
a.append(a)
b = []
b.append(b)


def f(x):
    return x if a == b else -x
