# SPDX-License-Identifier: Apache-2.0
# error: 7:2: TypeError: custom_op() missing required argument: 'mutates_args'
# command: export {file}:f --input x=f32[4]
from torch.library import custom_op


@custom_op("test::same")
def same(x):
    return x


def f(x):
    return same(x)
