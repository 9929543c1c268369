# SPDX-License-Identifier: Apache-2.0
# error: 14:12: this tensor was made inside of a branch or a loop's body and is none of its results; return it
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    kept = []

    def step(c, x):
        kept.append(c * 2)
        return c + x, x * 1

    return scan(step, x[0], x)[0] + kept[0]
