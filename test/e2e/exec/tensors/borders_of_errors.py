# SPDX-License-Identifier: Apache-2.0
"""Calls at the borders of what PyTorch takes, one element, dim or rank beyond and not beyond: its class and its words."""
import torch
import torch.nn.functional as F

x, y, z = torch.zeros(2, 3), torch.zeros(3), torch.zeros(2, 3, 4)
CASES = [
    lambda: y.narrow(0, -3, 3), lambda: y.narrow(0, -3, 4), lambda: y.narrow(0, -4, 1), lambda: y.narrow(0, 3, 0), lambda: y.narrow(0, 3, 1), lambda: y.narrow(0, 4, 0),
    lambda: y.narrow(0, 0, -1), lambda: y.narrow(0, 1, 2), lambda: y.narrow(0, 1, 3), lambda: z.narrow(-1, 2, 2), lambda: z.narrow(-1, 2, 3),
    lambda: x.flatten(1, 0), lambda: x.flatten(0, 0), lambda: x.flatten(1, 1), lambda: z.flatten(2, 1), lambda: z.flatten(-1, 0), lambda: z.flatten(0, -3), lambda: z.flatten(1, -3),
    lambda: torch.mm(x, torch.zeros(4, 3)), lambda: torch.mm(x, torch.zeros(3, 3)), lambda: torch.mm(x, torch.zeros(2, 3)), lambda: torch.mm(x, y), lambda: torch.mm(y, x), lambda: torch.mm(z, x), lambda: torch.mm(x, z),
    lambda: torch.addmm(torch.zeros(5), x, torch.zeros(3, 4)), lambda: torch.addmm(torch.zeros(4), x, torch.zeros(3, 4)),
    lambda: torch.addmm(torch.zeros(2, 1), x, torch.zeros(3, 4)), lambda: torch.addmm(torch.tensor(1.0), x, torch.zeros(3, 4)),
    lambda: x.T.view(6), lambda: x.T.reshape(6), lambda: x.view(5), lambda: x.reshape(4, 2), lambda: x.view(-1, 4), lambda: x.view(-1, 3), lambda: x.view(0, -1), lambda: torch.zeros(0).view(-1, 0), lambda: x.view(-1, -1),
    lambda: torch.tensor(1.0).select(0, 0), lambda: x.select(0, 1), lambda: x.select(0, -2), lambda: x.select(2, 0), lambda: x.select(-2, 0), lambda: x.select(-3, 0),
    lambda: x[2], lambda: x[1], lambda: x[-2], lambda: x[-3], lambda: x[0, 0, 0], lambda: x.unsqueeze(2), lambda: x.unsqueeze(3), lambda: x.unsqueeze(-3), lambda: x.unsqueeze(-4),
    lambda: torch.cat([x, torch.zeros(2, 4)], 1), lambda: torch.cat([x, torch.zeros(2, 4)], 0), lambda: torch.cat([x, y]), lambda: torch.cat([x, torch.zeros(0)]), lambda: torch.stack([x, x.T]), lambda: torch.stack([]),
    lambda: x.expand(2, 3), lambda: x.expand(4, 3), lambda: x.expand(1, 2, 3), lambda: x.expand(3), lambda: y.expand(2, -1), lambda: y.expand(-1, 3), lambda: x.repeat(2), lambda: x.repeat(1, 2), lambda: x.permute(0), lambda: x.permute(0, 0), lambda: x.permute(1, 0),
    lambda: x.split([1, 1]), lambda: x.split([1, 2]), lambda: x.split([1, 2], 1), lambda: y.chunk(5), lambda: torch.bmm(z, torch.zeros(2, 4, 1)), lambda: torch.bmm(z, torch.zeros(2, 3, 1)), lambda: torch.bmm(z, torch.zeros(1, 4, 1)),
    lambda: y.split(0), lambda: y.split(-1), lambda: y.split(3), lambda: torch.zeros(0).split(0), lambda: torch.zeros(0, 2).split(0, 1), lambda: z.split(0, -1), lambda: y.chunk(0), lambda: y.chunk(-2), lambda: torch.tensor(1.0).split(1), lambda: torch.tensor(1.0).chunk(1),
    lambda: F.conv1d(x, torch.zeros(0, 2, 1)), lambda: F.conv1d(x, torch.zeros(1, 2, 1)), lambda: F.conv2d(z, torch.zeros(0, 2, 1, 1)), lambda: F.conv1d(x, torch.zeros(1, 1, 1), groups=2),
    lambda: torch.dot(y, y), lambda: torch.dot(y, torch.zeros(2)), lambda: torch.mv(x, y), lambda: torch.mv(x, torch.zeros(2)), lambda: torch.baddbmm(torch.zeros(1), z, torch.zeros(2, 4, 5)),
    lambda: y.topk(3), lambda: y.topk(4), lambda: y.topk(0), lambda: y.kthvalue(3), lambda: y.kthvalue(0), lambda: y.kthvalue(4), lambda: F.one_hot(torch.tensor([0, 2]), 3), lambda: F.one_hot(torch.tensor([0, 3]), 3),
]

for i, case in enumerate(CASES):
    try:
        t = case()
        t = t if isinstance(t, tuple) else (t,)
        print(i, [tuple(one.shape) for one in t])
    except (RuntimeError, IndexError, ValueError) as error:
        print(i, type(error).__name__, str(error).split("\n")[0])
