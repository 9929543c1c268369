# SPDX-License-Identifier: Apache-2.0
# error: 18:5: operator 'test::writes' writes to 'x', which mutates_args does not name; write mutates_args={"x"}
# note: 13:5: 'x' is written here
# command: export {file}:f --input x=f32[4]
import torch

library = torch.library.Library("test", "DEF")
library.define("writes(Tensor x) -> ()")


@torch.library.impl(library, "writes", "CPU")
def writes(x):
    x.add_(1)


def f(x):
    y = x * 2
    torch.ops.test.writes(y)
    return y
