# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators in the spellings that models use. Each function is a model of its own."""
import math

import torch
import torch.nn.functional as F


def operators(x, y):
    z = x + y
    z = z - 2
    z = 3 - z
    z = z * y / 2.0
    z = 1 / (1 + z.abs())
    z = -z ** 2
    z += x
    z -= 0.5
    z *= y
    z /= 4
    return z


def alphas(x, y):
    a = torch.add(x, y, alpha=2)
    b = torch.sub(a, y, alpha=0.5)
    return a.add(b, alpha=3), x.mul(2).sub(1).div(3), torch.rsub(x, 1)


def in_place(x, y):
    z = x.clone()
    z.add_(y).mul_(2).sub_(1)
    z.clamp_(min=-3, max=3)
    z[:, 0] = 0
    z[:, 1:3] += 1
    w = torch.zeros_like(z)
    w.copy_(z)
    w[..., -1].fill_(7.0)
    return z, w


def slices(x, y):
    n = x.shape[1] // 2
    left, right = x[..., :n], x[..., n:]
    rotated = torch.cat((-right, left), dim=-1)
    return rotated * y, x[:, None].expand(-1, 3, -1), x[:, ::2], x[:, -1], x[..., None, :3]


def casts(x, y):
    a = x.float().half().to(x.dtype)
    b = x.to(torch.bfloat16).type_as(y)
    c = x.double().to(dtype=torch.float32)
    d = (x > 0).to(torch.int32).float() + (y <= 0).long()
    return a, b, c, d, x.type(torch.float32), x.int().float()


def comparisons(x, y):
    mask = (x > y) & (x < 1) | ~(y >= 0)
    masked = x.masked_fill(mask, -1.0)
    chosen = torch.where(x > 0, x, y * 0.1)
    return masked, chosen, torch.where(x == x, 1.0, 0.0), x.ne(y).float(), torch.logical_not(mask).float(), torch.maximum(x, y), torch.min(x, y)


def maths(x, y):
    return (
        x.exp() + torch.log(y.abs() + 1) + x.sin() * torch.cos(y),
        torch.sqrt(x.abs()) + torch.rsqrt(y.square() + 1) + x.pow(2) + torch.pow(y.abs() + 0.5, 1.5),
        x.sigmoid() + y.tanh() + torch.erf(x) + y.floor() + x.ceil() + x.round() + y.sign(),
        x.clamp(-1, 1) + y.clamp(min=0) + torch.clamp(x, max=0.5) + x.abs() + x.neg() + torch.reciprocal(y.abs() + 1),
        x % 2 + torch.remainder(y, 3) + torch.exp2(x) + torch.log2(y.abs() + 1) + torch.log1p(x.abs()) + torch.expm1(y),
    )


def activations(x, y):
    return (
        F.silu(x) + F.relu(y) + F.gelu(x) + F.gelu(y, approximate="tanh") + torch.sigmoid(x),
        F.leaky_relu(x, 0.2) + F.elu(y) + F.softplus(x) + F.hardtanh(y) + F.relu6(x * 5) + F.hardswish(y) + torch.relu(x) + y.relu(),
        F.log_softmax(x, dim=-1) + torch.softmax(y, 1) + x.softmax(-1),
        F.logsigmoid(x) + F.mish(y) + F.tanh(x) + F.hardsigmoid(y),
    )


def reductions(x, y):
    return (
        x.sum(), x.sum(dim=-1), torch.sum(x, 0, keepdim=True), x.mean(dim=1, keepdim=True), x.mean(), torch.mean(y, dim=(0, 1)),
        x.amax(dim=-1), torch.amin(y, 1), x.max(), y.min(), x.var(dim=-1), x.std(-1, unbiased=False), x.norm(dim=-1), y.argmax(dim=-1),
        (x > 0).any(dim=1), (x < 9).all(), x.logsumexp(dim=-1), torch.linalg.vector_norm(x, dim=1), x.prod(dim=1),
    )


def extremes(x, y):
    values, indices = x.max(dim=-1)
    lowest = y.min(dim=1, keepdim=True)
    return values, indices, lowest.values, lowest.indices, torch.max(x, 1)[0], torch.max(x, dim=1).indices


def shapes(x, y):
    b, n = x.shape
    v = x.view(b, n // 4, 4)
    a, c = torch.chunk(v, 2, dim=1)
    parts = torch.split(x, [2, n - 2], dim=1)
    first, *rest = x.unbind(-1)
    return (
        v.transpose(1, 2).contiguous(), v.permute(0, 2, 1).reshape(b, -1), x.unsqueeze(1).squeeze(1), x.t().contiguous(),
        torch.stack([a.flatten(1), c.flatten(1)], dim=1), parts[1] + 1, first + rest[0], x.flatten(), x.T.mT + y,
        x.reshape(-1, 2), torch.cat([x, y, x[:, :1]], 1), x.repeat(1, 2), v.narrow(1, 0, 1).flatten(-2), torch.transpose(x, 0, 1) * 2,
        x.expand_as(y) + 0, x.view(-1) * 1, v.unflatten(-1, (2, 2)).sum(-1), torch.hstack([x, y]), torch.vstack((x, y)), x.movedim(0, 1) + 0,
        torch.flip(x, [1]), x.roll(1, dims=1), x.select(1, 2) + 0, x.swapaxes(0, 1) + 0,
    )


def factories(x, y):
    b, n = x.shape
    mask = torch.tril(torch.ones(n, n, dtype=torch.bool, device=x.device))
    positions = torch.arange(n, device=x.device, dtype=x.dtype)
    half = torch.arange(0, n, 2).float() / n
    return (
        x + torch.ones_like(x) + x.new_zeros(b, n) + torch.full((b, n), 2.0) + torch.zeros(b, n, dtype=torch.float32), x * positions,
        torch.full_like(x, 3) + x.new_ones((b, n)) + x.new_full((b, n), 0.5), torch.where(mask, x[:1], 0.0), half, torch.triu(torch.ones(n, n), 1),
        torch.outer(positions, positions), x + torch.tensor(2.0),
    )


def products(x, y):
    return (
        x @ y.t(), torch.matmul(x, y.transpose(0, 1)), torch.mm(x, y.T), F.linear(x, y), x @ y.mT,
        torch.bmm(x[None], y.t()[None]), torch.addmm(y @ y.t(), x, y.t()),
    )


def norms(x, y):
    n = x.shape[-1]
    variance = x.pow(2).mean(-1, keepdim=True)
    return (
        F.layer_norm(x, (n,)), F.layer_norm(x, [n], weight=y[0], bias=y[1], eps=1e-6), F.rms_norm(x, (n,), y[0], 1e-6),
        x * torch.rsqrt(variance + 1e-6) * y[0], F.normalize(x, dim=-1), F.softmax(x.float(), dim=-1, dtype=torch.float32).to(x.dtype),
    )


def attention(q, k, v):
    causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.scaled_dot_product_attention(q, k, v) + math.sqrt(2.0) * causal


def math_names(x, y):
    scale = 1.0 / math.sqrt(x.size(-1))
    return torch.mul(x, scale) + torch.div(y, math.pi) + torch.true_divide(x, 2) + torch.divide(x, 2) + torch.multiply(x, y) + torch.subtract(x, y) + torch.negative(x) + torch.absolute(y)
