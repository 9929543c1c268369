# SPDX-License-Identifier: Apache-2.0
"""What PyTorch raises where operands do not fit, by class and words."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
CASES = [
    lambda: torch.randn(2,3) @ torch.randn(4,5),
    lambda: torch.mm(torch.randn(2,3), torch.randn(4,5)),
    lambda: torch.mm(torch.randn(2), torch.randn(4,5)),
    lambda: torch.bmm(torch.randn(2,3,4), torch.randn(2,5,6)),
    lambda: torch.bmm(torch.randn(2,3,4), torch.randn(3,4,6)),
    lambda: torch.matmul(torch.randn(2,3,4), torch.randn(2,5,6)),
    lambda: torch.matmul(torch.randn(2,3,4), torch.randn(3,4,6)),
    lambda: torch.randn(3) @ torch.randn(4),
    lambda: torch.randn(2,3) @ torch.randn(4),
    lambda: torch.dot(torch.randn(3), torch.randn(4)),
    lambda: torch.mv(torch.randn(2,3), torch.randn(4)),
    lambda: torch.addmm(torch.randn(5), torch.randn(2,3), torch.randn(4,5)),
    lambda: nn.Linear(3,4)(torch.randn(2,5)),
    lambda: F.linear(torch.randn(2,5), torch.randn(4,3)),
    lambda: nn.Linear(3,4)(torch.randn(2,3).double()),
    lambda: nn.Linear(3,4)(torch.randint(0,3,(2,3))),
    lambda: torch.randn(2,3).half() @ torch.randn(3,4),
    lambda: torch.randn(2,3) + torch.randn(4,5),
    lambda: torch.randn(3) + torch.randn(4),
    lambda: torch.randn(2,3) * torch.randn(2),
    lambda: torch.where(torch.tensor([True,False]), torch.randn(3), torch.randn(3)),
    lambda: torch.randn(2,3).add_(torch.randn(4,2,3)),
    lambda: torch.randn(3).add_(torch.randn(4)),
    lambda: torch.zeros(3, dtype=torch.int64).add_(1.5),
    lambda: torch.randn(2,3).view(4),
    lambda: torch.randn(2,3).view(-1,4),
    lambda: torch.randn(2,3).t().view(6),
    lambda: torch.randn(2,3).reshape(5),
    lambda: torch.randn(2,3).reshape(-1,-1),
    lambda: torch.randn(2,3).expand(4,3),
    lambda: torch.randn(2,3).expand(6),
    lambda: torch.randn(2,3).transpose(0,2),
    lambda: torch.randn(2,3).permute(0,0),
    lambda: torch.randn(2,3).permute(0),
    lambda: torch.randn(2,3).squeeze(5),
    lambda: torch.randn(2,3).unsqueeze(5),
    lambda: torch.randn(2,3).sum(2),
    lambda: torch.randn(2,3).sum(dim=-3),
    lambda: torch.randn(2,3).sum(dim=(0,0)),
    lambda: torch.randn(2,3).softmax(3),
    lambda: torch.randn(2,3)[2],
    lambda: torch.randn(2,3)[0,0,0],
    lambda: torch.randn(2,3)[-3],
    lambda: torch.randn(2,3)[::-1],
    lambda: torch.tensor(3.)[0],
    lambda: torch.randn(2,3)[torch.tensor([0.5])],
    lambda: torch.randn(2,3)[torch.tensor([True,False,True])],
    lambda: torch.cat([torch.randn(2,3), torch.randn(3,4)]),
    lambda: torch.cat([torch.randn(2,3), torch.randn(3)]),
    lambda: torch.cat([]),
    lambda: torch.cat([torch.randn(2,3)], dim=3),
    lambda: torch.stack([torch.randn(2), torch.randn(3)]),
    lambda: torch.stack([]),
    lambda: torch.randn(2).item(),
    lambda: torch.randn(2, requires_grad=True).backward(),
    lambda: torch.randn(2).sum().backward(),
    lambda: torch.autograd.grad(torch.randn(2).sum(), torch.randn(2)),
    lambda: torch.randint(0,3,(2,)).mean(),
    lambda: torch.tensor([True]).mean(),
    lambda: torch.randn(2) & torch.randn(2),
    lambda: torch.randn(2) // 'a',
    lambda: torch.randn(2) + 'a',
    lambda: torch.randn(2) + None,
    lambda: torch.randn(2) + [1,2],
    lambda: torch.sigmoid(3.0),
    lambda: torch.relu(3),
    lambda: torch.tensor([[1,2],[3]]),
    lambda: torch.arange(3, 1),
    lambda: torch.arange(0, 3, 0),
    lambda: torch.randn(2,3).gather(0, torch.tensor([0])),
    lambda: torch.randn(2,3).gather(1, torch.tensor([[0.],[0.]])),
    lambda: torch.randn(2,3).index_select(0, torch.tensor([[5]])),
    lambda: nn.Embedding(3,2)(torch.tensor([0.5])),
    lambda: F.mse_loss(torch.randn(2,3), torch.randn(4,5)),
    lambda: nn.Conv2d(3,4,3)(torch.randn(1,2,8,8)),
    lambda: nn.Conv2d(3,4,3)(torch.randn(2,8)),
    lambda: nn.Conv2d(3,4,9)(torch.randn(1,3,4,4)),
    lambda: nn.Conv1d(3,4,3)(torch.randn(1,2,8)),
    lambda: nn.Conv2d(3,4,3,groups=2),
    lambda: nn.LayerNorm(4)(torch.randn(2,3)),
    lambda: nn.MultiheadAttention(5, 2),
    lambda: torch.randn(2,3).chunk(0),
    lambda: torch.randn(2,3).split(-1),
    lambda: torch.randn(2,3).split([1,2]),
    lambda: torch.randn(4).topk(5),
    lambda: torch.randn(2,3).repeat(2),
    lambda: torch.randn(2,3).copy_(torch.randn(3,2)),
    lambda: torch.randn(2,3).max(5),
    lambda: torch.randn(0).max(),
    lambda: torch.randn(0).argmax(),
    lambda: torch.multinomial(torch.rand(3), 5),
    lambda: nn.Linear(2,3).nope,
    lambda: nn.Linear(2,3).load_state_dict({'weight': torch.randn(3,2)}),
    lambda: nn.Linear(2,3).load_state_dict({'weight': torch.randn(3,4), 'bias': torch.randn(3)}),
    lambda: nn.Linear(2,3).load_state_dict({'weight': torch.randn(3,2), 'bias': torch.randn(3), 'x': torch.randn(1)}),
    lambda: torch.optim.SGD([], lr=0.1),
    lambda: torch.optim.SGD([torch.randn(2).exp().requires_grad_().exp()], lr=0.1),
    lambda: torch.optim.SGD(nn.Linear(2,3).parameters(), lr=-1),
    lambda: torch.optim.Adam(nn.Linear(2,3).parameters(), betas=(2,0)),
    lambda: nn.Dropout(2.0),
    lambda: F.dropout(torch.randn(2), p=-1),
    lambda: F.softmax(torch.randn(2,3), dim=4),
    lambda: torch.randn(2,3).flatten(1, 0),
    lambda: torch.from_numpy(3),
    lambda: torch.manual_seed('a'),
    lambda: torch.randint(5, 2, (3,)),
    lambda: torch.allclose(torch.randn(2), torch.randn(3)),
    lambda: torch.ones(2)[None, 3],
    lambda: torch.std(torch.randint(0,3,(2,))),
    lambda: torch.randint(0,3,(2,)).exp_(),
    lambda: torch.tensor([1]) // 0,
    lambda: torch.tensor([1]) % 0,
    lambda: torch.tensor([True]) - torch.tensor([True]),
    lambda: torch.cumsum(torch.randn(2), 3),
    lambda: torch.sort(torch.randn(2), 3),
    lambda: torch.vstack([torch.randn(2), torch.randn(3)]),
    lambda: torch.nn.utils.clip_grad_norm_(3, 1.0),
    lambda: torch.utils.data.DataLoader([], batch_size=0),
    lambda: torch.ones(2,3).T.view(2,3,1,1,4),
    lambda: torch.empty(2, 3, 4).movedim(0, 4),
    lambda: torch.ones(2, names=('a',)),
]


def attempt(number, body):
    try:
        body()
        print(number, "raises nothing")
    except Exception as error:
        print(number, f"{type(error).__name__}: {error}")


for number, body in enumerate(CASES):
    attempt(number, body)

# A script goes on after what it caught, with all values that it had.
x = torch.arange(6.0).reshape(2, 3)
try:
    y = x @ x
except RuntimeError as error:
    print("caught", error)
    y = x @ x.T
finally:
    print(y)
try:
    x.add_(torch.ones(4))
except RuntimeError:
    print(x)
leaf = torch.ones(2, requires_grad=True)
loss = (leaf * leaf).sum()
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print(str(error)[:60], leaf.grad)

# What is written and read in one call lies apart, or is the same element by element.
line = torch.arange(5.0)
square = torch.arange(9.0).reshape(3, 3)
wide = torch.zeros(3).expand(2, 3)


def assign_shifted():
    line[1:] = line[:-1]


for number, body in enumerate([
    assign_shifted,
    lambda: line[1:].copy_(line[:-1]),
    lambda: line[1:].add_(line[:-1]),
    lambda: line.mul_(line[0]),
    lambda: line[:2].sub_(line[1:2]),
    lambda: line[:2].add_(line[2:4]),
    lambda: line.mul_(line),
    lambda: line[::2].add_(line[1:4]),
    lambda: square.add_(square.t()),
    lambda: square.t().add_(square.t()),
    lambda: square[0].add_(square[1]),
    lambda: square.view(-1)[:3].add_(square[0]),
    lambda: square.view(9)[1:4].add_(square[0]),
    lambda: torch.add(line[1:], 1, out=line[:-1]),
    lambda: torch.mul(line, 2, out=line),
    lambda: wide.add_(1),
    lambda: wide.mul_(torch.ones(3)),
    lambda: wide.copy_(torch.ones(2, 3)),
    lambda: wide.fill_(2),
    lambda: torch.zeros(1).expand(1, 1).add_(1),
]):
    attempt(number, body)
    print(line.tolist(), square.tolist(), wide.tolist())

for number, body in enumerate([
    lambda: torch.tensor(2).pow(-1),
    lambda: torch.arange(3) ** -2,
    lambda: torch.arange(3).pow_(-1),
    lambda: torch.arange(3.0) ** -2,
    lambda: torch.tensor([1, 2]) - torch.tensor([True, False]),
    lambda: torch.tensor([True, False]) - torch.tensor([1.5, 2.0]),
    lambda: torch.tensor([True]) - torch.tensor([True]),
    lambda: torch.tensor([True]) - 1,
    lambda: -torch.tensor([True]),
]):
    attempt(number, body)
