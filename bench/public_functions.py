#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""autograd.Functions of public repositories under `pellucid exec`: outputs and gradients against float64.

    public_functions.py PELLUCID REPOSITORIES [NAME…] [--device cuda=cpu|cuda] [--write TABLE.md] [--keep FOLDER]

REPOSITORIES holds checkouts under their names (Liger-Kernel, attorch, unsloth, …); a case whose checkout is not there is skipped. Each case is a
script as users of the library write it: it imports the library as it is, calls the Function forward and backward, and does the same in float64 with
torch's operators. What is printed is the largest difference of a tensor, over the largest number in it.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import textwrap

HARNESS = '''
import torch
import torch.nn.functional as F
torch.manual_seed(0)
dev = "cuda"

def draw(*shape, dtype=torch.float32, scale=1.0):
    return (torch.randn(*shape) * scale).to(dtype).to(dev)

def _tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)

def _gradients(f, inputs):
    leaves = [x.detach().clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    outs = [o for o in _tuple(f(*leaves)) if o is not None]
    return leaves, outs

def _worst(label, got, want, worst):
    got, want = got.detach().double().cpu(), want.detach().double().cpu()
    assert got.shape == want.shape, f"{label}: shape {tuple(got.shape)}, float64's is {tuple(want.shape)}"
    if want.numel():
        error = ((got - want).abs().max() / want.abs().max().clamp(min=1e-6)).item()
        worst.append((error if error == error else float("inf"), label))

def check(f, reference, *inputs, grads=None):
    """f on `inputs` against the reference on their float64 copies; `grads`: which inputs have gradients to compare."""
    leaves, outs = _gradients(f, inputs)
    doubles, wants = _gradients(reference, [x.double() if x.is_floating_point() else x for x in inputs])
    assert len(outs) == len(wants), f"{len(outs)} results, float64 has {len(wants)}"
    ups = [torch.randn(o.shape).to(o.dtype).to(o.device) for o in outs]
    torch.autograd.backward(wants, [u.double() for u in ups])
    torch.autograd.backward(outs, ups)  # which may write to them
    worst = []
    for i, (got, want) in enumerate(zip(outs, wants)):
        _worst(f"output {i}", got, want, worst)
    for i, (leaf, double) in enumerate(zip(leaves, doubles)):
        if leaf.is_floating_point() and (grads is None or i in grads):
            assert leaf.grad is not None, f"input {i} got no gradient"
            _worst(f"gradient {i}", leaf.grad, double.grad, worst)
    error, where = max(worst)
    print("WORST %.3g %s of %d" % (error, where, len(worst)))

def rope_of(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin
'''

# name, folder below the repositories whose parent modules come from, bound, text
CASES = []


def case(name, path, bound, text):
    CASES.append((name, path, bound, textwrap.dedent(text)))


