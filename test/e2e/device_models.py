# SPDX-License-Identifier: Apache-2.0
"""Models as public libraries write them, for device_models_test.py."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def turned(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class Layer(nn.Module):
    def __init__(self, dim, heads, groups, inner):
        super().__init__()
        self.width, self.groups = dim // heads, groups
        self.norm1, self.norm2 = Norm(dim), Norm(dim)
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, groups * self.width, bias=False)
        self.v = nn.Linear(dim, groups * self.width, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.gate = nn.Linear(dim, inner, bias=False)
        self.up = nn.Linear(dim, inner, bias=False)
        self.down = nn.Linear(inner, dim, bias=False)

    def forward(self, x, mask, cos, sin):
        rows, length, dim = x.shape
        h = self.norm1(x)
        q, k, v = (f(h).view(rows, length, -1, self.width).transpose(1, 2) for f in (self.q, self.k, self.v))
        q, k = q * cos + turned(q) * sin, k * cos + turned(k) * sin
        times = dim // self.width // self.groups
        k, v = (t[:, :, None].expand(rows, self.groups, times, length, self.width).reshape(rows, -1, length, self.width) for t in (k, v))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.o(out.transpose(1, 2).contiguous().reshape(rows, length, dim))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Language(nn.Module):
    """As Llama: a mask counted up from places, rotations from frequencies."""

    def __init__(self, dim=64, heads=4, groups=2, inner=96, layers=2, vocabulary=50):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.layers = nn.ModuleList([Layer(dim, heads, groups, inner) for _ in range(layers)])
        self.norm = Norm(dim)
        self.head = nn.Linear(dim, vocabulary, bias=False)
        self.width = dim // heads

    def forward(self, ids):
        x = self.embed(ids)
        places = torch.arange(ids.shape[1])
        angles = places[:, None].float() * (0.5 ** torch.arange(self.width // 2).float())[None, :]
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        mask = (places[None, :] <= places[:, None])[None, None]
        for layer in self.layers:
            x = layer(x, mask, cos, sin)
        return self.head(self.norm(x))


class Encoder(nn.Module):
    """As Whisper: a scaled query, and heads that are copied next to each other."""

    def __init__(self, dim=64, heads=4):
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.norm = nn.LayerNorm(dim)
        self.q, self.k, self.v, self.o = nn.Linear(dim, dim), nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        rows, length, dim = x.shape
        h = self.norm(x)
        q, k, v = (
            t.view(rows, length, self.heads, self.width).transpose(1, 2).contiguous() for t in (self.q(h) * self.width**-0.5, self.k(h), self.v(h))
        )
        out = F.scaled_dot_product_attention(q, k, v, scale=1.0)
        x = x + self.o(out.transpose(1, 2).contiguous().view(rows, length, dim))
        return x + self.down(F.gelu(self.up(x)))
