# SPDX-License-Identifier: Apache-2.0
"""Modules as they are put together: containers, init functions, walks over modules, activations in place."""
import math
from collections import OrderedDict
from functools import partial
from typing import Callable, NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import init


class Mixer(nn.Module):
    expansion: int = 2

    def __init__(self, tokens=9, dim=24, act_layer: Callable[..., nn.Module] = nn.GELU, norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.tok = nn.Sequential(OrderedDict([
            ("fc1", nn.Linear(tokens, tokens * self.expansion)), ("act", act_layer()), ("drop", nn.Dropout(0.1)),
            ("fc2", nn.Linear(tokens * self.expansion, tokens)),
        ]))
        self.norm2 = norm_layer(dim)
        self.ch = nn.Sequential(nn.Linear(dim, dim * self.expansion), act_layer(), nn.Linear(dim * self.expansion, dim))
        self.gamma = nn.Parameter(1e-1 * torch.ones(dim), requires_grad=True)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(module):
        if isinstance(module, nn.Linear):
            init.trunc_normal_(module.weight, std=0.02)
            if module.bias is not None:
                init.constant_(module.bias, 0.5)

    def forward(self, x):
        y = self.norm1(x).transpose(1, 2)
        x = x + self.gamma * self.tok(y).transpose(1, 2)
        return x + self.ch(self.norm2(x))


class Out(NamedTuple):
    logits: torch.Tensor
    hidden: torch.Tensor


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.heads = nn.ModuleDict({"x": nn.Linear(8, 4), "y": nn.Linear(8, 4)})
        self.shifts = nn.ParameterList([nn.Parameter(torch.randn(4)) for _ in range(3)])
        self.scales = nn.ParameterDict({"k": nn.Parameter(torch.zeros(4))})
        self.norms = nn.ModuleList()
        for _ in range(2):
            self.norms.append(nn.BatchNorm1d(4))
        self.groups = nn.GroupNorm(2, 8)
        assert len(self.heads) == 2 and "x" in self.heads and sum(p.dim() for p in self.parameters()) > 0
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, x):
        h = torch.relu_(self.groups(self.body(x)))
        z = sum(head(h) * (2 if name == "x" else 3) for name, head in self.heads.items())
        for norm, shift in zip(self.norms, self.shifts):
            z = norm(z) + shift
        return Out(logits=z + self.scales["k"], hidden=h)


class Residual(nn.Module):
    """With inplace=True the shortcut sees the activation's result."""

    def __init__(self, inplace):
        super().__init__()
        self.act = nn.ReLU(inplace=inplace)

    def forward(self, x):
        y = x + 1
        return self.act(y) + y


class Experts(nn.Module):
    def __init__(self, d=16, experts=4):
        super().__init__()
        self.gate = nn.Linear(d, experts, bias=False)
        self.w1 = nn.Parameter(torch.empty(experts, d, 2 * d))
        self.w2 = nn.Parameter(torch.empty(experts, 2 * d, d))
        nn.init.kaiming_uniform_(self.w1, a=math.sqrt(5))
        nn.init.normal_(self.w2, 0.0, 1.0)

    def forward(self, x):
        p = self.gate(x).softmax(-1)
        h = F.silu(torch.einsum("bd,edf->ebf", x, self.w1))
        y = torch.einsum("ebf, efd -> ebd", h, self.w2)
        return {"mixed": torch.einsum("be,ebd->bd", p, y), "gates": p}


def losses(x, y):
    loss = F.cross_entropy(x, y)
    nothing = F.cross_entropy(x, y, reduction="none", ignore_index=2)
    hot = F.one_hot(y, num_classes=7)
    target = hot.float()
    return (loss, nothing, hot, F.mse_loss(x, target), F.l1_loss(x, target, reduction="sum"), F.smooth_l1_loss(x, target),
            F.binary_cross_entropy_with_logits(x, target), F.kl_div(F.log_softmax(x, -1), target, reduction="batchmean"),
            F.cosine_similarity(x, target, dim=1), (x.argmax(-1) == y).float().mean())


def composed(x, y):
    n = x.shape[1]
    return (F.pad(x, (1, 2)), F.pad(x, (0, 0, 3, 1), value=-1.0), F.pad(x, (-1, 0)), torch.cumsum(x, dim=1), x.cumsum(0), torch.cumprod(x, dim=-1),
            torch.eye(n) + x[:1], torch.linspace(0, 1, n), torch.lerp(x, y, 0.3), torch.addcdiv(x, y, y.abs() + 1, value=0.5), torch.hypot(x, y),
            torch.sinh(x) + torch.cosh(y) + torch.tan(x * 0.1), x.frac(), torch.count_nonzero(x > 0), torch.cdist(x, y), torch.nan_to_num(x / (y - y)))


def indexing(x, i):
    return x[i], x[:, [0, -1]], x[i, 0], x[i][..., None], x[:, i[:2]], x[None, 0], x[-1, 1:3]


def destinations(x):
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    torch.add(x, 1, out=y)
    torch.mul(y[:, :2], 2.0, out=y[:, :2])
    z = F.silu(x, inplace=False)
    F.relu(z, inplace=True)
    w = x.clone()
    w.copy_(-y)
    w[:, 0].zero_()
    return y, z, w
