# SPDX-License-Identifier: Apache-2.0
# error: 5:5: ValueError: no way: 4
# command: export {file}:f --input x=f32[4]
def f(x):
    raise ValueError(f"no way: {x.shape[0]}")
