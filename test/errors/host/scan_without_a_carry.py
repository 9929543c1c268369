# SPDX-License-Identifier: Apache-2.0
# error: 8:12: RuntimeError: Expect combine_fn to return a tuple (next_carry, y) but got tensor(f32[3]).
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    return scan(lambda c, x: c + x, x[0], x)
