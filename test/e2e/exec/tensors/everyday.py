# SPDX-License-Identifier: Apache-2.0
# What training scripts use beside layers: containers, packed sequences, averaged models, optimisers that look at the loss, matrices.
import collections
import csv
import datetime
import io
from abc import ABC, abstractmethod

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence, unpad_sequence
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import WeightedRandomSampler

torch.manual_seed(0)


def rounded(values):
    return [round(v, 4) + 0.0 for v in torch.as_tensor(values).detach().reshape(-1).tolist()]


# Containers.
layers = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
del layers[0]
layers.insert(0, nn.Tanh())
layers.extend([nn.ReLU()])
layers[2] = nn.GELU()
print(layers, layers.pop(1), len(layers), layers[0:1], layers[-1])
for wrong in (lambda: nn.Sequential(1), lambda: nn.ModuleList([[1]]), lambda: nn.ModuleDict({"a": "b"})):
    try:
        wrong()
    except TypeError as error:
        print(error)
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
net.insert(1, nn.Tanh())
print(net[1:], net.pop(0), net + nn.Sequential(nn.GELU()), net * 2)
named = nn.ModuleDict({"a": nn.ReLU()})
named.update({"b": nn.Tanh()})
print(named.pop("a"), list(named.keys()), "a" in named)
weights = nn.ParameterDict({"a": torch.ones(2)})
weights["b"] = nn.Parameter(torch.zeros(1))
print([name for name, _ in weights.named_parameters()])
listed = nn.ParameterList([torch.ones(2)])
listed[0] = torch.ones(3)
print([(type(p).__name__, p.shape) for p in listed])
print([issubclass(a, b) for a, b in ((nn.BatchNorm2d, nn.BatchNorm1d), (nn.Dropout2d, nn.Dropout), (nn.InstanceNorm2d, nn.InstanceNorm1d))])

# In place, where the gradient needs what was there.
for change in (lambda t: F.leaky_relu(t, 0.2, inplace=True), lambda t: F.celu(t, inplace=True), lambda t: F.threshold(t, 0.6, 20.0, inplace=True), nn.LeakyReLU(0.2, inplace=True)):
    x = torch.tensor([0.5, -0.75, 1.25], requires_grad=True)
    y = x * 1
    change(y).sum().backward()
    print(rounded(x.grad))
norm = nn.BatchNorm1d(2)
norm(torch.randn(4, 2, requires_grad=True) * 3)
print(norm.running_mean.requires_grad, norm.running_var.requires_grad)

