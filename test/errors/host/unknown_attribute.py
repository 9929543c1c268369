# SPDX-License-Identifier: Apache-2.0
# error: 5:12: AttributeError: 'Tensor' object has no attribute 'frobnicate'
# command: export {file}:f --input x=f32[4]
def f(x):
    return x.frobnicate()
