# SPDX-License-Identifier: Apache-2.0
"""Functions of public packages of Triton kernels, differentiated, and the same in PyTorch's operators (`…_reference`).
public_functions.py compares them."""
import torch
import torch.nn.functional as F


def _leaves(*tensors):
    return [one.detach().requires_grad_() for one in tensors]


def _gradients(function, tensors, gradient=None):
    leaves = _leaves(*tensors)
    results = function(*leaves)
    given = gradient if isinstance(results, torch.Tensor) else [gradient] * len(results)
    return torch.autograd.grad(results, leaves, given)


def liger_rms_norm(x, w, g):
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    return _gradients(lambda x, w: LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False), [x, w], g)


def liger_rms_norm_reference(x, w, g):
    return _gradients(lambda x, w: F.rms_norm(x, (x.shape[-1],), w, 1e-6), [x, w], g)


def liger_layer_norm(x, w, b, g):
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction

    return _gradients(lambda x, w, b: LigerLayerNormFunction.apply(x, w, b, 1e-6), [x, w, b], g)


def liger_layer_norm_reference(x, w, b, g):
    return _gradients(lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, 1e-6), [x, w, b], g)


def liger_swiglu(a, b, g):
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    return _gradients(lambda a, b: LigerSiLUMulFunction.apply(a, b), [a, b], g)


def liger_swiglu_reference(a, b, g):
    return _gradients(lambda a, b: F.silu(a) * b, [a, b], g)


def liger_geglu(a, b, g):
    from liger_kernel.ops.geglu import LigerGELUMulFunction

    return _gradients(lambda a, b: LigerGELUMulFunction.apply(a, b), [a, b], g)


def liger_geglu_reference(a, b, g):
    return _gradients(lambda a, b: F.gelu(a, approximate="tanh") * b, [a, b], g)


def liger_softmax(a, g):
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    return _gradients(lambda a: LigerSoftmaxFunction.apply(a), [a], g)


def liger_softmax_reference(a, g):
    return _gradients(lambda a: torch.softmax(a, -1), [a], g)


def liger_relu_squared(a, g):
    from liger_kernel.ops.relu_squared import LigerReLUSquaredFunction

    return _gradients(lambda a: LigerReLUSquaredFunction.apply(a), [a], g)


def liger_relu_squared_reference(a, g):
    return _gradients(lambda a: F.relu(a) ** 2, [a], g)


def liger_cross_entropy(x, y):
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction

    return _gradients(lambda x: LigerCrossEntropyFunction.apply(x * 1, y, None)[0], [x])


def liger_cross_entropy_reference(x, y):
    return _gradients(lambda x: F.cross_entropy(x, y), [x])


def liger_group_norm(x, w, b, g):
    from liger_kernel.ops.group_norm import LigerGroupNormFunction

    return _gradients(lambda x, w, b: LigerGroupNormFunction.apply(x, w, b, 4, 2, 1e-6), [x, w, b], g)


def liger_group_norm_reference(x, w, b, g):
    return _gradients(lambda x, w, b: F.group_norm(x, 2, w, b, 1e-6), [x, w, b], g)


def liger_kl_div(x, y):
    from liger_kernel.ops.kl_div import LigerKLDivLossFunction

    return _gradients(lambda x: LigerKLDivLossFunction.apply(torch.log_softmax(x, -1), torch.softmax(y, -1)), [x])


def liger_kl_div_reference(x, y):
    return _gradients(lambda x: F.kl_div(torch.log_softmax(x, -1), torch.softmax(y, -1), reduction="batchmean"), [x])


def attorch_layer_norm(x, w, b, g):
    from attorch.layer_norm_layer import LayerNormAutoGrad

    return _gradients(lambda x, w, b: LayerNormAutoGrad.apply(x, w, b, 1e-5, False), [x, w, b], g)


def attorch_layer_norm_reference(x, w, b, g):
    return _gradients(lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, 1e-5), [x, w, b], g)


def attorch_batch_norm(x, w, b, g):
    from attorch.batch_norm_layer import BatchNormAutoGrad

    return _gradients(lambda x, w, b: BatchNormAutoGrad.apply(x, True, w, b, None, None, 0.1, 1e-5, False), [x, w, b], g)


def attorch_batch_norm_reference(x, w, b, g):
    return _gradients(lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [x, w, b], g)


def attorch_gelu(x, g):
    import attorch

    return _gradients(lambda x: attorch.GELU()(x), [x], g)


