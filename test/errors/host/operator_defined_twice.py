# SPDX-License-Identifier: Apache-2.0
# error: 6:1: RuntimeError: Tried to register an operator (test::same) with the same name and overload name multiple times
# command: export {file}:f --input x=f32[4]
import torch

torch.library.define("test::same", "(Tensor x) -> Tensor")
torch.library.define("test::same", "(Tensor x) -> Tensor")


def f(x):
    return torch.ops.test.same(x)