LIGER = "Liger-Kernel/src"
case("liger swiglu", LIGER, 1e-5, """
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction
    check(LigerSiLUMulFunction.apply, lambda a, b: F.silu(a) * b, draw(3, 17, 123), draw(3, 17, 123))
""")
case("liger swiglu bf16", LIGER, 2e-2, """
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction
    check(LigerSiLUMulFunction.apply, lambda a, b: F.silu(a) * b, draw(9, 257, dtype=torch.bfloat16), draw(9, 257, dtype=torch.bfloat16))
""")
case("liger geglu", LIGER, 1e-5, """
    from liger_kernel.ops.geglu import LigerGELUMulFunction
    check(LigerGELUMulFunction.apply, lambda a, b: F.gelu(a, approximate="tanh") * b, draw(5, 333), draw(5, 333))
""")
case("liger rms_norm llama", LIGER, 1e-5, """
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    def ref(x, w):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
    check(lambda x, w: LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False), ref, draw(4, 33, 255), draw(255))
""")
case("liger rms_norm gemma in place", LIGER, 1e-5, """
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    def ref(x, w):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * (w + 1.0)
    check(lambda x, w: LigerRMSNormFunction.apply(x, w, 1e-6, 1.0, "gemma", True), ref, draw(4, 33, 512), draw(512))
""")
case("liger layer_norm", LIGER, 1e-5, """
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
    check(lambda x, w, b: LigerLayerNormFunction.apply(x, w, b, 1e-5), lambda x, w, b: F.layer_norm(x, (211,), w, b, 1e-5), draw(6, 7, 211), draw(211), draw(211))
""")
case("liger group_norm", LIGER, 1e-5, """
    from liger_kernel.ops.group_norm import LigerGroupNormFunction
    check(lambda x, w, b: LigerGroupNormFunction.apply(x, w, b, 12, 3, 1e-5), lambda x, w, b: F.group_norm(x, 3, w, b, 1e-5), draw(2, 12, 50), draw(12), draw(12))
""")
case("liger cross_entropy", LIGER, 1e-5, """
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction
    target = torch.randint(0, 301, (19,)).to(dev)
    target[3] = -100
    def f(x):
        return LigerCrossEntropyFunction.apply(x, target, None, -100, 0.0, 0.1, "mean", None, False)[0]
    check(f, lambda x: F.cross_entropy(x, target, label_smoothing=0.1), draw(19, 301))
""")
case("liger cross_entropy sum, softcap", LIGER, 1e-5, """
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction
    target = torch.randint(0, 301, (19,)).to(dev)
    def f(x):
        return LigerCrossEntropyFunction.apply(x, target, None, -100, 0.0, 0.0, "sum", 30.0, False)[0]
    check(f, lambda x: F.cross_entropy(30 * torch.tanh(x / 30), target, reduction="sum"), draw(19, 301, scale=5.0))
""")
case("liger fused_linear_cross_entropy", LIGER, 1e-4, """
    from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction
    target = torch.randint(0, 99, (31,)).to(dev)
    def f(x, w, b):
        return LigerFusedLinearCrossEntropyFunction.apply(x, w, target, b)[0]
    check(f, lambda x, w, b: F.cross_entropy(x @ w.T + b, target), draw(31, 48), draw(99, 48), draw(99))
""")
case("liger fused_linear_jsd", LIGER, 1e-4, """
    from liger_kernel.ops.fused_linear_jsd import LigerFusedLinearJSDFunction
    teacher, tw = draw(15, 40), draw(77, 40)
    def f(x, w):
        return LigerFusedLinearJSDFunction.apply(x, w, teacher, tw, None, 0.5, -100, 1.0)
    def ref(x, w):
        p, q = F.log_softmax(teacher.double() @ tw.double().T, -1), F.log_softmax(x @ w.T, -1)
        m = torch.log((p.exp() + q.exp()) / 2)
        return 0.5 * (F.kl_div(m, p, reduction="sum", log_target=True) + F.kl_div(m, q, reduction="sum", log_target=True)) / 15
    check(f, ref, draw(15, 40), draw(77, 40))
""")
case("liger jsd", LIGER, 1e-4, """
    from liger_kernel.ops.jsd import LigerJSDFunction
    target = F.log_softmax(draw(11, 130), -1)
    def ref(x):
        p, q = target.double(), x
        m = torch.log((p.exp() + q.exp()) / 2)
        return 0.5 * (F.kl_div(m, p, reduction="sum", log_target=True) + F.kl_div(m, q, reduction="sum", log_target=True)) / 11
    check(lambda x: LigerJSDFunction.apply(x, target, None, 0.5, -100), ref, F.log_softmax(draw(11, 130), -1))
""")
case("liger kl_div", LIGER, 1e-5, """
    from liger_kernel.ops.kl_div import LigerKLDivLossFunction
    target = torch.softmax(draw(11, 130), -1)
    check(lambda x: LigerKLDivLossFunction.apply(x, target, "batchmean", False, 1e-10), lambda x: F.kl_div(x, target.double(), reduction="batchmean"), F.log_softmax(draw(11, 130), -1))
""")
case("liger tvd", LIGER, 1e-5, """
    from liger_kernel.ops.tvd import LigerTVDLossFunction
    q = torch.softmax(draw(11, 130), -1)
    check(lambda p: LigerTVDLossFunction.apply(p, q, None, "batchmean"), lambda p: 0.5 * (p - q.double()).abs().sum() / 11, torch.softmax(draw(11, 130), -1))
""")
case("liger dyt", LIGER, 1e-5, """
    from liger_kernel.ops.dyt import LigerDyTFunction
    check(LigerDyTFunction.apply, lambda x, a, g, b: g * torch.tanh(a * x) + b, draw(4, 9, 128), draw(1), draw(128), draw(128))
""")
case("liger softmax", LIGER, 1e-5, """
    from liger_kernel.ops.softmax import LigerSoftmaxFunction
    check(LigerSoftmaxFunction.apply, lambda x: torch.softmax(x, -1), draw(9, 300))
""")
case("liger sparsemax", LIGER, 1e-5, """
    from liger_kernel.ops.sparsemax import LigerSparsemaxFunction
    def ref(x):
        z = torch.sort(x, -1, descending=True)[0]
        k = torch.arange(1, x.shape[-1] + 1, device=x.device)
        sums = z.cumsum(-1)
        support = (1 + k * z > sums).sum(-1, keepdim=True)
        tau = (sums.gather(-1, support - 1) - 1) / support
        return torch.clamp(x - tau, min=0)
    check(lambda x: LigerSparsemaxFunction.apply(x, -1), ref, draw(7, 65))
""")
case("liger rope", LIGER, 1e-5, """
    from liger_kernel.ops.rope import LigerRopeFunction
    angles = torch.outer(torch.arange(13).float(), 1.0 / 10000 ** (torch.arange(0, 32, 2).float() / 32))
    angles = torch.cat((angles, angles), -1)[None]
    cos, sin = angles.cos().to(dev), angles.sin().to(dev)
    def ref(q, k):
        c, s = cos.double()[:, None], sin.double()[:, None]
        return rope_of(q, c, s), rope_of(k, c, s)
    check(lambda q, k: LigerRopeFunction.apply(q, k, cos, sin), ref, draw(2, 4, 13, 32), draw(2, 2, 13, 32))
""")
case("liger fused_add_rms_norm", LIGER, 1e-5, """
    from liger_kernel.ops.fused_add_rms_norm import LigerFusedAddRMSNormFunction
    def ref(x, r, w):
        s = x + r
        return s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-6) * w, s
    check(lambda x, r, w: LigerFusedAddRMSNormFunction.apply(x, r, w, 1e-6, 0.0, "llama", False), ref, draw(3, 9, 160), draw(3, 9, 160), draw(160))
""")
case("liger poly_norm", LIGER, 1e-4, """
    from liger_kernel.ops.poly_norm import LigerPolyNormFunction
    def norm(x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)
    check(lambda x, w, b: LigerPolyNormFunction.apply(x, w, b, 1e-6, False), lambda x, w, b: w[0] * norm(x**3) + w[1] * norm(x**2) + w[2] * norm(x) + b, draw(3, 9, 96), draw(3), draw())
""")
case("liger relu_squared", LIGER, 1e-5, """
    from liger_kernel.ops.relu_squared import LigerReLUSquaredFunction
    check(LigerReLUSquaredFunction.apply, lambda x: torch.relu(x) ** 2, draw(9, 130))
""")
case("liger transformers' modules", LIGER, 1e-4, """
    from liger_kernel.transformers.rms_norm import LigerRMSNorm
    from liger_kernel.transformers.layer_norm import LigerLayerNorm
    norm, layer = LigerRMSNorm(64).to(dev), LigerLayerNorm(64).to(dev)
    check(lambda x: layer(norm(x)), lambda x: F.layer_norm(x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6), (64,), eps=1e-6), draw(5, 64))
""")

