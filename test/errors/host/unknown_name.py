# SPDX-License-Identifier: Apache-2.0
# error: 5:16: NameError: name 'bias' is not defined
# command: export {file}:f --input x=f32[4]
def f(x):
    return x + bias
