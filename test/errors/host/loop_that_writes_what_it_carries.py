# SPDX-License-Identifier: Apache-2.0
# error: 8:56: torch.while_loop's body_fn might be modifying the input: it writes to one of its operands, and higher order operators do not support input mutation; return the new contents as a result
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import while_loop


def f(x):
    return while_loop(lambda x: x.sum() < 5, lambda x: x.add_(1), (x,))