ATTORCH = "attorch"
for act, ref in (("sigmoid", "torch.sigmoid(x)"), ("tanh", "torch.tanh(x)"), ("relu", "torch.relu(x)"), ("gelu", "F.gelu(x)"), ("silu", "F.silu(x)"), ("mish", "F.mish(x)"),
                 ("hardswish", "F.hardswish(x)"), ("softplus", "F.softplus(x)"), ("selu", "F.selu(x)")):
    name = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "selu": "SELU"}.get(act, act.capitalize())
    case(f"attorch {act}", ATTORCH, 2e-5, f"""
        import attorch
        check(attorch.{name}(), lambda x: {ref}, draw(7, 211))
    """)
case("attorch layer_norm", ATTORCH, 1e-5, """
    import attorch
    layer = attorch.LayerNorm(120).to(dev)
    check(layer, lambda x: F.layer_norm(x, (120,), eps=layer.eps), draw(33, 120))
""")
case("attorch rms_norm", ATTORCH, 1e-5, """
    import attorch
    layer = attorch.RMSNorm(120, eps=1e-6).to(dev)
    check(layer, lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6), draw(33, 120))
""")
case("attorch batch_norm1d", ATTORCH, 1e-4, """
    import attorch
    layer = attorch.BatchNorm1d(9).to(dev)
    check(layer, lambda x: F.batch_norm(x, None, None, training=True, eps=layer.eps), draw(16, 9, 30))
""")
case("attorch softmax", ATTORCH, 1e-5, """
    import attorch
    check(attorch.Softmax(dim=-1), lambda x: torch.softmax(x, -1), draw(7, 130))
""")
case("attorch log_softmax", ATTORCH, 1e-5, """
    import attorch
    check(attorch.LogSoftmax(dim=-1), lambda x: torch.log_softmax(x, -1), draw(7, 130))
""")
case("attorch cross_entropy", ATTORCH, 1e-5, """
    import attorch
    target = torch.randint(0, 77, (21,)).to(dev)
    check(lambda x: attorch.CrossEntropyLoss()(x, target), lambda x: F.cross_entropy(x, target), draw(21, 77))
""")
case("attorch nll_loss", ATTORCH, 1e-5, """
    import attorch
    target = torch.randint(0, 77, (21,)).to(dev)
    check(lambda x: attorch.NLLLoss()(x, target), lambda x: F.nll_loss(x, target), draw(21, 77))
""")
case("attorch mse, l1, smooth l1, huber", ATTORCH, 1e-4, """
    import attorch
    y = draw(19, 33)
    check(lambda x: attorch.MSELoss()(x, y) + attorch.L1Loss()(x, y) + attorch.SmoothL1Loss()(x, y) + attorch.HuberLoss()(x, y),
          lambda x: F.mse_loss(x, y.double()) + F.l1_loss(x, y.double()) + F.smooth_l1_loss(x, y.double()) + F.huber_loss(x, y.double()), draw(19, 33))
""")
case("attorch glu", ATTORCH, 1e-5, """
    import attorch
    check(attorch.GLU(), lambda x: F.glu(x), draw(9, 64))
""")
case("attorch linear with gelu", ATTORCH, 1e-3, """
    import attorch
    layer = attorch.Linear(48, 80, act_func="gelu").to(dev)
    w, b = layer.weight.detach().double(), layer.bias.detach().double()
    w = w if w.shape == (48, 80) else w.T
    check(layer, lambda x: F.gelu(x @ w + b), draw(21, 48))
""")
case("attorch conv2d", ATTORCH, 1e-3, """
    import attorch
    layer = attorch.Conv2d(4, 6, 3, padding=1).to(dev)
    w, b = layer.weight.detach().double(), layer.bias.detach().double()
    check(layer, lambda x: F.conv2d(x, w, b, padding=1), draw(2, 4, 9, 11))
""")
FLASH = "flash-attention"
case("flash-attention layer_norm", FLASH, 1e-5, """
    from flash_attn.ops.triton.layer_norm import layer_norm_fn
    check(lambda x, w, b: layer_norm_fn(x, w, b), lambda x, w, b: F.layer_norm(x, (96,), w, b, 1e-6), draw(3, 17, 96), draw(96), draw(96))
""")
case("flash-attention rms_norm with residual", FLASH, 1e-5, """
    from flash_attn.ops.triton.layer_norm import rms_norm_fn
    def ref(x, w, r):
        s = x + r
        return s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-6) * w, s
    check(lambda x, w, r: rms_norm_fn(x, w, None, residual=r, prenorm=True), ref, draw(3, 17, 96), draw(96), draw(3, 17, 96))
""")
case("flash-attention rotary", FLASH, 1e-5, """
    from flash_attn.layers.rotary import apply_rotary_emb
    angles = torch.outer(torch.arange(13).float(), 1.0 / 10000 ** (torch.arange(0, 32, 2).float() / 32))
    cos, sin = angles.cos().to(dev), angles.sin().to(dev)
    def ref(x):
        c, s = (torch.cat((t, t), -1).double()[None, :, None] for t in (cos, sin))
        return rope_of(x, c, s)
    check(lambda x: apply_rotary_emb(x, cos, sin), ref, draw(2, 13, 4, 32))
""")
case("flash-attention cross_entropy", FLASH, 1e-5, """
    from flash_attn.losses.cross_entropy import CrossEntropyLoss
    target = torch.randint(0, 301, (19,)).to(dev)
    check(lambda x: CrossEntropyLoss(label_smoothing=0.1)(x, target), lambda x: F.cross_entropy(x, target, label_smoothing=0.1), draw(19, 301))
""")

