# SPDX-License-Identifier: Apache-2.0
# error: 9:5: RuntimeError: Tried to register an operator (test::same) with the same name and overload name multiple times
# command: export {file}:f --input x=f32[4]
import torch


def f(x):
    torch.library.define("test::same", "(Tensor x) -> Tensor")
    torch.library.define("test::same", "(Tensor x) -> Tensor")
    return torch.ops.test.same(x)
