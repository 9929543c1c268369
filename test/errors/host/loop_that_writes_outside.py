# SPDX-License-Identifier: Apache-2.0
# error: 11:9: torch.while_loop's body_fn writes to a tensor made outside of it, and higher order operators do not support input mutation; return the new contents as a result
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    total = x * 0

    def body(x):
        total.add_(x)
        return x + 1

    return while_loop(lambda x: x.sum() < 5, body, (x,)), total