FLA = "flash-linear-attention"
case("fla l2norm", FLA, 1e-4, """
    from fla.modules.l2norm import l2norm
    check(lambda x: l2norm(x), lambda x: x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6), draw(4, 33, 64))
""")
case("fla layer_norm", FLA, 1e-4, """
    from fla.modules.layernorm import layer_norm
    check(lambda x, w, b: layer_norm(x, w, b), lambda x, w, b: F.layer_norm(x, (96,), w, b, 1e-5), draw(3, 17, 96), draw(96), draw(96))
""")
case("fla swiglu", FLA, 1e-4, """
    from fla.modules.activations import swiglu
    check(swiglu, lambda x, y: F.silu(x) * y, draw(9, 128), draw(9, 128))
""")
case("fla rotary", FLA, 1e-5, """
    from fla.modules.rotary import rotary_embedding
    angles = torch.outer(torch.arange(13).float(), 1.0 / 10000 ** (torch.arange(0, 32, 2).float() / 32))
    cos, sin = angles.cos().to(dev), angles.sin().to(dev)
    def ref(x):
        c, s = (torch.cat((t, t), -1).double()[None, :, None] for t in (cos, sin))
        return rope_of(x, c, s)
    check(lambda x: rotary_embedding(x, cos, sin), ref, draw(2, 13, 4, 32))
""")
case("fla cross_entropy", FLA, 1e-5, """
    from fla.modules.fused_cross_entropy import FusedCrossEntropyLoss
    target = torch.randint(0, 301, (19,)).to(dev)
    check(lambda x: FusedCrossEntropyLoss()(x, target), lambda x: F.cross_entropy(x, target), draw(19, 301))
""")
case("fla chunk_linear_attn", FLA, 1e-2, """
    from fla.ops.linear_attn import chunk_linear_attn
    def ref(q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        s = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        return (torch.tril(s) @ v).transpose(1, 2)
    check(lambda q, k, v: chunk_linear_attn(q, k, v, normalize=False)[0], ref, *(draw(1, 128, 2, 64, scale=0.5) for _ in range(3)))
""")
case("fla fused_recurrent_gla", FLA, 1e-3, """
    from fla.ops.gla import fused_recurrent_gla
    def ref(q, k, v, g):
        s, outs = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3], dtype=q.dtype, device=q.device), []
        for t in range(q.shape[1]):
            s = s * g[:, t].exp()[..., None] + k[:, t][..., None] * v[:, t][..., None, :]
            outs.append(((q[:, t] * q.shape[-1] ** -0.5)[..., None] * s).sum(-2))
        return torch.stack(outs, 1)
    check(lambda q, k, v, g: fused_recurrent_gla(q, k, v, g)[0], ref, *(draw(1, 24, 2, 32) for _ in range(3)), F.logsigmoid(draw(1, 24, 2, 32)))
""")
case("fla chunk_retention", FLA, 1e-2, """
    from fla.ops.retention import chunk_retention
    def ref(q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        n, h = q.shape[2], q.shape[1]
        decay = (1 - q.new_tensor(2.0).pow(-5.0 - q.new_tensor(range(h)))).log2()
        i = torch.arange(n, device=q.device)
        d = ((i[:, None] - i[None, :]) * decay.view(-1, 1, 1)).exp2() * i[:, None].ge(i[None, :])
        s = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        return ((s * d) @ v).transpose(1, 2)
    check(lambda q, k, v: chunk_retention(q, k, v)[0], ref, *(draw(1, 128, 2, 64, scale=0.5) for _ in range(3)))
""")

