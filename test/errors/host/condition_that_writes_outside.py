# SPDX-License-Identifier: Apache-2.0
# error: 13:12: torch.while_loop's cond_fn writes to a tensor made outside of it; only the body may
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import while_loop


def f(x):
    total = x * 0

    def cond(x):
        return total.add_(x).sum() < 5

    return while_loop(cond, lambda x: x + 1, (x,)), total