def attorch_gelu_reference(x, g):
    return _gradients(lambda x: F.gelu(x), [x], g)


def attorch_glu(x, g):
    import attorch

    return _gradients(lambda x: attorch.GLU(dim=-1)(x), [x], g)


def attorch_glu_reference(x, g):
    return _gradients(lambda x: F.glu(x, -1), [x], g)


def attorch_softmax(x, g):
    import attorch

    return _gradients(lambda x: attorch.Softmax(dim=-1)(x), [x], g)


def attorch_softmax_reference(x, g):
    return _gradients(lambda x: torch.softmax(x, -1), [x], g)


def attorch_cross_entropy(x, y):
    import attorch

    return _gradients(lambda x: attorch.CrossEntropyLoss()(x, y), [x])


def attorch_cross_entropy_reference(x, y):
    return _gradients(lambda x: F.cross_entropy(x, y), [x])


def attorch_linear(x, w, b, g):
    from attorch.linear_layer import LinearAutoGrad

    return _gradients(lambda x, w, b: LinearAutoGrad.apply(x, w.t(), b, "gelu"), [x, w, b], g)


def attorch_linear_reference(x, w, b, g):
    return _gradients(lambda x, w, b: F.gelu(F.linear(x, w, b)), [x, w, b], g)


def flash_layer_norm(x, w, b, g):
    from flash_attn.ops.triton.layer_norm import layer_norm_fn

    return _gradients(lambda x, w, b: layer_norm_fn(x, w, b, eps=1e-6), [x, w, b], g)


def flash_layer_norm_reference(x, w, b, g):
    return _gradients(lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, 1e-6), [x, w, b], g)


def liger_rope(q, k, cos, sin, g):
    from liger_kernel.ops.rope import LigerRopeFunction

    cos, sin = torch.cat([cos, cos], -1), torch.cat([sin, sin], -1)
    return _gradients(lambda q, k: LigerRopeFunction.apply(q * 1, k * 1, cos, sin), [q, k], g)


def _turned(x):
    half = x.shape[-1] // 2
    return torch.cat([-x[..., half:], x[..., :half]], -1)


def liger_rope_reference(q, k, cos, sin, g):
    cos, sin = torch.cat([cos, cos], -1).unsqueeze(1), torch.cat([sin, sin], -1).unsqueeze(1)
    return _gradients(lambda q, k: (q * cos + _turned(q) * sin, k * cos + _turned(k) * sin), [q, k], g)


def flash_rms_norm(x, r, w, g):
    from flash_attn.ops.triton.layer_norm import layer_norm_fn

    return _gradients(lambda x, r, w: layer_norm_fn(x, w, None, residual=r, prenorm=True, is_rms_norm=True, eps=1e-6), [x, r, w], g)


def flash_rms_norm_reference(x, r, w, g):
    return _gradients(lambda x, r, w: (F.rms_norm(x + r, (x.shape[-1],), w, 1e-6), x + r), [x, r, w], g)


# i6: six whole numbers below 33
CASES = {
    "liger_rms_norm": "x=6,32 w=32 g=6,32",
    "liger_layer_norm": "x=6,32 w=32 b=32 g=6,32",
    "liger_swiglu": "a=6,32 b=6,32 g=6,32",
    "liger_geglu": "a=6,32 b=6,32 g=6,32",
    "liger_softmax": "a=6,33 g=6,33",
    "liger_relu_squared": "a=6,33 g=6,33",
    "liger_cross_entropy": "x=6,33 y=i6",
    "liger_group_norm": "x=3,4,10 w=4 b=4 g=3,4,10",
    "liger_kl_div": "x=6,33 y=6,33",
    "attorch_layer_norm": "x=6,32 w=32 b=32 g=6,32",
    "attorch_batch_norm": "x=6,4 w=4 b=4 g=6,4",
    "attorch_gelu": "x=6,33 g=6,33",
    "attorch_glu": "x=6,32 g=6,16",
    "attorch_softmax": "x=6,33 g=6,33",
    "attorch_cross_entropy": "x=6,33 y=i6",
    "attorch_linear": "x=6,16 w=32,16 b=32 g=6,32",
    "flash_layer_norm": "x=6,32 w=32 b=32 g=6,32",
    "liger_rope": "q=2,3,5,8 k=2,3,5,8 cos=2,5,4 sin=2,5,4 g=2,3,5,8",
    "flash_rms_norm": "x=6,32 r=6,32 w=32 g=6,32",
}
