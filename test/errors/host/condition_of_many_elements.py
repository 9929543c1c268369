# SPDX-License-Identifier: Apache-2.0
# error: 8:12: Expected cond_fn to return a scalar tensor or a bool but got torch.Size([4, 3])
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    return while_loop(lambda x: x < 5, lambda x: x + 1, (x,))
