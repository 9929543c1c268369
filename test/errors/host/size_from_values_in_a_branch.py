# SPDX-License-Identifier: Apache-2.0
# error: 8:46: nonzero: values decide this size inside of torch.cond's true_fn, where each turn or branch would have another; make it before, or keep to sizes that inputs say
# command: compile {file}:f --input x=f32[4] -o values.plc
import torch


def f(x):
    return torch.cond(x.sum() > 0, lambda x: torch.nonzero(x).sum(), lambda x: x.to(torch.int64).sum(), (x,))
