# SPDX-License-Identifier: Apache-2.0
"""Operators declared by torch.library's define, impl and Library."""
import torch
import triton
import triton.language as tl
from torch.library import Library, impl, register_fake

lib = Library("shelf", "FRAGMENT")
lib.define("gate(Tensor a, Tensor b, float alpha=1.0) -> Tensor")
lib.define("double_(Tensor(a!) x) -> ()")


@triton.jit
def gate_kernel(a_ptr, b_ptr, o_ptr, alpha, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    b = tl.load(b_ptr + i, mask=i < n)
    tl.store(o_ptr + i, tl.sigmoid(a) * b * alpha, mask=i < n)


@impl(lib, "gate", "CUDA")
def gate(a, b, alpha=1.0):
    out = torch.empty_like(a)
    n = out.numel()
    gate_kernel[(triton.cdiv(n, 64),)](a, b, out, alpha, n, BLOCK=64)
    return out


@register_fake("shelf::gate")
def _(a, b, alpha=1.0):
    return torch.empty_like(a)


def double(x):
    x.mul_(2)


lib.impl("double_", double, "CompositeExplicitAutograd")

torch.library.define("shelf::shift", "(Tensor x, *, int by=3, bool up=True) -> Tensor")


@torch.library.impl("shelf::shift", "default")
def shift(x, *, by=3, up=True):
    return x + by if up else x - by


@torch.library.impl("shelf::shift", "cpu")
def shift_on_cpu(x, *, by=3, up=True):
    return x + float(by) if up else x - float(by)


def gated(x):
    y = torch.ops.shelf.gate(x, x + 1, 0.5) + torch.ops.shelf.gate.default(x, x)
    torch.ops.shelf.double_(y)
    return torch.ops.shelf.shift(y), torch.ops.shelf.shift(x, by=1, up=x.shape[0] < 0)
