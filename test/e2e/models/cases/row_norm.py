# SPDX-License-Identifier: Apache-2.0
"""Layer norm over rows longer than a block: loops, optional weight and bias."""
from typing import Optional

import torch
import triton
import triton.language as tl


@triton.jit
def _row_mean(x_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
    return tl.sum(total, axis=0) / n


@triton.jit
def _layer_norm_kernel(
    X, Y, W, B, Mean, Rstd,
    stride, n,
    eps,
    HAS_BIAS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    mean = _row_mean(X, n, BLOCK)
    _var = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < n, other=0.0).to(tl.float32)
        x = tl.where(cols < n, x - mean, 0.0)
        _var += x * x
    var = tl.sum(_var, axis=0) / n
    rstd = 1 / tl.sqrt(var + eps)
    if Mean is not None:
        tl.store(Mean + row, mean)
    if Rstd is not None:
        tl.store(Rstd + row, rstd)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < n
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd
        if W is not None:
            y = y * tl.load(W + cols, mask=mask).to(tl.float32)
        if HAS_BIAS:
            y = y + tl.load(B + cols, mask=mask).to(tl.float32)
        tl.store(Y + cols, y, mask=mask)


def _forward(kernel, x, weight, bias, eps, stats):
    flat = x.reshape(-1, x.shape[-1])
    rows, n = flat.shape
    y = torch.empty_like(flat)
    mean = rstd = None
    if stats:
        mean = torch.empty((rows,), dtype=torch.float32, device=x.device)
        rstd = torch.empty((rows,), dtype=torch.float32, device=x.device)
    kernel[(rows,)](
        flat, y, weight, bias, mean, rstd, flat.stride(0), n, eps,
        HAS_BIAS=bias is not None, BLOCK=64, num_warps=4,
    )
    return y.view_as(x), mean, rstd


@torch.library.triton_op("rows::layer_norm", mutates_args=())
def layer_norm_op(
    x: torch.Tensor,
    weight: Optional[torch.Tensor] = None,
    bias: Optional[torch.Tensor] = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    return _forward(torch.library.wrap_triton(_layer_norm_kernel), x, weight, bias, eps, False)[0]


@torch.library.custom_op("rows::layer_norm_opaque", mutates_args=())
def layer_norm_opaque(x: torch.Tensor, weight: Optional[torch.Tensor], bias: Optional[torch.Tensor], eps: float) -> torch.Tensor:
    return _forward(_layer_norm_kernel, x, weight, bias, eps, False)[0]


@layer_norm_opaque.register_fake
def _(x, weight, bias, eps):
    return torch.empty_like(x)


class Norm(torch.nn.Module):
    def __init__(self, dim, mode="triton_op", bias=True, affine=True, eps=1e-5):
        super().__init__()
        self.mode, self.eps = mode, eps
        self.weight = torch.nn.Parameter(torch.ones(dim)) if affine else None
        if bias:
            self.bias = torch.nn.Parameter(torch.zeros(dim))
        else:
            self.register_parameter("bias", None)

    def extra_repr(self):
        return f"eps={self.eps}"

    def forward(self, x: torch.Tensor):
        if self.mode == "raw":
            y, mean, rstd = _forward(_layer_norm_kernel, x, self.weight, self.bias, self.eps, True)
            return y
        if self.mode == "custom_op":
            return layer_norm_opaque(x, self.weight, self.bias, self.eps)
        return torch.ops.rows.layer_norm(x, self.weight, self.bias, eps=self.eps)
