# SPDX-License-Identifier: Apache-2.0
# error: 8:12: Expected body_fn_output and carried_inputs to have same metadata but found: pair[0] differ in 'shape: torch.Size([3]) vs torch.Size([4, 3])'
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    return while_loop(lambda x: x.sum() < 5, lambda x: x.sum(0), (x,))
