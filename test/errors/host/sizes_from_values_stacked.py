# SPDX-License-Identifier: Apache-2.0
# error: 8:12: result 0 of torch.scan's combine_fn
# command: compile {file}:f --input x=f32[4,3] -o values.plc
import torch
from torch._higher_order_ops.scan import scan

def f(x):
    return scan(lambda c, row: (c + 1, row[row > 0]), x[0], x)
