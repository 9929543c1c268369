# SPDX-License-Identifier: Apache-2.0
"""Functions and modules that differentiate, as people write them. PyTorch's results are those of REFERENCES, which have
no kernels, in float64."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.library import custom_op, triton_op, wrap_triton


def step_of_perceptron(x, w1, b1, w2, y):
    w1, b1, w2 = [w.detach().requires_grad_() for w in (w1, b1, w2)]
    hidden = F.gelu(F.linear(x, w1, b1))
    loss = F.cross_entropy(hidden @ w2, y)
    loss.backward()
    return loss.detach(), w1.grad, b1.grad, w2.grad


def attention_block(x, wq, wk, wv, scale):
    leaves = [w.detach().requires_grad_() for w in (wq, wk, wv, scale)]
    normal = F.layer_norm(x, (x.shape[-1],), leaves[3])
    q, k, v = [(normal @ w).unflatten(-1, (2, -1)).transpose(1, 2) for w in leaves[:3]]
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
    return torch.autograd.grad((out * out).mean(), leaves)


def convolutions(x, w1, w2, gamma, beta):
    leaves = [w.detach().requires_grad_() for w in (w1, w2, gamma, beta)]
    h = F.conv2d(x, leaves[0], stride=2, padding=1)
    h = F.relu(F.batch_norm(h, None, None, leaves[2], leaves[3], True))
    h = F.max_pool2d(F.conv2d(h, leaves[1], padding=1), 2)
    return torch.autograd.grad(h.square().sum(), leaves)


def penalty(x, w):
    """A gradient of a gradient."""
    x = x.detach().requires_grad_()
    w = w.detach().requires_grad_()
    score = torch.tanh(x @ w).sum()
    slope, = torch.autograd.grad(score, x, create_graph=True)
    (slope.norm(dim=1) - 1).square().mean().backward()
    return w.grad


def written_in_place(x, bias):
    bias = bias.detach().requires_grad_()
    y = torch.zeros_like(x)
    y[:, 1:] = x[:, 1:] * bias[1:]
    y[:, 0].add_(bias[0])
    y.mul_(2).clamp_(max=3.0)
    y.sum().backward()
    return y.detach(), bias.grad


@triton.jit
def silu_forward(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x / (1 + tl.exp(-x)), mask=i < n)


@triton.jit
def silu_backward(x_ptr, grad_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    gate = 1 / (1 + tl.exp(-x))
    tl.store(out_ptr + i, tl.load(grad_ptr + i, mask=i < n) * gate * (1 + x * (1 - gate)), mask=i < n)


def grid_of(x):
    return lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)


class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x)
        silu_forward[grid_of(x)](x, out, x.numel(), BLOCK=128)
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        out = torch.empty_like(x)
        silu_backward[grid_of(x)](x, grad.contiguous(), out, x.numel(), BLOCK=128)
        return out


def kernels_in_a_function(x, w):
    w = w.detach().requires_grad_()
    Silu.apply(x @ w).sum().backward()
    return w.grad


def silu_of_torch(x, w):
    w = w.detach().requires_grad_()
    F.silu(x @ w).sum().backward()
    return w.grad


@triton_op("test_autograd::silu", mutates_args={})
def silu_op(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(silu_forward)[grid_of(x)](x, out, x.numel(), 128)
    return out


@triton_op("test_autograd::silu_backward", mutates_args={})
def silu_backward_op(x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(silu_backward)[grid_of(x)](x, grad, out, x.numel(), 128)
    return out


def _keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


silu_op.register_autograd(lambda ctx, grad: silu_backward_op(ctx.saved_tensors[0], grad.contiguous()), setup_context=_keep)


def operators_with_a_backward(x, w):
    w = w.detach().requires_grad_()
    silu_op(x @ w).sum().backward()
    return w.grad


@custom_op("test_autograd::scaled", mutates_args=())
def scaled(x: torch.Tensor, k: float, parts: list[torch.Tensor]) -> torch.Tensor:
    return x * k + parts[0] * parts[1]


@scaled.register_fake
def _(x, k, parts):
    return torch.empty_like(x)


def _scaled_backward(ctx, grad):
    a, b = ctx.saved_tensors
    return grad * ctx.k, None, [grad * b, grad * a]


def _scaled_context(ctx, inputs, output):
    ctx.k = inputs[1]
    ctx.save_for_backward(*inputs[2])


scaled.register_autograd(_scaled_backward, setup_context=_scaled_context)


def opaque_operator(x, a, b):
    x, a, b = [t.detach().requires_grad_() for t in (x, a, b)]
    return torch.autograd.grad(scaled(x, 3.0, [a, b]).square().sum(), [x, a, b])


def opaque_in_torch(x, a, b):
    x, a, b = [t.detach().requires_grad_() for t in (x, a, b)]
    return torch.autograd.grad((x * 3.0 + a * b).square().sum(), [x, a, b])


class Recomputed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 4)

    def forward(self, x):
        from torch.utils.checkpoint import checkpoint

        for p in self.parameters():
            nn.init.constant_(p, 0.1)
        y = checkpoint(lambda a: torch.tanh(self.first(a)), x, use_reentrant=False)
        self.second(y).square().mean().backward()
        return self.first.weight.grad, self.second.bias.grad


def recomputed(x):
    a, b = [torch.full(s, 0.1, dtype=x.dtype, requires_grad=True) for s in ((16, 8), (16,))]
    c, d = [torch.full(s, 0.1, dtype=x.dtype, requires_grad=True) for s in ((4, 16), (4,))]
    F.linear(torch.tanh(F.linear(x, a, b)), c, d).square().mean().backward()
    return a.grad, d.grad


# name: inputs (an int64's values are below its last number), the function whose results PyTorch computes
PROGRAMS = {
    "step_of_perceptron": (["x=f32[6,10]", "w1=f32[12,10]", "b1=f32[12]", "w2=f32[12,5]", "y=i64[6]<5"], step_of_perceptron),
    "attention_block": (["x=f32[2,7,8]", "wq=f32[8,8]", "wk=f32[8,8]", "wv=f32[8,8]", "scale=f32[8]"], attention_block),
    "convolutions": (["x=f32[2,3,9,8]", "w1=f32[4,3,3,3]", "w2=f32[5,4,3,3]", "gamma=f32[4]", "beta=f32[4]"], convolutions),
    "penalty": (["x=f32[5,6]", "w=f32[6,3]"], penalty),
    "written_in_place": (["x=f32[5,6]", "bias=f32[6]"], written_in_place),
    "kernels_in_a_function": (["x=f32[5,6]", "w=f32[6,33]"], silu_of_torch),
    "operators_with_a_backward": (["x=f32[5,6]", "w=f32[6,33]"], silu_of_torch),
    "opaque_operator": (["x=f32[5,6]", "a=f32[5,6]", "b=f32[5,6]"], opaque_in_torch),
    "Recomputed": (["x=f32[5,8]"], recomputed),
}
