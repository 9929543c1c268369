# SPDX-License-Identifier: Apache-2.0
"""How modules print: their tree, and what each says of itself in one line."""

import torch
import torch.nn as nn


def _indented(text, spaces):
    lines = text.split("\n")
    return "\n".join([lines[0]] + [" " * spaces + line for line in lines[1:]])


def module_text(module):
    extra = module.extra_repr()
    lines = extra.split("\n") if extra else []
    children = [(name, _indented(repr(child), 2)) for name, child in _children(module)]
    if isinstance(module, nn.ModuleList):
        tree = _list_lines([text for _, text in children])
    else:
        tree = [f"({name}): {text}" for name, text in children]
    text = module._get_name() + "("
    if lines or tree:
        text += lines[0] if len(lines) == 1 and not tree else "\n  " + "\n  ".join(lines + tree) + "\n"
    return text + ")"


def _list_lines(texts):
    """Equal neighbours are one line, with their range and number."""
    if not texts:
        return []
    runs = [[0, 0, texts[0]]]
    for i, text in enumerate(texts[1:], 1):
        if text == runs[-1][2]:
            runs[-1][1] = i
        else:
            runs.append([i, i, text])
    lines = []
    for first, last, text in runs:
        if first != last:
            lines.append(f"({first}-{last}): {last - first + 1} x {text}")
        else:
            lines.append(f"({first}): {text}")
    return lines


def _children(module):
    return [(name, value) for name, value in vars(module).items() if isinstance(value, nn.Module)]


def extra_text(module):
    for cls in type(module).__mro__:
        describe = _texts.get(cls.__name__)
        if describe is not None and getattr(nn, cls.__name__, None) is cls:
            return describe(module)
    return ""


def _has(value):
    return value is not None


def _inplace(m):
    return ", inplace=True" if m.inplace else ""


def _only_inplace(m):
    return "inplace=True" if m.inplace else ""


def _sizes(value):
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _convolution(m):
    text = f"{m.in_channels}, {m.out_channels}, kernel_size={m.kernel_size}, stride={m.stride}"
    if m.padding != (0,) * len(m.kernel_size):
        text += f", padding={m.padding}"
    if m.dilation != (1,) * len(m.dilation):
        text += f", dilation={m.dilation}"
    if m.output_padding != (0,) * len(m.output_padding):
        text += f", output_padding={m.output_padding}"
    if m.groups != 1:
        text += f", groups={m.groups}"
    if m.bias is None:
        text += ", bias=False"
    if m.padding_mode != "zeros":
        text += f", padding_mode={m.padding_mode}"
    return text


def _embedding(m):
    text = f"{m.num_embeddings}, {m.embedding_dim}"
    if m.padding_idx is not None:
        text += f", padding_idx={m.padding_idx}"
    return text + _lookup(m) + (", sparse=True" if m.sparse else "")


def _lookup(m):
    text = f", max_norm={m.max_norm}" if m.max_norm is not None else ""
    if m.norm_type != 2:
        text += f", norm_type={m.norm_type}"
    return text + (f", scale_grad_by_freq={m.scale_grad_by_freq}" if m.scale_grad_by_freq else "")


def _embedding_bag(m):
    text = f"{m.num_embeddings}, {m.embedding_dim}{_lookup(m)}, mode={m.mode!r}"
    return text + (f", padding_idx={m.padding_idx}" if m.padding_idx is not None else "")


def _running_norm(m):
    return (
        f"{m.num_features}, eps={m.eps}, momentum={m.momentum}, affine={m.affine}, bias={_has(m.bias)}, track_running_stats={m.track_running_stats}"
    )


def _max_pool(m):
    return f"kernel_size={m.kernel_size}, stride={m.stride}, padding={m.padding}, dilation={m.dilation}, ceil_mode={m.ceil_mode}"


def _avg_pool(m):
    return f"kernel_size={m.kernel_size}, stride={m.stride}, padding={m.padding}"


def _avg_pool_1d(m):
    each = lambda value: value if isinstance(value, tuple) else (value,)
    return f"kernel_size={each(m.kernel_size)}, stride={each(m.stride)}, padding={each(m.padding)}"


def _recurrent(m):
    text = f"{m.input_size}, {m.hidden_size}"
    if m.proj_size != 0:
        text += f", proj_size={m.proj_size}"
    if m.num_layers != 1:
        text += f", num_layers={m.num_layers}"
    if m.bias is not True:
        text += f", bias={m.bias}"
    if m.batch_first is not False:
        text += f", batch_first={m.batch_first}"
    if m.dropout != 0:
        text += f", dropout={m.dropout}"
    return text + (f", bidirectional={m.bidirectional}" if m.bidirectional else "")


def _cell(m):
    text = f"{m.input_size}, {m.hidden_size}" + ("" if m.bias is True else f", bias={m.bias}")
    other = getattr(m, "nonlinearity", "tanh")
    return text if other == "tanh" else text + f", nonlinearity={other}"


def _upsample(m):
    scale = m.scale_factor
    if scale is not None:
        scale = tuple(float(s) for s in scale) if isinstance(scale, (list, tuple)) else float(scale)
    return (f"scale_factor={scale!r}" if scale is not None else f"size={m.size!r}") + f", mode={m.mode!r}"


def _parameter(p, kind):
    size = "x".join(str(n) for n in p.shape)
    device = f" ({p.device})" if p.device.type == "cuda" else ""
    return f"{'Parameter' if isinstance(p, nn.Parameter) else 'Tensor'} containing: [{kind} of size {size}{device}]"


