# SPDX-License-Identifier: Apache-2.0
# error: 8:12: torch.while_loop's body_fn might be aliasing the input or the output: higher order ops do not support aliasing; replace 'return input' with 'return input.clone()'
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    return while_loop(lambda x, y: x.sum() < 5, lambda x, y: (y, x), (x, x + 1))
