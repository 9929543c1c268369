# SPDX-License-Identifier: Apache-2.0
# error: 6:5: several elements of f32[4, 6] strides=[0, 1] lie in one place, or may for some sizes, so that it cannot be written to; clone() it first
# command: export {file}:f --input x=f32[1,6]
def f(x):
    wide = x.expand(4, 6)
    wide.add_(1)
    return wide
