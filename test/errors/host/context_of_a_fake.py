# SPDX-License-Identifier: Apache-2.0
# error: 14:12: torch.library.get_ctx() makes sizes that values decide, for fakes that are run instead of the function; here the function itself is traced, and every size is one of its inputs'
# command: export {file}:f --input x=f32[4]
import torch


@torch.library.custom_op("test::some", mutates_args=())
def some(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@some.register_fake
def _(x):
    size = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(size)


def f(x):
    return some(x)