case("fla chunk_gla", FLA, 1e-2, """
    from fla.ops.gla import chunk_gla
    def ref(q, k, v, g):
        s, outs = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3], dtype=q.dtype, device=q.device), []
        for t in range(q.shape[1]):
            s = s * g[:, t].exp()[..., None] + k[:, t][..., None] * v[:, t][..., None, :]
            outs.append(((q[:, t] * q.shape[-1] ** -0.5)[..., None] * s).sum(-2))
        return torch.stack(outs, 1)
    check(lambda q, k, v, g: chunk_gla(q, k, v, g)[0], ref, *(draw(1, 64, 1, 32, scale=0.5) for _ in range(3)), F.logsigmoid(draw(1, 64, 1, 32)))
""")
case("fla chunk_delta_rule", FLA, 3e-2, """
    from fla.ops.delta_rule import chunk_delta_rule
    def ref(q, k, v, b):
        s, outs = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3], dtype=q.dtype, device=q.device), []
        for t in range(q.shape[1]):
            old = (s * k[:, t][..., None]).sum(-2)
            s = s + k[:, t][..., None] * (b[:, t][..., None] * (v[:, t] - old))[..., None, :]
            outs.append(((q[:, t] * q.shape[-1] ** -0.5)[..., None] * s).sum(-2))
        return torch.stack(outs, 1)
    check(lambda q, k, v, b: chunk_delta_rule(q, k, v, b)[0], ref, *(t.bfloat16() for t in (draw(1, 64, 1, 32), F.normalize(draw(1, 64, 1, 32), dim=-1), draw(1, 64, 1, 32), torch.sigmoid(draw(1, 64, 1)))))
""")
case("fla gated norm", FLA, 1e-4, """
    from fla.modules.fused_norm_gate import rms_norm_gated
    def ref(x, g, w):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w * g * torch.sigmoid(g)
    check(lambda x, g, w: rms_norm_gated(x, g, w, None, eps=1e-5), ref, draw(3, 17, 64), draw(3, 17, 64), draw(64))
""")
case("fla token_shift", FLA, 1e-5, """
    from fla.modules.token_shift import token_shift
    check(token_shift, lambda x: torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1]), 1) - x, draw(2, 33, 64))
""")
case("fla causal_conv1d", FLA, 1e-4, """
    from fla.modules.convolution import causal_conv1d
    def ref(x, w, b):
        return F.silu(F.conv1d(F.pad(x.transpose(1, 2), (3, 0)), w[:, None], b, groups=x.shape[-1])).transpose(1, 2)
    def f(x, w, b):
        y = causal_conv1d(x, w, b, activation="silu", backend="triton")
        return y[0] if isinstance(y, tuple) else y
    check(f, ref, draw(2, 33, 64), draw(64, 4), draw(64))
""")
case("fla fused_recurrent_hgrn", FLA, 1e-4, """
    from fla.ops.hgrn import fused_recurrent_hgrn
    def ref(x, g):
        h, outs = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            h = h * g[:, t].exp() + x[:, t]
            outs.append(h)
        return torch.stack(outs, 1)
    check(lambda x, g: fused_recurrent_hgrn(x, g)[0], ref, draw(2, 40, 64), F.logsigmoid(draw(2, 40, 64)))
""")
case("fla softmax attention", FLA, 1e-2, """
    from fla.ops.attn import parallel_attn
    def ref(q, k, v):
        return F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True).transpose(1, 2)
    check(lambda q, k, v: parallel_attn(q, k, v), ref, *(draw(1, 64, 2, 32) for _ in range(3)))
""")
case("mamba layer_norm", "mamba", 1e-5, """
    from mamba_ssm.ops.triton.layer_norm import layer_norm_fn
    check(lambda x, w, b: layer_norm_fn(x, w, b), lambda x, w, b: F.layer_norm(x, (96,), w, b, 1e-6), draw(3, 17, 96), draw(96), draw(96))
""")
case("mamba gated layer_norm", "mamba", 1e-5, """
    from mamba_ssm.ops.triton.layernorm_gated import rmsnorm_fn
    def ref(x, w, z):
        x = x * F.silu(z)
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
    check(lambda x, w, z: rmsnorm_fn(x, w, None, z=z, norm_before_gate=False), ref, draw(3, 17, 96), draw(96), draw(3, 17, 96))
""")
case("mamba chunk_scan_combined", "mamba", 1e-2, """
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined
    def ref(x, dt, A, B, C):
        b, l, h, p = x.shape
        s, outs = torch.zeros(b, h, p, B.shape[-1], dtype=x.dtype, device=x.device), []
        for t in range(l):
            d = dt[:, t]
            s = s * (d * A).exp()[..., None, None] + (d[..., None] * x[:, t])[..., None] * B[:, t].repeat_interleave(h, 1)[..., None, :]
            outs.append((s * C[:, t].repeat_interleave(h, 1)[..., None, :]).sum(-1))
        return torch.stack(outs, 1)
    check(lambda x, dt, A, B, C: mamba_chunk_scan_combined(x, dt, A, B, C, 32), ref, draw(1, 64, 2, 32), F.softplus(draw(1, 64, 2)), -draw(2).abs(), draw(1, 64, 1, 16), draw(1, 64, 1, 16))
""")
case("cut_cross_entropy", "ml-cross-entropy", 2e-2, """
    from cut_cross_entropy import linear_cross_entropy
    target = torch.randint(0, 128, (64,)).to(dev)
    check(lambda e, c: linear_cross_entropy(e, c, target), lambda e, c: F.cross_entropy(e @ c.T, target), draw(64, 64, dtype=torch.bfloat16), draw(128, 64, dtype=torch.bfloat16))
""")
case("lightning attention", "lightning-attention", 2e-2, """
    from lightning_attn.ops import lightning_attn_func
    slopes = torch.tensor([0.1, 0.3]).to(dev)
    def ref(q, k, v):
        i = torch.arange(q.shape[2], device=q.device)
        d = torch.exp(-(i[:, None] - i[None]).double() * slopes.double().view(-1, 1, 1)) * (i[:, None] >= i[None])
        return ((q @ k.transpose(-1, -2)) * d) @ v
    check(lambda q, k, v: lightning_attn_func(q, k, v, slopes), ref, *(draw(1, 2, 128, 64, dtype=torch.bfloat16, scale=0.3) for _ in range(3)))
""")
case("scattermoe parallel experts", "scattermoe", 1e-3, """
    from scattermoe import flatten_sort_count, parallel_linear
    weights, experts = torch.topk(torch.softmax(draw(24, 4), -1), 2)
    order, where, offsets = flatten_sort_count(experts, num_experts=4)
    def f(x, w):
        return parallel_linear(x, w, 2, order, where, offsets, gates=weights.detach())
    def ref(x, w):
        return torch.stack([sum(weights[t, j].double() * (x[t] @ w[experts[t, j]]) for j in range(2)) for t in range(24)])
    check(f, ref, draw(24, 32), draw(4, 32, 48))
""")


