# SPDX-License-Identifier: Apache-2.0
# error: 8:10: parameter 'x' of operator 'test::bare' has no type annotation; write x: torch.Tensor, int, float, …
# command: export {file}:f --input x=f32[4]
from torch.library import custom_op


@custom_op("test::bare", mutates_args=())
def bare(x):
    return x * 2.0


def f(x):
    return bare(x)
