# SPDX-License-Identifier: Apache-2.0
"""Functions of torch.nn.functional whose arguments stand in another order than ATen's, or that torch has in Python."""
import math

import torch
import torch._pellucid_composites as _F


def _each(value, rank):
    return [value] * rank if isinstance(value, int) or not isinstance(value, (list, tuple)) else list(value)


def _reduced(losses, size_average, reduce, reduction):
    return _F._reduced(losses, _F._reduction(size_average, reduce, reduction))


# --- padding and resampling


def pad(input, pad, mode="constant", value=None):
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return torch.ops.aten.pad.default(input, pad, mode, value)


def _output_size(input, rank, size, scale_factor):
    if size is not None:
        return _each(size, rank)
    return [int(math.floor(input.shape[i - rank] * factor)) for i, factor in enumerate(_each(scale_factor, rank))]


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    rank = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    corners = bool(align_corners)
    if (size is None) == (scale_factor is None):
        raise ValueError("either size or scale_factor should be defined" if size is None else "only one of size or scale_factor should be defined")
    for name, given in (("size", size), ("scale_factor", scale_factor)):
        if isinstance(given, (list, tuple)) and len(given) != rank:
            raise ValueError(f"Input and {name} must have the same number of spatial dimensions. Input has {rank} of them, {name} has {len(given)} elements.")
    if size is not None and recompute_scale_factor:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    sizes = None if size is None else _each(size, rank)
    factors = None if scale_factor is None else [float(f) for f in _each(scale_factor, rank)]
    if mode == "area" or recompute_scale_factor:
        sizes, factors = _output_size(input, rank, size, scale_factor), None
    if antialias and not (mode in ("bilinear", "bicubic") and rank == 2):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    ops = torch.ops.aten
    if mode == "nearest" and 1 <= rank <= 3:
        return (ops.upsample_nearest1d.vec, ops.upsample_nearest2d.vec, ops.upsample_nearest3d.vec)[rank - 1](input, sizes, factors)
    if mode == "nearest-exact" and 1 <= rank <= 3:
        return (ops._upsample_nearest_exact1d.vec, ops._upsample_nearest_exact2d.vec, ops._upsample_nearest_exact3d.vec)[rank - 1](input, sizes, factors)
    if mode == "area" and 1 <= rank <= 3:
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1](input, sizes)
    if mode == "bicubic" and rank == 2:
        return (ops._upsample_bicubic2d_aa.vec if antialias else ops.upsample_bicubic2d.vec)(input, sizes, corners, factors)
    if mode == "bilinear" and antialias:
        return ops._upsample_bilinear2d_aa.vec(input, sizes, corners, factors)
    if (mode, rank) in (("linear", 1), ("bilinear", 2), ("trilinear", 3)):
        return (ops.upsample_linear1d.vec, ops.upsample_bilinear2d.vec, ops.upsample_trilinear3d.vec)[rank - 1](input, sizes, corners, factors)
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, "bilinear", True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    modes, borders = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in borders:
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    return torch.ops.aten.grid_sampler.default(input, grid, modes.index(mode), borders.index(padding_mode), bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    return torch.ops.aten.affine_grid_generator.default(theta, list(size), bool(align_corners))


def pixel_shuffle(input, upscale_factor):
    return torch.ops.aten.pixel_shuffle.default(input, upscale_factor)


def pixel_unshuffle(input, downscale_factor):
    return torch.ops.aten.pixel_unshuffle.default(input, downscale_factor)


def channel_shuffle(input, groups):
    return torch.ops.aten.channel_shuffle.default(input, groups)


def native_channel_shuffle(input, groups):
    return torch.ops.aten.channel_shuffle.default(input, groups)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return torch.ops.aten.col2im.default(input, _each(output_size, 2), _each(kernel_size, 2), _each(dilation, 2), _each(padding, 2), _each(stride, 2))


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    return torch.ops.aten.im2col.default(input, _each(kernel_size, 2), _each(dilation, 2), _each(padding, 2), _each(stride, 2))


# --- pools


def adaptive_avg_pool1d(input, output_size):
    return _F.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input, output_size):
    return _F.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input, output_size):
    return _F.adaptive_avg_pool3d(input, output_size)


