# SPDX-License-Identifier: Apache-2.0
# error: 5:5: 'fill_' needs the argument 'value'
# command: export {file}:f --input x=f32[4]
def f(x):
    x.fill_()
    return x
