# SPDX-License-Identifier: Apache-2.0
# error: 5:12: indexing with a boolean mask gives as many elements as the mask's values say, which is only known when the program runs; use torch.where
# command: export {file}:f --input x=f32[4]
def f(x):
    return x[x > 0]