# Sequences.
batch = pad_sequence([torch.ones(2, 3), torch.ones(4, 3) * 2, torch.ones(3, 3) * 3], batch_first=True)
packed = pack_padded_sequence(batch, [2, 4, 3], batch_first=True, enforce_sorted=False)
print(packed.data[:, 0].tolist(), packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
for layer in (nn.LSTM(3, 2, batch_first=True), nn.GRU(3, 2, num_layers=2, bidirectional=True, batch_first=True), nn.RNN(3, 2, batch_first=True)):
    out, state = layer(packed)
    padded, lengths = pad_packed_sequence(out, batch_first=True)
    padded.sum().backward()
    last = state[0] if isinstance(state, tuple) else state
    print(rounded(padded), lengths.tolist(), rounded(last), round(layer.weight_hh_l0.grad.sum().item(), 3))
print([s.shape for s in unpad_sequence(batch, torch.tensor([2, 4, 3]), batch_first=True)])

# Means of models.
model = nn.Linear(2, 1)
mean, moving = AveragedModel(model), AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rates = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    mean.update_parameters(model)
    moving.update_parameters(model)
    rates.step()
print(rounded(mean.module.weight), rounded(moving.module.bias), int(mean.n_averaged), optimizer.param_groups[0]["lr"], list(mean.state_dict()))
statistics = nn.Sequential(nn.BatchNorm1d(2))
update_bn([torch.randn(8, 2) + 1, torch.randn(8, 2) - 1], statistics)
print(rounded(statistics[0].running_mean), statistics[0].momentum)


# Optimisers.
def minimum(make, steps):
    w = nn.Parameter(torch.tensor([[1.5, -2.0], [0.5, 0.25]]))
    optimizer = make([w])

    def closure():
        optimizer.zero_grad()
        loss = ((w - 3) ** 4).sum() + (w[0, 0] * w[0, 1]) ** 2
        loss.backward()
        return loss

    for _ in range(steps):
        loss = optimizer.step(closure)
    print(type(optimizer).__name__, [round(v, 2) for v in w.reshape(-1).tolist()], round(loss.item(), 2))


minimum(lambda p: torch.optim.LBFGS(p, lr=0.5, max_iter=5), 3)
minimum(lambda p: torch.optim.LBFGS(p, line_search_fn="strong_wolfe", history_size=3, max_iter=6), 3)
minimum(lambda p: torch.optim.Adafactor(p, lr=0.1, weight_decay=0.01), 4)
minimum(lambda p: torch.optim.Muon(p, lr=0.05), 3)
print(torch.multinomial(torch.tensor([0.1, 0.9, 0.5]), 8, replacement=True), torch.multinomial(torch.tensor([0.1, 0.9, 0.5]), 2, generator=torch.Generator().manual_seed(3)))
with torch.random.fork_rng():
    torch.random.manual_seed(9)
    print(rounded(torch.rand(1)))
print(rounded(torch.rand(1)))
print(list(WeightedRandomSampler([0.1, 0.9, 0.0, 0.5], 8, generator=torch.Generator().manual_seed(1))))

from torch.distributions import Bernoulli, Categorical, Independent, Normal, Uniform, kl_divergence  # noqa: E402

normal = Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]))
print(normal, rounded(normal.sample((2,))), rounded(normal.rsample()), rounded(normal.log_prob(torch.tensor(0.5))), rounded(normal.entropy()), rounded(kl_divergence(normal, Normal(1.0, 1.0))))
policy = Categorical(logits=torch.tensor([[0.1, 0.2, 0.7], [1.0, 2.0, 3.0]], requires_grad=True))
action = policy.sample((3,))
print(action, rounded(policy.log_prob(action)), rounded(policy.entropy()), policy.log_prob(action).requires_grad, rounded(kl_divergence(policy, Categorical(probs=torch.ones(3)))))
coin = Bernoulli(torch.tensor([0.2, 0.9]))
print(coin)
print(coin.sample(), rounded(coin.log_prob(torch.tensor([1.0, 0.0]))), rounded(coin.entropy()))
print(rounded(Uniform(0.0, 2.0).sample((2,))), rounded(Independent(normal, 1).log_prob(torch.ones(2))))
print(torch.zeros(2, 3, 4).shape[1:], torch.zeros(2, 3).shape[:1] + torch.Size([5]), torch.zeros(2, 3).shape.numel(), torch.zeros(2, 3).nbytes)

