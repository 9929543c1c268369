# SPDX-License-Identifier: Apache-2.0
# error: 5:12: this branch depends on a dynamic dim: 'batch <= 8' holds for some sizes and not for others (batch in 1..16); a strict export must decide it for the whole range, so narrow the range or write it without a branch
# command: export {file}:f --input x=f32[batch:1..16,4] --strict
def f(x):
    assert x.shape[0] <= 8, "too many rows"
    return x
