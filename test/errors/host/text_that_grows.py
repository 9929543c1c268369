# SPDX-License-Identifier: Apache-2.0
# error: 6:12: a sequence of 10000009 elements is too long for host code
# command: export {file}:f --input x=f32[4]
def f(x):
    text = "ab" * 1000000
    return text.replace("a", "b" * 1000000)