def run(pellucid, repositories, one, folder, device, seconds):
    name, path, bound, text = one
    where = os.path.join(repositories, path)
    if not os.path.isdir(where):
        return "skipped", f"no checkout at {path}", None
    script = os.path.join(folder, "run_" + re.sub(r"\W+", "_", name) + ".py")
    with open(script, "w") as file:
        file.write(HARNESS + text)
    options = ["--device", device] if "=" in device else []
    try:
        done = subprocess.run([pellucid, "exec", *options, script], capture_output=True, text=True, timeout=seconds, env={**os.environ, "PYTHONPATH": f"{where}:{repositories}/einops"})
    except subprocess.TimeoutExpired:
        return "slow", f"more than {seconds} s", None
    found = re.search(r"^WORST (\S+) (.*)$", done.stdout, re.M)
    if done.returncode or not found:
        lines = [line for line in done.stderr.splitlines() if "error:" in line or re.match(r"^\w+(Error|Exception)", line)]
        reason = (lines or done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return "refused", re.sub(r"\S*/(?=[\w.-]+:\d)", "", reason)[:200], None
    error = float(found[1])
    return ("ok" if error <= bound else "wrong"), f"{error:.2g} ({found[2]}), bound {bound:g}", error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pellucid")
    parser.add_argument("repositories")
    parser.add_argument("names", nargs="*", help="cases whose name contains one of these")
    parser.add_argument("--device", default="cuda=cpu", help="cuda=cpu, or cuda for the GPU")
    parser.add_argument("--write", help="the table, as a page of the documents")
    parser.add_argument("--keep", help="where the scripts are left")
    parser.add_argument("--seconds", type=float, default=120)
    options = parser.parse_args()
    chosen = [one for one in CASES if not options.names or any(name in one[0] for name in options.names)]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for one in chosen:
            state, words, _ = run(os.path.abspath(options.pellucid), os.path.abspath(options.repositories), one, folder, options.device, options.seconds)
            print(f"{state:8} {one[0]:40} {words}", flush=True)
            rows.append((one[0], state, words))
    counts = {state: sum(row[1] == state for row in rows) for state in ("ok", "wrong", "refused", "slow", "skipped")}
    print(", ".join(f"{count} {state}" for state, count in counts.items() if count))
    if options.write:
        with open(options.write, "w") as file:
            file.write("| Function | state | |\n|---|---|---|\n" + "".join(f"| {name} | {state} | {words} |\n" for name, state, words in rows))
    if counts["skipped"] == len(rows):
        print("skipped: none of the repositories is there")
        return 77
    return 1 if counts["wrong"] or counts["refused"] or counts["slow"] else 0


if __name__ == "__main__":
    sys.exit(main())
