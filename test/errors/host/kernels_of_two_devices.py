# SPDX-License-Identifier: Apache-2.0
# error: 18:12: operator 'test::twice' runs another kernel on cuda than on cpu; compile a package for each
# command: compile {file}:f --input x=f32[4] --target cpu,cuda:sm_90 -o two_devices.plc
import torch


@torch.library.custom_op("test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_kernel("cuda")
def _(x):
    return x + x


def f(x):
    return twice(x)
