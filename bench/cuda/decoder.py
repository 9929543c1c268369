# SPDX-License-Identifier: Apache-2.0
"""A stack of decoder blocks as users write them: Triton kernels for RMS norm, rotary embedding and SwiGLU, PyTorch for the rest."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + offsets, mask=mask).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    tl.store(out_ptr + row * columns + offsets, (x * scale * weight).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, heads, HALF: tl.constexpr):
    row = tl.program_id(0)
    token = row // heads
    offsets = tl.arange(0, HALF)
    cos = tl.load(cos_ptr + token * HALF + offsets)
    sin = tl.load(sin_ptr + token * HALF + offsets)
    low = tl.load(x_ptr + row * 2 * HALF + offsets).to(tl.float32)
    high = tl.load(x_ptr + row * 2 * HALF + HALF + offsets).to(tl.float32)
    tl.store(out_ptr + row * 2 * HALF + offsets, (low * cos - high * sin).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + row * 2 * HALF + HALF + offsets, (high * cos + low * sin).to(out_ptr.dtype.element_ty))


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, (gate * tl.sigmoid(gate) * up).to(out_ptr.dtype.element_ty), mask=mask)


@triton_op("decoder::rms_norm", mutates_args={})
def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    out = torch.empty_like(x)
    columns = x.shape[-1]
    wrap_triton(rms_norm_kernel)[(x.numel() // columns,)](x, weight, out, columns, eps, BLOCK=triton.next_power_of_2(columns), num_warps=8)
    return out


@triton_op("decoder::rotary", mutates_args={})
def rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    tokens, heads, width = x.shape
    wrap_triton(rotary_kernel)[(tokens * heads,)](x, cos, sin, out, heads, HALF=width // 2, num_warps=1)
    return out


@triton_op("decoder::swiglu", mutates_args={})
def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(gate)
    n = gate.numel()
    wrap_triton(swiglu_kernel)[(triton.cdiv(n, 1024),)](gate, up, out, n, BLOCK=1024)
    return out


class Block(nn.Module):
    def __init__(self, dim, heads, groups, inner):
        super().__init__()
        self.heads, self.groups, self.width = heads, groups, dim // heads
        self.norm1 = nn.Parameter(torch.ones(dim))
        self.norm2 = nn.Parameter(torch.ones(dim))
        self.q = nn.Linear(dim, heads * self.width, bias=False)
        self.k = nn.Linear(dim, groups * self.width, bias=False)
        self.v = nn.Linear(dim, groups * self.width, bias=False)
        self.o = nn.Linear(heads * self.width, dim, bias=False)
        self.gate = nn.Linear(dim, inner, bias=False)
        self.up = nn.Linear(dim, inner, bias=False)
        self.down = nn.Linear(inner, dim, bias=False)

    def project(self, x, cos, sin):
        tokens = x.shape[0]
        h = rms_norm(x, self.norm1, 1e-6)
        q = rotary(self.q(h).view(tokens, self.heads, self.width), cos, sin)
        k = rotary(self.k(h).view(tokens, self.groups, self.width), cos, sin)
        return q, k, self.v(h).view(tokens, self.groups, self.width)

    def finish(self, x, attended):
        x = x + self.o(attended)
        h = rms_norm(x, self.norm2, 1e-6)
        return x + self.down(swiglu(self.gate(h), self.up(h)))


class Prefill(nn.Module):
    """x: [tokens, dim]; one sequence, causal."""

    def __init__(self, dim=4096, heads=32, groups=8, inner=14336, layers=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, heads, groups, inner) for _ in range(layers)])

    def forward(self, x, cos, sin):
        for block in self.blocks:
            q, k, v = block.project(x, cos, sin)
            attended = F.scaled_dot_product_attention(
                q.transpose(0, 1).unsqueeze(0), k.transpose(0, 1).unsqueeze(0), v.transpose(0, 1).unsqueeze(0), is_causal=True, enable_gqa=True
            )
            x = block.finish(x, attended.squeeze(0).transpose(0, 1).reshape(x.shape[0], -1))
        return x


class Decode(nn.Module):
    """One token of each of `batch` sequences; the caches [batch, groups, length, width] get its key and value at their end."""

    def __init__(self, dim=4096, heads=32, groups=8, inner=14336, layers=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, heads, groups, inner) for _ in range(layers)])

    def forward(self, x, cos, sin, keys, values):
        for i, block in enumerate(self.blocks):
            q, k, v = block.project(x, cos, sin)
            keys[i, :, :, -1] = k
            values[i, :, :, -1] = v
            attended = F.scaled_dot_product_attention(q.unsqueeze(2), keys[i], values[i], enable_gqa=True)
            x = block.finish(x, attended.reshape(x.shape[0], -1))
        return x
