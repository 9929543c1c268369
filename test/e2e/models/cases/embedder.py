# SPDX-License-Identifier: Apache-2.0
"""Token model: embedding, a kernel that adds positions, pooling and a torch-only custom_op."""
import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.library import custom_op


@triton.jit
def add_positions(x_ptr, pos_ptr, out_ptr, seq, dim, n, BLOCK: "tl.constexpr"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    p = (i // dim) % seq
    x = tl.load(x_ptr + i, mask=m)
    pos = tl.load(pos_ptr + p * dim + i % dim, mask=m)
    tl.store(out_ptr + i, x + pos, mask=m)


@custom_op("tok::pool", mutates_args=())
def pool(x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    weights = keep.to(x.dtype).unsqueeze(-1)
    return (x * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


@pool.register_fake
def _(x, keep):
    return x.new_empty(x.shape[0], x.shape[2])


class Embedder(nn.Module):
    def __init__(self, vocab: int = 50, dim: int = 24, seq: int = 7):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim, padding_idx=0)
        self.positions = nn.Parameter(torch.randn(seq, dim) * 0.02)
        self.project = nn.Linear(dim, 2 * dim)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids)
        batch, seq, dim = x.size()
        n = x.numel()
        out = torch.empty_like(x)
        add_positions[(triton.cdiv(n, 512),)](x, self.positions, out, seq, dim, n, BLOCK=512)
        pooled = pool(out, ids != 0)
        a, b = self.project(pooled).split([dim, dim], dim=-1)
        return a * torch.tanh(b)
