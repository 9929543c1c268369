# SPDX-License-Identifier: Apache-2.0
# error: 5:5: AssertionError: five elements
# command: export {file}:f --input x=f32[4]
def f(x):
    assert x.shape[0] == 5, "five elements"
    return x