def _parameters(m):
    return "\n".join(f"  ({i}): {_parameter(p, p.dtype)}" for i, p in enumerate(m))


def _parameters_by_name(m):
    kinds = {torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16"}
    type_name = lambda p: f"torch.{kinds.get(p.dtype, 'Long')}Tensor"
    return "\n".join(f"  ({name}): {_parameter(p, type_name(p))}" for name, p in m.items())


_texts = {
    "Linear": lambda m: f"in_features={m.in_features}, out_features={m.out_features}, bias={_has(m.bias)}",
    "Bilinear": lambda m: f"in1_features={m.in1_features}, in2_features={m.in2_features}, out_features={m.out_features}, bias={_has(m.bias)}",
    "_ConvNd": _convolution,
    "Embedding": _embedding,
    "EmbeddingBag": _embedding_bag,
    "LayerNorm": lambda m: f"{_sizes(m.normalized_shape)}, eps={m.eps}, elementwise_affine={_has(m.weight)}, bias={_has(m.bias)}",
    "RMSNorm": lambda m: f"{_sizes(m.normalized_shape)}, eps={m.eps}, elementwise_affine={_has(m.weight)}",
    "GroupNorm": lambda m: f"{m.num_groups}, {m.num_channels}, eps={m.eps}, affine={_has(m.weight)}, bias={_has(m.bias)}",
    "_BatchNorm": _running_norm,
    "_InstanceNorm": _running_norm,
    "LocalResponseNorm": lambda m: f"{m.size}, alpha={m.alpha}, beta={m.beta}, k={m.k}",
    "Pointwise": _only_inplace,
    "SELU": _only_inplace,
    "Hardswish": lambda m: "",
    "Hardsigmoid": lambda m: "",
    "Softplus": lambda m: f"beta={float(m.beta)}, threshold={float(m.threshold)}",
    "LeakyReLU": lambda m: f"negative_slope={m.negative_slope}{_inplace(m)}",
    "ELU": lambda m: f"alpha={m.alpha}{_inplace(m)}",
    "CELU": lambda m: f"alpha={m.alpha}{_inplace(m)}",
    "GELU": lambda m: f"approximate={m.approximate!r}",
    "Softmax": lambda m: f"dim={m.dim}",
    "Softmin": lambda m: f"dim={m.dim}",
    "LogSoftmax": lambda m: f"dim={m.dim}",
    "GLU": lambda m: f"dim={m.dim}",
    "Hardtanh": lambda m: f"min_val={m.min_val}, max_val={m.max_val}{_inplace(m)}",
    "Threshold": lambda m: f"threshold={m.threshold}, value={m.value}{_inplace(m)}",
    "RReLU": lambda m: f"lower={m.lower}, upper={m.upper}{_inplace(m)}",
    "PReLU": lambda m: f"num_parameters={m.num_parameters}",
    "Hardshrink": lambda m: f"{m.lambd}",
    "Softshrink": lambda m: f"{m.lambd}",
    "_DropoutNd": lambda m: f"p={m.p}, inplace={m.inplace}",
    "Flatten": lambda m: f"start_dim={m.start_dim}, end_dim={m.end_dim}",
    "Unflatten": lambda m: f"dim={m.dim}, unflattened_size={m.unflattened_size}",
    "MaxPool1d": _max_pool,
    "MaxPool2d": _max_pool,
    "MaxPool3d": _max_pool,
    "AvgPool1d": _avg_pool_1d,
    "AvgPool2d": _avg_pool,
    "AvgPool3d": _avg_pool,
    "_LPPoolNd": lambda m: f"norm_type={m.norm_type}, kernel_size={m.kernel_size}, stride={m.stride}, ceil_mode={m.ceil_mode}",
    "_MaxUnpoolNd": lambda m: f"kernel_size={_sizes(m.kernel_size)}, stride={_sizes(m.stride)}, padding={_sizes(m.padding)}",
    "AdaptiveAvgPool1d": lambda m: f"output_size={m.output_size}",
    "AdaptiveAvgPool2d": lambda m: f"output_size={m.output_size}",
    "AdaptiveAvgPool3d": lambda m: f"output_size={m.output_size}",
    "AdaptiveMaxPool1d": lambda m: f"output_size={m.output_size}",
    "AdaptiveMaxPool2d": lambda m: f"output_size={m.output_size}",
    "AdaptiveMaxPool3d": lambda m: f"output_size={m.output_size}",
    "_ConstantPadNd": lambda m: f"padding={_sizes(m.padding)}, value={m.value}",
    "ZeroPad1d": lambda m: f"{_sizes(m.padding)}",
    "ZeroPad2d": lambda m: f"{_sizes(m.padding)}",
    "ZeroPad3d": lambda m: f"{_sizes(m.padding)}",
    "_Pad": lambda m: f"{_sizes(m.padding)}",
    "Upsample": _upsample,
    "PixelShuffle": lambda m: f"upscale_factor={m.upscale_factor}",
    "PixelUnshuffle": lambda m: f"downscale_factor={m.downscale_factor}",
    "ChannelShuffle": lambda m: f"groups={m.groups}",
    "Fold": lambda m: f"output_size={m.output_size}, kernel_size={m.kernel_size}, dilation={m.dilation}, padding={m.padding}, stride={m.stride}",
    "Unfold": lambda m: f"kernel_size={m.kernel_size}, dilation={m.dilation}, padding={m.padding}, stride={m.stride}",
    "RNNBase": _recurrent,
    "RNNCellBase": _cell,
    "ParameterList": _parameters,
    "ParameterDict": _parameters_by_name,
}
