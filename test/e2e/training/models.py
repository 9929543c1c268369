# SPDX-License-Identifier: Apache-2.0
"""Training steps, as files of PyTorch have them: record.py runs them with PyTorch, training_test.py as packages."""
import torch
import torch.nn as nn
import torch.nn.functional as F

OPTIMIZERS = [
    ("SGD", dict(lr=0.1)),
    ("SGD", dict(lr=0.1, momentum=0.9, weight_decay=0.1)),
    ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.3)),
    ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True, maximize=True)),
    ("Adam", dict()),
    ("Adam", dict(lr=0.05, amsgrad=True, weight_decay=0.1)),
    ("AdamW", dict(lr=0.05)),
    ("AdamW", dict(lr=0.05, amsgrad=True, maximize=True)),
    ("RMSprop", dict()),
    ("RMSprop", dict(centered=True, momentum=0.9, weight_decay=0.1)),
    ("Adagrad", dict(lr_decay=0.1, initial_accumulator_value=0.2, weight_decay=0.1)),
    ("Adadelta", dict(weight_decay=0.1)),
    ("Adamax", dict(weight_decay=0.1)),
    ("NAdam", dict(weight_decay=0.1, decoupled_weight_decay=True)),
    ("RAdam", dict(lr=0.05, weight_decay=0.1)),
]


def start(*shape):
    count = 1
    for size in shape:
        count *= size
    return ((torch.arange(count) * 37 % 101 - 50) / 32.0).to(torch.float32).reshape(shape)


class Optimizers(nn.Module):
    """Every optimiser takes one step with the same gradient."""

    def __init__(self):
        super().__init__()
        self.parameters_of = nn.ParameterList([nn.Parameter(start(5, 3)) for _ in OPTIMIZERS])
        self.optimizers = [getattr(torch.optim, name)([p], **options) for p, (name, options) in zip(self.parameters_of, OPTIMIZERS)]

    def forward(self, grad):
        for p, optimizer in zip(self.parameters_of, self.optimizers):
            p.grad = grad.clone()
            optimizer.step()
        return [p.detach().clone() for p in self.parameters_of]


class Lion(torch.optim.Optimizer):
    """A user's own: its first step makes its state, and it counts in Python."""

    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["average"] = p.detach().clone()
                state["step"] += 1
                mean = state["exp_avg"]
                update = (mean * beta1 + p.grad * (1 - beta1)).sign_()
                p.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"])
                mean.mul_(beta2).add_(p.grad, alpha=1 - beta2)
                share = 1 / (1 + state["step"])
                state["average"] = state["average"] * (1 - share) + p * share


def network():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(start(*p.shape) / 4)
    return model


class TrainSGD(nn.Module):
    """The step as a module that holds the model and its optimiser."""

    def __init__(self):
        super().__init__()
        self.model = network()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.2, momentum=0.9, nesterov=True)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()


class TrainLion(TrainSGD):
    def __init__(self):
        super().__init__()
        decayed = [p for p in self.model.parameters() if p.dim() == 2]
        rest = [p for p in self.model.parameters() if p.dim() != 2]
        self.optimizer = Lion([{"params": decayed, "weight_decay": 0.1}, {"params": rest}], lr=0.02)


class Accumulating(TrainSGD):
    """Gradients are added up over all steps: nobody sets them back."""

    def __init__(self):
        super().__init__()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.002)

    def forward(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Scheduled(nn.Module):
    """The learning rate is an input: a tensor that the step writes."""

    def __init__(self):
        super().__init__()
        self.model = network()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=torch.tensor(0.1))

    def forward(self, x, y, lr):
        self.optimizer.param_groups[0]["lr"].copy_(lr)
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), F.one_hot(y, 3).float())
        loss.backward()
        self.optimizer.step()
        return loss.detach()


# The same as a script has it: what the function trains lies in the file.
model = network()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)


def train_step(x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
