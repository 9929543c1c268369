# SPDX-License-Identifier: Apache-2.0
# error: 6:5: whether this memory was written is not known for all sizes: 'reshape' of f32[4, n] strides=[1, 4] may be a copy or the tensor's own memory
# command: export {file}:f --strict --input x=f32[n:1..9,4]
def f(x):
    flat = x.t().reshape(-1)
    flat += 1
    return flat
