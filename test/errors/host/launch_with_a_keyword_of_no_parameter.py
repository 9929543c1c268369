# SPDX-License-Identifier: Apache-2.0
# error: 14:5: 'k' has no parameter 'FROB', and it is not a launch option
# command: export {file}:f --input x=f32[4]
import triton
import triton.language as tl


@triton.jit
def k(x):
    tl.store(x, 1.0)


def f(x):
    k[(1,)](x, FROB=3)
    return x
