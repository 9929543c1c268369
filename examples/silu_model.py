# SPDX-License-Identifier: Apache-2.0
"""Linear -> SiLU -> linear, with the SiLU held in the three ways PyTorch knows."""
import torch
import triton
from torch.library import custom_op, triton_op, wrap_triton

from silu_kernels import silu_kernel


@triton_op("examples::silu", mutates_args={})
def silu_op(x: torch.Tensor) -> torch.Tensor:
    """Transparent: one node in an export, opened by the compiler."""
    out = torch.empty_like(x)
    n_elements = x.numel()

    def grid(meta):
        return (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)

    wrap_triton(silu_kernel)[grid](x, out, n_elements, BLOCK_SIZE=1024)
    return out


def silu_raw(x: torch.Tensor) -> torch.Tensor:
    """A raw launch: nothing registered."""
    assert x.is_contiguous(), "silu_raw reads x as one flat row"
    out = torch.empty_like(x)
    n_elements = x.numel()
    silu_kernel[lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)](
        x, out, n_elements, BLOCK_SIZE=1024
    )
    return out


@custom_op("examples::silu_opaque", mutates_args=())
def silu_opaque(x: torch.Tensor) -> torch.Tensor:
    """Opaque: one node everywhere, compiled as a unit of its own."""
    out = torch.empty_like(x)
    n_elements = x.numel()
    silu_kernel[(triton.cdiv(n_elements, 1024),)](x, out, n_elements, BLOCK_SIZE=1024)
    return out


@silu_opaque.register_fake
def _(x):
    return torch.empty_like(x)


class Model(torch.nn.Module):
    def __init__(self, in_features=128, hidden=64, way="triton_op"):
        super().__init__()
        self.linear1 = torch.nn.Linear(in_features, hidden)
        self.linear2 = torch.nn.Linear(hidden, in_features)
        self.way = way

    def forward(self, x):
        x = self.linear1(x)
        if self.way == "triton_op":
            x = torch.ops.examples.silu.default(x)
        elif self.way == "raw":
            x = silu_raw(x)
        elif self.way == "custom_op":
            x = silu_opaque(x)
        else:
            raise ValueError(f"unknown way: {self.way}")
        return self.linear2(x)


def sandwich(x, s, b, residual):
    """Pointwise operators on both sides of the kernel: compiled into one launch."""
    y = silu_op(x * s + b)
    return y * 0.5 + residual
