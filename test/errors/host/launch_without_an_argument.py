# SPDX-License-Identifier: Apache-2.0
# error: 14:5: 'k' needs an argument for 'n'
# command: export {file}:f --input x=f32[4]
import triton
import triton.language as tl


@triton.jit
def k(x, n):
    tl.store(x + n, 1.0)


def f(x):
    k[(1,)](x)
    return x
