# SPDX-License-Identifier: Apache-2.0
"""Softmax over scores with a boolean mask; fully masked rows give zeros. Also stores which rows were dead, as bool."""
import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn


@triton.jit
def masked_softmax_kernel(s_ptr, m_ptr, o_ptr, dead_ptr, rows, cols, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if row >= rows:
        return
    c = tl.arange(0, BLOCK)
    inside = c < cols
    keep = tl.load(m_ptr + row * cols + c, mask=inside, other=0).to(tl.int1)
    s = tl.load(s_ptr + row * cols + c, mask=inside, other=float("-inf")).to(tl.float32) * scale
    s = tl.where(keep, s, float("-inf"))
    top = tl.max(s, 0)
    dead = top == float("-inf")
    p = tl.exp(s - tl.where(dead, 0.0, top))
    total = tl.sum(p, 0)
    p = p / tl.where(dead, 1.0, total)
    tl.store(o_ptr + row * cols + c, p.to(o_ptr.dtype.element_ty), mask=inside)
    tl.store(dead_ptr + row, dead)


@torch.library.triton_op("attn::masked_softmax", mutates_args=())
def masked_softmax(scores: torch.Tensor, mask: torch.Tensor, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    scores, mask = scores.contiguous(), mask.contiguous()
    cols = scores.size(-1)
    rows = scores.numel() // cols
    out = torch.empty_like(scores)
    dead = torch.empty(scores.shape[:-1], dtype=torch.bool, device=scores.device)
    torch.library.wrap_triton(masked_softmax_kernel)[(rows,)](scores, mask, out, dead, rows, cols, scale, BLOCK=triton.next_power_of_2(cols))
    return out, dead


class Attention(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, mask):
        batch, seq, dim = x.shape
        qkv = self.qkv(x).view(batch, seq, 3, self.heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = q @ k.transpose(-2, -1)
        weights, dead = masked_softmax(scores, mask[:, None, None, :].expand(batch, self.heads, seq, seq), 1.0 / math.sqrt(self.head_dim))
        y = (weights @ v).transpose(1, 2).reshape(batch, seq, dim)
        return self.out(y), dead[:, 0]


def plain(x, mask):
    """The same with torch's operators."""
    scores = x.masked_fill(~mask, float("-inf"))
    return F.softmax(scores, dim=-1)
