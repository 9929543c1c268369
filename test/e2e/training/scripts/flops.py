# SPDX-License-Identifier: Apache-2.0
"""FlopCounterMode: products, and what operators' own formulas say."""
import torch
from torch.utils.flop_counter import FlopCounterMode, register_flop_formula


@torch.library.custom_op("flop_test::mysin", mutates_args=())
def mysin(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


@register_flop_formula(torch.ops.flop_test.mysin)
def _(x_shape, *args, **kwargs):
    numel = 1
    for s in x_shape:
        numel *= s
    return numel


x, linear = torch.randn(3, 4), torch.nn.Linear(4, 5)
with FlopCounterMode(display=False) as counter:
    mysin(x)
    linear(x)
    torch.bmm(x.expand(2, 3, 4), x.t().expand(2, 4, 3))
    x + 1
counts = {str(name).split(".")[-1] if "mysin" in str(name) else str(name): count for name, count in counter.get_flop_counts()["Global"].items()}
assert counts == {"mysin": 12, "aten.addmm": 2 * 3 * 4 * 5, "aten.bmm": 2 * 2 * 3 * 4 * 3}, counts
assert counter.get_total_flops() == 12 + 120 + 144
print("ok")
