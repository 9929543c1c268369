# SPDX-License-Identifier: Apache-2.0
# error: 9:12: result 1 of torch.scan's combine_fn is as large as values inside of it decide (torch.Size([u0])), another size in each turn or branch; return one of a size known outside, such as a mask or a sum
# command: compile {file}:f --input x=f32[4,3] -o values.plc
import torch
from torch._higher_order_ops.scan import scan


def f(x):
    return scan(lambda c, row: (c + 1, row[row > 0]), x[0], x)
