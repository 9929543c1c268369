# SPDX-License-Identifier: Apache-2.0
# error: 5:5: 'match' is not supported in host code; write if/elif
# command: export {file}:f --input x=f32[4]
def f(x):
    match x.shape[0]:
        case 1:
            return x
    return -x
