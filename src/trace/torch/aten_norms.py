# SPDX-License-Identifier: Apache-2.0
# --- norms; part of aten.py's namespace


def _channels(input, value):
    return value.reshape([1, -1] + [1] * (input.dim() - 2))


def _normalized(input, mean, scale, weight, bias):
    """PyTorch computes 16-bit inputs in float32, and gives the input's type back."""
    y = (input - _channels(input, mean)) * _channels(input, scale)
    if weight is not None:
        y = y * _channels(input, weight)
    if bias is not None:
        y = y + _channels(input, bias)
    return y.to(input.dtype)


def _with_statistics(input, mean, variance, weight, bias, eps):
    """By statistics that are given. Of 16-bit inputs what is one number for a channel is computed in float32, and the result is rounded once."""
    if input.dtype not in (torch.float16, torch.bfloat16):
        return _normalized(input, mean, torch.rsqrt(variance + eps), weight, bias)
    scale = torch.rsqrt(variance.float() + eps)
    if weight is not None:
        scale = scale * weight.float()
    shift = -mean.float() * scale
    if bias is not None:
        shift = shift + bias.float()
    return (input * _channels(input, scale) + _channels(input, shift)).to(input.dtype)


def _statistics(input):
    """Of each channel, over batch and places."""
    dims = [0] + list(range(2, input.dim()))
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    return torch.ops.aten.var.correction(wide, dims, correction=0), torch.mean(wide, dims)


def _update_statistics(input, running_mean, running_var, momentum, statistics):
    """What training writes to the buffers: the variance there is the unbiased one. No gradient goes that way."""
    with torch.no_grad():
        variance, mean = statistics[0].detach(), statistics[1].detach()
        count = input.numel() // input.shape[1] if not _is_known(input.shape[1]) or input.shape[1] else 0
        running_mean.copy_((1 - momentum) * running_mean + momentum * mean)
        running_var.copy_((1 - momentum) * running_var + momentum * (variance * (count / (count - 1))))


@_aten("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor")
def _norm_except_dim(v, pow, dim):
    dims = [d for d in range(v.dim()) if dim == -1 or d != dim % v.dim()]
    norm = torch.linalg.vector_norm(v, pow, dims, dim != -1) if dims else torch.abs(v)
    return norm


@_aten("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor")
def _weight_norm(v, g, dim):
    return v * (g / _norm_except_dim(v, 2, dim))


@_aten("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)")
def _weight_norm_interface(v, g, dim):
    norm = _norm_except_dim(v.float() if v.dtype in (torch.float16, torch.bfloat16) else v, 2, dim)
    return (v * (g / norm)).to(v.dtype), norm


@_aten("aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
def _native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, momentum, eps):
    return _native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@_aten("aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)")
def _native_batch_norm_functional(input, weight, bias, running_mean, running_var, training, momentum, eps):
    mean, variance = running_mean.clone(), running_var.clone()
    return _native_batch_norm(input, weight, bias, mean, variance, training, momentum, eps) + (mean, variance)


@_aten("aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor")
def _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    return _native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@_aten("aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
def _native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    if input.dim() == 1 and input.shape[0] is 0:
        # PyTorch takes nothing for a batch of no channels.
        return input.clone(), input.new_empty([0]), input.new_empty([0])
    if training:
        statistics = _statistics(input)
        if running_mean is not None:
            _update_statistics(input, running_mean, running_var, momentum, statistics)
        return _by_own_statistics(input, statistics, weight, bias, eps)
    y = _with_statistics(input, running_mean, running_var, weight, bias, eps)
    return y, running_mean.new_empty([0]), running_mean.new_empty([0])


@_aten("aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
def _batch_norm_of_batch(input, weight, bias, training, momentum, eps):
    if not training:
        raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
    return _by_own_statistics(input, _statistics(input), weight, bias, eps)


def _by_own_statistics(input, statistics, weight, bias, eps):
    variance, mean = statistics
    scale = torch.rsqrt(variance + eps)
    # The statistics are kept in the parameters' type.
    kept = input.dtype if weight is None else weight.dtype
    return _normalized(input, mean, scale, weight, bias), mean.to(kept), scale.to(kept)


@_aten("aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
def _batch_norm_no_training(input, weight, bias, running_mean, running_var, momentum, eps):
    return _native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


@_aten("aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)")
def _batch_norm_no_update(input, weight, bias, running_mean, running_var, momentum, eps):
    return _native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps) + (running_mean.new_empty([0], dtype=torch.uint8),)


@_aten("aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)")
def _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    return _native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps) + (running_mean.new_empty([0], dtype=torch.uint8),)


@_aten("aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)")
def _batch_norm_with_update_functional(input, weight, bias, running_mean, running_var, momentum, eps):
    mean, variance = running_mean.clone(), running_var.clone()
    return _batch_norm_with_update(input, weight, bias, mean, variance, momentum, eps) + (mean, variance)


def _update_instance_statistics(input, running_mean, running_var, momentum):
    """Towards the mean over the batch of what each sample's channels have."""
    dims = list(range(2, input.dim()))
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    mean = torch.mean(wide, dims).mean(0)
    variance = torch.ops.aten.var.correction(wide, dims, correction=1).mean(0)
    running_mean.copy_((1 - momentum) * running_mean + momentum * mean)
    running_var.copy_((1 - momentum) * running_var + momentum * variance)


@_aten("aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor")
def _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    if not use_input_stats:
        return _with_statistics(input, running_mean, running_var, weight, bias, eps)
    if running_mean is not None:
        _update_instance_statistics(input, running_mean, running_var, momentum)
    return F.group_norm(input, input.shape[1], weight, bias, eps)


@_aten("aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor")
def _group_norm(input, num_groups, weight, bias, eps, cudnn_enabled):
    return F.group_norm(input, num_groups, weight, bias, eps)


@_aten("aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)")
def _native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    if N is 0:
        return input.clone(), input.new_empty([0, group]), input.new_empty([0, group])
    grouped = input.reshape([N, group, -1])
    variance, mean = torch.ops.aten.var.correction(grouped, [2], correction=0), torch.mean(grouped, [2])
    return F.group_norm(input, group, weight, bias, eps), mean, torch.rsqrt(variance + eps)


@_aten("aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)")
def _native_layer_norm(input, normalized_shape, weight, bias, eps):
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    variance, mean = torch.ops.aten.var.correction(input, dims, correction=0, keepdim=True), torch.mean(input, dims, True)
    return torch.ops.aten.layer_norm.default(input, normalized_shape, weight, bias, eps), mean, torch.rsqrt(variance + eps)


@_aten("aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)")
def _fused_rms_norm(input, normalized_shape, weight, eps):
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    least = torch.finfo(input.dtype).eps if eps is None else eps
    return torch.ops.aten.rms_norm.default(input, normalized_shape, weight, eps), torch.rsqrt(torch.mean(input * input, dims, True) + least)