# Matrices.
A = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.25, -1.0, 5.0]], dtype=torch.float64)
S = A @ A.T + torch.eye(3, dtype=torch.float64)
B = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]], dtype=torch.float64)
print(rounded(torch.linalg.det(A)), rounded(torch.linalg.slogdet(-A)[1]), rounded(torch.linalg.slogdet(-A)[0]), rounded(torch.logdet(S)))
print(rounded(torch.linalg.inv(A)), rounded(torch.linalg.solve(A, B)), rounded(torch.linalg.solve(A, B[:, 0])), rounded(torch.linalg.cholesky(S)))
print(rounded(torch.linalg.qr(A)[1]), rounded(torch.linalg.svdvals(A)), rounded(torch.linalg.eigvalsh(S)), rounded(torch.linalg.pinv(A[:, :2])))
print([rounded(torch.linalg.matrix_norm(A, kind)) for kind in ("fro", "nuc", 2, -2, 1, float("inf"))], rounded(torch.linalg.matrix_exp(A / 4)), rounded(torch.linalg.cond(A)))
print(rounded(torch.linalg.lstsq(A[:, :2], B).solution), int(torch.linalg.matrix_rank(A)), rounded(torch.linalg.matrix_power(A, -2)), torch.linalg.lu_factor(A).pivots)
print(rounded(torch.linalg.solve_triangular(torch.linalg.cholesky(S), B, upper=False)), rounded(torch.cholesky_solve(B, torch.linalg.cholesky(S))), rounded(torch.linalg.inv(torch.stack([A, S]))[9:12]))
for function in (
    torch.linalg.det, torch.linalg.inv, lambda x: torch.linalg.solve(x, B), lambda x: torch.linalg.cholesky(x @ x.T + 2 * torch.eye(3, dtype=torch.float64)), lambda x: torch.linalg.slogdet(x)[1],
    torch.linalg.svdvals, lambda x: torch.linalg.eigvalsh(x + x.T), lambda x: torch.linalg.qr(x)[1].abs(), lambda x: torch.linalg.pinv(x[:, :2]), lambda x: torch.linalg.matrix_norm(x, "nuc"),
    lambda x: torch.linalg.svd(x, full_matrices=False)[0].abs(), lambda x: torch.linalg.eigh(x + x.T)[1].abs(), torch.linalg.matrix_exp,
):
    x = A.clone().requires_grad_()
    (function(x) * torch.arange(1.0, function(x).numel() + 1, dtype=torch.float64).reshape(function(x).shape)).sum().backward()
    print(rounded(x.grad))
print(torch.autograd.gradcheck(torch.linalg.inv, A.clone().requires_grad_()), torch.autograd.gradgradcheck(torch.linalg.det, A.clone().requires_grad_()))
for wrong in (lambda: torch.linalg.cholesky(-S), lambda: torch.linalg.inv(torch.ones(2, 2)), lambda: torch.linalg.solve(torch.ones(2, 2), torch.ones(2)), lambda: torch.linalg.det(torch.ones(2, 3))):
    try:
        wrong()
    except RuntimeError as error:
        print(type(error).__name__, error)


# Python's own.
class Shape(ABC):
    @abstractmethod
    def area(self):
        ...


class Key:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Key) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


try:
    Shape()
except TypeError as error:
    print(str(error)[:38])
print({Key(1): "one"}[Key(1)], Key(2) in {Key(2)}, len({Key(1), Key(1), Key(2)}))
file = io.StringIO()
csv.writer(file).writerows([["epoch", "loss, val"], [1, 'a "b"']])
file.seek(0)
print(repr(file.getvalue()), list(csv.DictReader(file)))
day = datetime.datetime(2024, 2, 28, 23, 59, 30) + datetime.timedelta(days=1, seconds=45)
print(day, day.strftime("%Y%m%d-%H%M%S %a %b"), day - datetime.datetime(2024, 1, 1), datetime.date(2024, 3, 1) - datetime.date(2024, 2, 1), repr(datetime.timedelta(minutes=90)))


class GivesSizes(torch.nn.Module):
    def forward(self, x):
        return x * 2, x.shape[0] * 2, {"n": x.shape[0], "k": 5, "none": None}


exported = torch.export.export(GivesSizes(), (torch.ones(6, 2),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)).module()
print([exported(torch.ones(n, 2))[1:] for n in (3, 6, 9)])


Sized = collections.namedtuple("Sized", "doubled rows")


class GivesMoreOfSizes(torch.nn.Module):
    def forward(self, x):
        return Sized(x * 2, x.shape[0] * 3), x.shape[0] > 4, x.shape[0] / 2 + 1


exported = torch.export.export(GivesMoreOfSizes(), (torch.ones(6, 2),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)).module()
print([(a.rows, b, c) for a, b, c in [exported(torch.ones(n, 2)) for n in (6, 8)]])

day, moment = datetime.date(2024, 2, 3), datetime.datetime(2024, 2, 3)
print(day == moment, moment == day, day < datetime.date(2024, 2, 4), moment >= moment, datetime.timedelta(1) > datetime.timedelta(hours=23), len({day, moment, datetime.date(2024, 2, 3)}))
for other in (moment, 3):
    try:
        print(day < other)
    except TypeError:
        print("TypeError")
