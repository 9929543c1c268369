# SPDX-License-Identifier: Apache-2.0
# error: 8:12: TypeError: f.<locals>.<lambda>() takes 1 positional argument but 2 were given
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    return associative_scan(lambda a: a, x, 0, combine_mode="generic")
