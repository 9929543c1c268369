# SPDX-License-Identifier: Apache-2.0
# error: 5:5: 'copy_' needs the argument 'src'
# command: export {file}:f --input x=f32[4]
def f(x):
    x.copy_()
    return x
