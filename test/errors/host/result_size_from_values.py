# SPDX-License-Identifier: Apache-2.0
# error: 8:8: this branch depends on a size that values decide, known only when the program runs: 'Eq(u0, 3)' holds for some of its values and not for others (u0 in 0..4); keep to what holds for all of them, or say with torch._check what is known of it
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    if torch.nonzero(x).shape[0] == 3:
        return x
    return -x