def _lp_pool(pool, rank, input, norm_type, kernel_size, stride, ceil_mode):
    count = 1
    for size in _each(kernel_size, rank):
        count = count * size
    out = pool(torch.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return torch.pow(torch.sign(out) * torch.relu(torch.abs(out)) * count, 1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(_F.avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(_F.avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(_F.avg_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _unpool(rank, input, indices, kernel_size, stride, padding, output_size):
    kernel, padding = _each(kernel_size, rank), _each(padding, rank)
    stride = kernel if stride is None or stride == [] else _each(stride, rank)
    sizes = [(input.shape[d - rank] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in range(rank)]
    if output_size is not None:
        sizes = list(output_size)[-rank:]
    if rank == 3:
        return torch.ops.aten.max_unpool3d.default(input, indices, sizes, stride, padding)
    if rank == 2:
        return torch.ops.aten.max_unpool2d.default(input, indices, sizes)
    return torch.ops.aten.max_unpool2d.default(input.unsqueeze(-1), indices.unsqueeze(-1), sizes + [1]).squeeze(-1)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _fractional(*args, **kwargs):
    raise NotImplementedError("fractional max pooling draws its windows at random at every call; adaptive_max_pool takes them evenly")


fractional_max_pool2d = fractional_max_pool3d = _fractional


# --- norms and linear maps


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
    return torch.ops.aten.instance_norm.default(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    squares = torch.mul(input, input).unsqueeze(1)
    before, after = size // 2, (size - 1) // 2
    if input.dim() == 3:
        near = _F.avg_pool2d(pad(squares, (0, 0, before, after)), (size, 1), 1).squeeze(1)
    else:
        sizes = list(input.shape)
        flat = squares.reshape(sizes[0], 1, sizes[1], sizes[2], -1)
        near = _F.avg_pool3d(pad(flat, (0, 0, 0, 0, before, after)), (size, 1, 1), 1).squeeze(1).reshape(sizes)
    return input / torch.pow(near * alpha + k, beta)


def grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    return torch.ops.aten._grouped_mm.default(mat_a, mat_b, offs, bias, out_dtype)


def bilinear(input1, input2, weight, bias=None):
    return torch.ops.aten.bilinear.default(input1, input2, weight, bias)


def pdist(input, p=2.0):
    return torch.ops.aten.pdist.default(input, p)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if padding_idx is None:
        padding_idx = -1
    elif not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx = weight.shape[0] + padding_idx
    if max_norm is not None:
        with torch.no_grad():
            weight.copy_(torch.ops.aten.embedding_renorm.default(weight, input, max_norm, norm_type))
    return torch.ops.aten.embedding.default(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    if max_norm is not None:
        with torch.no_grad():
            weight.copy_(torch.ops.aten.embedding_renorm.default(weight, input, max_norm, norm_type))
    if weight.dtype in (torch.int32, torch.int64) and input.is_floating_point():
        input, weight = weight, input  # the order of old
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{mode}').")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences.")
        if mode != "max" and per_sample_weights is None and padding_idx is None and not scale_grad_by_freq and not sparse and isinstance(input.shape[1], int) and input.shape[1] > 0:
            # Bags of one length are a dim that is summed up.
            rows = torch.ops.aten.embedding.default(weight, input)
            return rows.sum(1) if mode == "sum" else rows.mean(1)
        offsets = torch.arange(0, input.numel(), input.shape[1], dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    way = ("sum", "mean", "max").index(mode)
    return torch.ops.aten.embedding_bag.padding_idx(
        weight, input, offsets, scale_grad_by_freq, way, sparse, per_sample_weights, include_last_offset, padding_idx
    )[0]


# --- attention


def _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads):
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor")
    rank, kind = query.dim(), "batched (3-D)" if query.dim() == 3 else "unbatched (2-D)"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(f"For {kind} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead")
    if rank == 2 and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return rank == 3


def _added_mask(mask, name, dtype):
    """What is added to the scores: a mask of bools is -inf where it is True."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype != torch.bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, float("-inf"))


def _together(x, weight, bias, count):
    """Several linear maps of one tensor as one product; each result lies row by row."""
    return list(torch.nn.functional.linear(x, weight, bias).unflatten(-1, (count, weight.shape[0] // count)).movedim(-2, 0).contiguous())


def _projected(query, key, value, weight, bias):
    width = query.shape[-1]
    if key is value and query is key:
        return _together(query, weight, bias, 3)
    if key is value:
        weights = weight.split([width, 2 * width])
        biases = [None, None] if bias is None else bias.split([width, 2 * width])
        return [torch.nn.functional.linear(query, weights[0], biases[0])] + _together(key, weights[1], biases[1], 2)
    return _projected_apart(query, key, value, weight.chunk(3), bias)


def _projected_apart(query, key, value, weights, bias):
    biases = [None] * 3 if bias is None else bias.chunk(3)
    return [torch.nn.functional.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]


def _one_more(mask):
    return None if mask is None else pad(mask, (0, 1))


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """The operators and their order are those of torch.export's graph of it: a model and its archive give the same bits."""
    batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    source, heads = key.shape[0], batch * num_heads
    key_padding_mask = _added_mask(key_padding_mask, "key_padding_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method `generate_square_subsequent_mask` to create this mask."
        )
    # As there, the hint stands for the mask where nothing else is masked.
    is_causal = is_causal and key_padding_mask is None and not need_weights
    attn_mask = None if is_causal else _added_mask(attn_mask, "attn_mask", query.dtype)
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    size = width // num_heads
    if size * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if tuple(key.shape[:2]) != tuple(value.shape[:2]):
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
        for name, given in (("q", q_proj_weight), ("k", k_proj_weight), ("v", v_proj_weight)):
            if given is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
        q, k, v = _projected_apart(query, key, value, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    else:
        if tuple(key.shape) != tuple(value.shape):
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None:
        dims = attn_mask.dim()
        correct = (length, source) if dims == 2 else (heads, length, source)
        if tuple(attn_mask.shape) != correct:
            raise RuntimeError(f"The shape of the {dims}D attn_mask is {attn_mask.shape}, but should be {correct}.")
        attn_mask = attn_mask.unsqueeze(0) if dims == 2 else attn_mask
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k is set but bias_v is None" if bias_v is None else "bias_v is set but bias_k is None")
    if bias_k is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(f"bias cannot be added to static {'key' if static_k is not None else 'value'}.")
        k, v = torch.cat([k, bias_k.repeat(1, batch, 1)]), torch.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    for name, given in (("k", static_k), ("v", static_v)):
        if given is not None and given.shape[0] != heads:
            raise AssertionError(f"expecting static_{name}.size(0) of {heads}, but got {given.shape[0]}")
        if given is not None and given.shape[2] != size:
            raise AssertionError(f"expecting static_{name}.size(2) of {size}, but got {given.shape[2]}")
    q = q.view(length, heads, size).transpose(0, 1)
    k = k.view(k.shape[0], heads, size).transpose(0, 1) if static_k is None else static_k
    v = v.view(v.shape[0], heads, size).transpose(0, 1) if static_v is None else static_v
    if add_zero_attn:
        k, v = [torch.cat([x, torch.zeros((heads, 1, size), dtype=x.dtype, device=x.device)], 1) for x in (k, v)]
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    source = k.shape[1]
    if key_padding_mask is not None:
        for dim, expected in enumerate((batch, source)):
            if key_padding_mask.shape[dim] != expected:
                raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {expected}, but got {key_padding_mask.shape[dim]}")
        hidden = key_padding_mask.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(heads, 1, source)
        attn_mask = hidden if attn_mask is None else attn_mask + hidden
    dropout_p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        scaled = q * math.sqrt(1.0 / float(size))
        scores = torch.bmm(scaled, k.transpose(-2, -1)) if attn_mask is None else torch.baddbmm(attn_mask, scaled, k.transpose(-2, -1))
        weights = torch.softmax(scores, -1)
        weights = torch.nn.functional.dropout(weights, dropout_p) if dropout_p > 0.0 else weights
        out = torch.bmm(weights, v).transpose(0, 1).reshape(length * batch, width)
        weights = weights.view(batch, num_heads, length, source)
        weights = weights.mean(1) if average_attn_weights else weights
    else:
        if attn_mask is not None:
            attn_mask = attn_mask.unsqueeze(0) if attn_mask.shape[0] == 1 else attn_mask.view(batch, num_heads, -1, source)
        q, k, v = q.view(batch, num_heads, length, size), k.view(batch, num_heads, source, size), v.view(batch, num_heads, source, size)
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        out = out.permute(2, 0, 1, 3).reshape(batch * length, width)
    out = torch.nn.functional.linear(out, out_proj_weight, out_proj_bias).view(length, batch, out_proj_weight.shape[0])
    if not batched:
        out, weights = out.squeeze(1), None if weights is None else weights.squeeze(0)
    return out, weights


# --- losses


def margin_ranking_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension")
    return _reduced(torch.clamp(-target * (input1 - input2) + margin, min=0), size_average, reduce, reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return _reduced(torch.ops.aten.hinge_embedding_loss.default(input, target, margin, 0), size_average, reduce, reduction)


def cosine_embedding_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    return _reduced(torch.ops.aten.cosine_embedding_loss.default(input1, input2, target, margin, 0), size_average, reduce, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _reduced(torch.ops.aten.soft_margin_loss.default(input, target, 0), size_average, reduce, reduction)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    return _reduced(torch.ops.aten.multi_margin_loss.default(input, target, p, margin, weight, 0), size_average, reduce, reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _reduced(torch.ops.aten.multilabel_margin_loss.default(input, target, 0), size_average, reduce, reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    losses = -(target * _F.logsigmoid(input) + (1 - target) * _F.logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return _reduced(losses.sum(-1) / input.shape[-1], size_average, reduce, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean"):
    return _reduced(torch.ops.aten.poisson_nll_loss.default(input, target, log_input, full, eps, 0), size_average, reduce, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean"):
    if isinstance(var, float):
        var = torch.full_like(input, var)
    if list(var.shape) != list(input.shape):
        if list(var.shape) == list(input.shape[:-1]):
            var = var.unsqueeze(-1)
        elif not (list(var.shape[:-1]) == list(input.shape[:-1]) and var.shape[-1] == 1):
            raise ValueError("var is of incorrect size")
    var = torch.clamp(var, min=eps)
    losses = 0.5 * (torch.log(var) + (input - target) * (input - target) / var)
    return _F._reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean"):
    return _reduced(torch.ops.aten.triplet_margin_loss.default(anchor, positive, negative, margin, p, eps, swap, 0), size_average, reduce, reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    apart = _F.pairwise_distance if distance_function is None else distance_function
    near, far = apart(anchor, positive), apart(anchor, negative)
    if swap:
        far = torch.minimum(far, apart(positive, negative))
    return _F._reduced(torch.clamp(margin + near - far, min=0), reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return torch.ops.aten.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, ("none", "mean", "sum").index(reduction), zero_infinity)


# --- names

# Libraries look whether a function is there before they choose between it and what they write themselves.
_public = """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d affine_grid alpha_dropout
    avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits celu celu_ channel_shuffle conv1d conv2d
    conv3d conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dropout dropout1d dropout2d
    dropout3d elu elu_ embedding embedding_bag feature_alpha_dropout fold fractional_max_pool2d fractional_max_pool3d gaussian_nll_loss gelu glu
    grid_sample group_norm grouped_mm gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss huber_loss instance_norm
    interpolate kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear linear_cross_entropy local_response_norm log_softmax logsigmoid lp_pool1d
    lp_pool2d lp_pool3d margin_ranking_loss max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mish mse_loss
    multi_head_attention_forward multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss native_channel_shuffle nll_loss normalize one_hot
    pad pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 relu_ rms_norm rrelu rrelu_ scaled_dot_product_attention
    selu selu_ sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink softsign tanh tanhshrink threshold threshold_
    triplet_margin_loss triplet_margin_with_distance_loss unfold upsample upsample_bilinear upsample_nearest
"""


def __dir__():
    return sorted(_public.split())
