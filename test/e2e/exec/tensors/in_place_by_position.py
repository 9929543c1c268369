# SPDX-License-Identifier: Apache-2.0
"""`inplace` of torch.nn.functional's activations by its position, as F.relu(x, True)."""
import torch
import torch.nn.functional as F

for name, arguments in (("relu", ()), ("relu6", ()), ("elu", (1.0,)), ("celu", (1.0,)), ("selu", ()), ("leaky_relu", (0.5,)), ("hardtanh", (-1.0, 1.0)), ("hardswish", ()),
                        ("hardsigmoid", ()), ("silu", ()), ("mish", ()), ("threshold", (0.5, 0.0)), ("rrelu", (0.25, 0.25, False))):
    for in_place in (True, False):
        x = torch.tensor([-1.0, 2.0, 0.0])
        y = getattr(F, name)(x, *arguments, in_place)
        print(name, in_place, y, x, getattr(F, name)(torch.empty(0, 2), *arguments, in_place).shape)
