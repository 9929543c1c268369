# SPDX-License-Identifier: Apache-2.0
# error: 8:12: Expected init and carry to have same metadata but found: pair[0] differ in 'dtype: torch.float32 vs torch.float64'
# command: export {file}:f --input x=f32[4,3]
from torch._higher_order_ops import associative_scan, scan, while_loop


def f(x):
    return scan(lambda c, x: ((c + x).double(), x * 1), x[0], x)
