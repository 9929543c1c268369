# SPDX-License-Identifier: Apache-2.0
"""SwiGLU three ways: a raw launch, a triton_op, a custom_op."""
import torch
import triton
from torch import Tensor
from torch.library import triton_op, wrap_triton

from .kernels import swiglu_kernel


def _allocate(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    gate, up = x.chunk(2, dim=-1)
    return gate, up, x.new_empty(*gate.shape[:-1], gate.shape[-1])


def _launch(kernel, x: Tensor) -> Tensor:
    gate, up, out = _allocate(x)
    n_cols = gate.shape[-1]
    kernel[(x.shape[0],)](gate, up, out, x.stride(0), n_cols=n_cols, BLOCK_SIZE=triton.next_power_of_2(n_cols), num_warps=4)
    return out


def swiglu_raw(x: Tensor) -> Tensor:
    assert x.dim() == 2, f"expected a matrix, got {x.dim()} dims"
    assert x.is_contiguous()
    return _launch(swiglu_kernel, x)


@triton_op("gated::swiglu", mutates_args={})
def swiglu_op(x: Tensor) -> Tensor:
    return _launch(wrap_triton(swiglu_kernel), x)


@torch.library.custom_op("gated::swiglu_opaque", mutates_args=())
def swiglu_opaque(x: Tensor) -> Tensor:
    return _launch(swiglu_kernel, x)


@swiglu_opaque.register_fake
def _(x):
    return x.new_empty(x.shape[0], x.shape[1] // 2)


@swiglu_op.register_kernel("cpu")
def _(x):
    gate, up = x.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


SWIGLU = {"raw": swiglu_raw, "triton_op": swiglu_op, "custom_op": swiglu_opaque}
