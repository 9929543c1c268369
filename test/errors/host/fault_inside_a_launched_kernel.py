# SPDX-License-Identifier: Apache-2.0
# error: 10:18: arange's range must be a power of 2, got 3; take the next one and mask the rest
# command: export {file}:f --input x=f32[4]
import triton
import triton.language as tl


@triton.jit
def k(x):
    tl.store(x + tl.arange(0, 3), 1.0)


def f(x):
    k[(1,)](x)
    return x
