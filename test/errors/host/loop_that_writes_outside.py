# SPDX-License-Identifier: Apache-2.0
# error: ?
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    total = x * 0

    def body(x):
        total.add_(x)
        return x + 1

    return while_loop(lambda x: x.sum() < 5, body, (x,)), total
