# SPDX-License-Identifier: Apache-2.0
# error: 9:12: whether this memory was written is not known for all sizes: 'contiguous' of f32[4, n] strides=[1, 4] may be a copy or the tensor's own memory
# note: 7:14: made here; write clone() for a copy, or make its sizes static
# note: 8:5: written here
# command: export {file}:f --strict --input x=f32[n:1..9,4]
def f(x):
    turned = x.t().contiguous()
    turned.add_(1)
    return x + 1
