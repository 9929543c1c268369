# SPDX-License-Identifier: Apache-2.0
# error: 5:8: this branch depends on a dynamic dim: '5 <= batch' holds for some sizes and not for others (batch in 1..16); a strict export must decide it for the whole range, so narrow the range or write it without a branch
# command: export {file}:f --input x=f32[batch:1..16,4] --strict
def f(x):
    if x.shape[0] > 4:
        return x * 2.0
    return x + 1.0
