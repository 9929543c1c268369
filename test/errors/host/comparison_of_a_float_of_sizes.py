# SPDX-License-Identifier: Apache-2.0
# error: 8:17: '(n) ** (0.3)' is a float that depends on a dynamic dimension and cannot be compared; compare the sizes themselves, or make that dimension static
# command: export {file}:f --input x=f32[n:1..8]


def f(x):
    scale = x.shape[0] ** 0.3
    return x if scale > 0.5 else x * scale
