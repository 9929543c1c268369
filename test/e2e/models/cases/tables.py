# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding: the constructor computes tables, the kernel reads them."""
import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def rotate_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, seq, HALF: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    position = row % seq
    i = tl.arange(0, BLOCK)
    mask = i < HALF
    cos = tl.load(cos_ptr + position * HALF + i, mask=mask)
    sin = tl.load(sin_ptr + position * HALF + i, mask=mask)
    a = tl.load(x_ptr + row * 2 * HALF + i, mask=mask)
    b = tl.load(x_ptr + row * 2 * HALF + HALF + i, mask=mask)
    tl.store(y_ptr + row * 2 * HALF + i, a * cos - b * sin, mask=mask)
    tl.store(y_ptr + row * 2 * HALF + HALF + i, b * cos + a * sin, mask=mask)


class Rotary(nn.Module):
    def __init__(self, dim=20, seq=9, base=10000.0):
        super().__init__()
        frequency = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        angles = torch.arange(seq).float()[:, None] * frequency[None, :]
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", torch.sin(angles), persistent=False)
        self.scale = nn.Parameter(torch.ones(dim) * 0.5)
        self.offsets = torch.arange(dim)

    def forward(self, x):
        batch, seq, dim = x.shape
        y = torch.empty_like(x)
        rotate_kernel[(batch * seq,)](x, self.cos, self.sin, y, seq, HALF=dim // 2, BLOCK=triton.next_power_of_2(dim // 2))
        return y * self.scale + self.offsets
