# Gradients of views of views, whose bases have gaps in memory or elements in one place, and of writes to them; results that are no views.
import random

import torch
import torch.nn.functional as F


def step(rng, v):
    d = rng.randrange(max(v.dim(), 1))
    kind = rng.randrange(8)
    if v.dim() == 0 or 0 in v.shape:
        return v.unsqueeze(0)
    if kind == 0 and v.shape[d] > 1:
        return v.unfold(d, 2, rng.randint(1, 2))
    if kind == 1 and v.dim() > 1:
        return v.select(d, v.shape[d] - 1)
    if kind == 2:
        return v.transpose(0, -1)
    if kind == 3:
        return v[::2]
    if kind == 4 and v.dim() > 1:
        return v.diagonal(0, 0, v.dim() - 1)
    if kind == 5:
        return v.unsqueeze(0).expand(2, *v.shape)
    if kind == 6:
        return v.narrow(d, v.shape[d] - 1, 1)
    return v.unbind(0)[0] if v.dim() > 1 else v


def counted(t):
    return (torch.arange(float(t.numel())) + 1).reshape(t.shape)


for seed in range(40):
    rng = random.Random(seed)
    leaf = counted(torch.empty([rng.randint(1, 4) for _ in range(rng.randint(1, 3))]))
    leaf = (leaf.transpose(0, -1) if rng.random() < 0.5 else leaf).detach().requires_grad_()
    view = leaf if rng.random() < 0.5 else leaf * 2
    for _ in range(rng.randint(2, 4)):
        view = step(rng, view)
    print(seed, tuple(view.shape), torch.autograd.grad(view, leaf, counted(view))[0].tolist())

for seed in range(20):
    rng = random.Random(seed)
    leaf = counted(torch.empty(4, 3, 4)).requires_grad_()
    given = torch.tensor(2.0, requires_grad=True)
    whole = leaf * 3
    part = (whole.transpose(0, -1) if seed % 2 else whole)[rng.randrange(4)]
    inner = [part.diagonal(), part[::2], part.t()[1:], part.select(1, 1), part.t().diagonal(1)][seed % 5]
    inner.mul_(given)
    total = (whole * counted(whole)).sum() + (part * part).sum()
    print(seed, [g.tolist() for g in torch.autograd.grad(total, [leaf, given])])

x = torch.arange(36.0).reshape(1, 4, 3, 3)
for result in (F.channel_shuffle(x, 1), F.channel_shuffle(x, 2), F.channel_shuffle(x, 4), F.pixel_shuffle(x, 1), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 1), F.pixel_unshuffle(x, 3)):
    result.zero_()
    print(x.sum().item(), tuple(result.shape), result.stride())
