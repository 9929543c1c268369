# SPDX-License-Identifier: Apache-2.0
"""ATen's operators that are written with others: one record each, its schema and its body.

Exported programs name them, `torch.ops.aten` has them, and functions of torch call the same bodies. A body takes the
schema's arguments in order. Results that stand for what only a gradient needs are computed too; unused ones cost nothing.
"""
import math

import torch
import torch._pellucid_composites as F

_records = []


def _aten(schema):
    def record(body):
        _records.append((schema, body))
        return body

    return record


_reductions = ("none", "mean", "sum")

# What no package can compute, and why.
_draws = "no generator of a package has its distribution"
_refused = {}
for _name in ("equal", "is_nonzero"):
    _refused["aten." + _name] = "it asks for a value that is only known when the program runs"
for _name in ("binomial", "poisson", "_standard_gamma", "_sample_dirichlet"):
    _refused["aten." + _name] = _draws
for _name in ("_fft_c2c", "_fft_c2r", "_fft_r2c", "fft_fft", "fft_fft2", "fft_fftn", "fft_ifft", "fft_ifft2", "fft_ifftn", "fft_rfft", "fft_rfft2", "fft_rfftn", "fft_irfft", "fft_irfft2", "fft_irfftn", "fft_hfft", "fft_hfft2", "fft_hfftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn", "stft", "istft", "view_as_complex", "complex", "polar"):
    _refused["aten." + _name] = "its numbers are complex, which no tensor of a package holds"


# --- norms


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


def _update_statistics(input, running_mean, running_var, momentum):
    """What training writes to the buffers: the variance there is the unbiased one. No gradient goes that way."""
    with torch.no_grad():
        variance, mean = _statistics(input)
        count = input.numel() // input.shape[1] if not isinstance(input.shape[1], int) or input.shape[1] else 0
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
    if training:
        if running_mean is not None:
            _update_statistics(input, running_mean, running_var, momentum)
        return _batch_norm_of_batch(input, weight, bias, training, momentum, eps)
    y = _with_statistics(input, running_mean, running_var, weight, bias, eps)
    return y, running_mean.new_empty([0]), running_mean.new_empty([0])


@_aten("aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
def _batch_norm_of_batch(input, weight, bias, training, momentum, eps):
    if not training:
        raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
    variance, mean = _statistics(input)
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


# --- pooling


def _each(value, rank):
    """A list of one number stands for all dims."""
    value = [value] if isinstance(value, int) else list(value)
    return value * rank if len(value) == 1 else value


def _pooled_size(size, kernel, stride, padding, dilation, ceil_mode):
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return reach // stride + 1
    count = (reach + stride - 1) // stride + 1
    # The last window begins inside of the input or its padding on the left.
    return min(count, (size + padding - 1) // stride + 1)


class _Windows:
    """The windows of a pooling: for each place in a window, a view of all windows' elements there."""

    def __init__(self, input, kernel, stride, padding, dilation, ceil_mode, fill):
        rank = len(kernel)
        self.sizes = list(input.shape[-rank:])
        self.out = [_pooled_size(self.sizes[d], kernel[d], stride[d], padding[d], dilation[d], ceil_mode) for d in range(rank)]
        pads = []
        for d in reversed(range(rank)):
            after = padding[d]
            if ceil_mode:
                needed = (self.out[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1 - self.sizes[d] - padding[d]
                after = max(padding[d], needed)
            pads += [padding[d], after]
        if any(not (isinstance(p, int) and p == 0) for p in pads):
            input = F.pad(input, pads, "constant", fill)
        self.input, self.rank = input, rank
        self.stride, self.dilation = stride, dilation
        self.kernel, self.padding = kernel, padding

    def places(self):
        places = [[]]
        for size in self.kernel:
            places = [place + [i] for place in places for i in range(size)]
        return places

    def at(self, place):
        own = self.input.stride()
        lead = list(self.input.shape[: -self.rank])
        strides = list(own[: -self.rank])
        offset = self.input.storage_offset()
        for d in range(self.rank):
            step = own[len(lead) + d]
            strides.append(step * self.stride[d])
            offset = offset + step * self.dilation[d] * place[d]
        return self.input.as_strided(lead + self.out, strides, offset)

    def position(self, place):
        """The element's index in its plane."""
        index = 0
        for d in range(self.rank):
            along = torch.arange(self.out[d]) * self.stride[d] + (self.dilation[d] * place[d] - self.padding[d])
            along = along.reshape([-1] + [1] * (self.rank - 1 - d))
            index = index * self.sizes[d] + along
        return index


    def is_large(self):
        """Many places, which neighbouring windows share: one dim after another reads far less."""
        overlaps = any(k > s for k, s in zip(self.kernel, self.stride) if isinstance(s, int))
        return overlaps and (F._product(self.kernel) > 9 or max(self.kernel) > 9)

    def by_dims(self, combine, reduce):
        """What `combine` makes of all places, for what does not depend on their order: the sum of the extents is read for
        each result, not their product. Extents beyond `longest` are a reduction's."""
        x, longest = self.input, 32
        for d in reversed(range(self.rank)):
            dim = x.dim() - self.rank + d
            strides, sizes, offset = list(x.stride()), list(x.shape), x.storage_offset()
            step = strides[dim] * self.dilation[d]
            strides[dim], sizes[dim] = strides[dim] * self.stride[d], self.out[d]
            if self.kernel[d] > longest:
                x = reduce(x.as_strided(sizes + [self.kernel[d]], strides + [step], offset))
                continue
            total = x.as_strided(sizes, strides, offset)
            for i in range(1, self.kernel[d]):
                total = combine(total, x.as_strided(sizes, strides, offset + step * i))
            # In memory, so that the next dim reads results.
            x = total.clone(memory_format=torch.contiguous_format)
        return x


def _lowest(dtype):
    if dtype.is_floating_point:
        return float("-inf")
    return torch.iinfo(dtype).min


def _max_by_dims(input, kernel, stride, padding, dilation, ceil_mode):
    """One dim after another, in parts: at each place of a window those windows that have an element there, between ones that
    have none. No padding is stored. None where sizes are not known, or nothing is padded."""
    rank = len(kernel)
    known = [*input.shape[-rank:], *kernel, *stride, *padding, *dilation]
    if not all(isinstance(n, int) for n in known) or not any(padding) or max(kernel) > 8:
        return None
    fill = _lowest(input.dtype)
    for d in range(rank):
        dim, length, step = input.dim() - rank + d, input.shape[input.dim() - rank + d], stride[d]
        count = _pooled_size(length, kernel[d], step, padding[d], dilation[d], ceil_mode)
        best = None
        for place in range(kernel[d]):
            start = place * dilation[d] - padding[d]
            first, last = max(0, -(start // step)), min(count, (length - 1 - start) // step + 1)
            if first >= last:
                continue
            sizes, strides = list(input.shape), list(input.stride())
            offset = input.storage_offset() + (start + first * step) * strides[dim]
            sizes[dim], strides[dim] = last - first, strides[dim] * step
            parts = [input.as_strided(sizes, strides, offset)]
            if first > 0:
                parts = [input.new_full(sizes[:dim] + [first] + sizes[dim + 1 :], fill)] + parts
            if last < count:
                parts = parts + [input.new_full(sizes[:dim] + [count - last] + sizes[dim + 1 :], fill)]
            part = torch.cat(parts, dim) if len(parts) > 1 else parts[0]
            best = part if best is None else torch.maximum(best, part)
        input = best
    return input.clone(memory_format=torch.contiguous_format)


def _max_pool(input, rank, kernel_size, stride, padding, dilation, ceil_mode, wants_indices):
    if not wants_indices and torch.is_grad_enabled() and input.requires_grad:
        # One element of each window gets its gradient: the first of the largest.
        index = _max_pool(input.detach(), rank, kernel_size, stride, padding, dilation, ceil_mode, True)[1]
        return torch.gather(input.flatten(-rank), -1, index.flatten(-rank)).reshape(index.shape)
    kernel = _each(kernel_size, rank)
    if not wants_indices:
        best = _max_by_dims(input, kernel, _each(stride, rank) or kernel, _each(padding, rank), _each(dilation, rank), ceil_mode)
        if best is not None:
            return best
    windows = _Windows(input, kernel, _each(stride, rank) or kernel, _each(padding, rank), _each(dilation, rank), ceil_mode, _lowest(input.dtype))
    if not wants_indices and windows.is_large():
        return windows.by_dims(torch.maximum, lambda x: torch.amax(x, [-1]))
    places = windows.places()
    best = windows.at(places[0])
    if not wants_indices:
        for place in places[1:]:
            best = torch.maximum(best, windows.at(place))
        return best.clone() if len(places) == 1 else best
    index = windows.position(places[0]).expand(best.shape)
    # A window that begins in the padding: its first element that is none wins.
    for place in places[1:]:
        value = windows.at(place)
        better = (value > best) | (value != value)
        index = torch.where(better, windows.position(place), index)
        best = torch.maximum(best, value)
    return best, index


@_aten("aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor")
def _max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(self, 1, kernel_size, stride, padding, dilation, ceil_mode, False)


@_aten("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor")
def _max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode, False)


@_aten("aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor")
def _max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _max_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode, False)


def _with_indices(self, rank, kernel_size, stride, padding, dilation, ceil_mode):
    values = _max_pool(self, rank, kernel_size, stride, padding, dilation, ceil_mode, False)
    return values, _max_pool(self, rank, kernel_size, stride, padding, dilation, ceil_mode, True)[1]


@_aten("aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)")
def _max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _with_indices(self, 1, kernel_size, stride, padding, dilation, ceil_mode)


@_aten("aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)")
def _max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _with_indices(self, 2, kernel_size, stride, padding, dilation, ceil_mode)


@_aten("aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)")
def _max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return _with_indices(self, 3, kernel_size, stride, padding, dilation, ceil_mode)


def _avg_pool(input, rank, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    kernel = _each(kernel_size, rank)
    stride, padding = _each(stride, rank) or kernel, _each(padding, rank)
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    windows = _Windows(wide, kernel, stride, padding, [1] * rank, ceil_mode, 0)
    if windows.is_large():
        total = windows.by_dims(torch.add, lambda x: torch.sum(x, [-1]))
    else:
        places = windows.places()
        total = windows.at(places[0])
        for place in places[1:]:
            total = total + windows.at(place)
    if divisor_override is not None:
        return (total / divisor_override).to(input.dtype)
    padded = any(p != 0 for p in padding)
    if not ceil_mode and (count_include_pad or not padded):
        return (total / F._product(kernel)).to(input.dtype)
    count = None
    for d in range(rank):
        first = torch.arange(windows.out[d]) * stride[d] - padding[d]
        last = torch.clamp(first + kernel[d], max=windows.sizes[d] + padding[d])
        if not count_include_pad:
            last, first = torch.clamp(last, max=windows.sizes[d]), torch.clamp(first, min=0)
        along = (last - first).reshape([-1] + [1] * (rank - 1 - d))
        count = along if count is None else count * along
    return (total / count).to(input.dtype)


@_aten("aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor")
def _avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
    return _avg_pool(self, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@_aten("aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")
def _avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool(self, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@_aten("aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")
def _avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return _avg_pool(self, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _adaptive(input, output_size, reduce):
    """Each result is `reduce` of input[floor(i * n / out) : ceil((i + 1) * n / out)], one dim after another."""
    rank = len(output_size)
    for d in range(rank):
        dim = input.dim() - rank + d
        size, out = input.shape[dim], output_size[d]
        if out is None or out is size:
            continue
        if isinstance(out, int) and out == 1:
            input = reduce(input, dim, True)
            continue
        if not isinstance(size, int) or not isinstance(out, int):
            raise NotImplementedError(f"adaptive pooling from the dynamic size {size} to {out}; make that size static, or pool to 1")
        if size % out == 0:
            shape = list(input.shape)
            input = reduce(input.reshape(shape[:dim] + [out, size // out] + shape[dim + 1 :]), dim + 1, False)
            continue
        parts = []
        for i in range(out):
            start, stop = i * size // out, -(-(i + 1) * size // out)
            parts.append(reduce(input.narrow(dim, start, stop - start), dim, True))
        input = torch.cat(parts, dim)
    return input


def _mean_along(input, dim, keepdim):
    return torch.mean(input, [dim], keepdim)


@_aten("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor")
def _adaptive_avg_pool1d(self, output_size):
    return _adaptive(self, output_size, _mean_along)


@_aten("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor")
def _adaptive_avg_pool2d(self, output_size):
    # Over all places at once, as PyTorch does.
    if all(isinstance(size, int) and size == 1 for size in output_size):
        return torch.mean(self, [-2, -1], True)
    return _adaptive(self, output_size, _mean_along)


@_aten("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor")
def _adaptive_avg_pool2d_core(self, output_size):
    return _adaptive_avg_pool2d(self, output_size)


@_aten("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor")
def _adaptive_avg_pool3d(self, output_size):
    return _adaptive(self, output_size, _mean_along)


@_aten("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor")
def _adaptive_avg_pool3d_core(self, output_size):
    return _adaptive(self, output_size, _mean_along)


def _adaptive_max(input, output_size, rank):
    """Each window is gathered into one dim, whose largest element and its place are taken."""
    lead = list(input.shape[:-rank])
    sizes, windows = list(input.shape[-rank:]), [[0]]
    outs = [size if out is None else out for out, size in zip(output_size, sizes)]
    if not all(isinstance(n, int) for n in sizes + outs):
        raise NotImplementedError(f"adaptive max pooling of the dynamic sizes {sizes}; make them static")
    for size, out in zip(sizes, outs):
        spans = [list(range(i * size // out, -(-(i + 1) * size // out))) for i in range(out)]
        windows = [[p * size + q for p in window for q in span] for window in windows for span in spans]
    longest = max([len(w) for w in windows])
    # A shorter window repeats its first element, which changes neither the largest nor the first place of it.
    places = torch.tensor([w + [w[0]] * (longest - len(w)) for w in windows])
    flat = input.reshape(lead + [-1])
    taken = torch.index_select(flat, len(lead), places.reshape(-1)).reshape(lead + [len(windows), longest])
    values, which = torch.ops.aten.max.dim(taken, -1, False)
    index = torch.gather(places.expand(lead + [len(windows), longest]), len(lead) + 1, which.unsqueeze(-1)).squeeze(-1)
    return values.reshape(lead + outs), index.reshape(lead + outs)


@_aten("aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)")
def _adaptive_max_pool1d(self, output_size):
    return _adaptive_max(self, output_size, 1)


@_aten("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)")
def _adaptive_max_pool2d(self, output_size):
    return _adaptive_max(self, output_size, 2)


@_aten("aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)")
def _adaptive_max_pool3d(self, output_size):
    return _adaptive_max(self, output_size, 3)


# --- padding


def _check_padding(before, after, size, mode, dim):
    most = size - 1 if mode == "reflect" else size
    for amount in (before, after):
        if mode != "replicate" and isinstance(amount, int) and isinstance(most, int) and amount > most:
            raise RuntimeError(f"padding by '{mode}' of {amount} elements in dim {dim}, which has {size}: at most {most} are there")
    if isinstance(size, int) and size == 0:
        raise RuntimeError(f"padding by '{mode}' takes a dim with elements, and dim {dim} has none")


def _padded_by(input, pad, mode):
    """Each dim by the elements at computed places: mirrored, repeated or from the other end."""
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        before, after, size = pad[2 * i], pad[2 * i + 1], input.shape[dim]
        if isinstance(before, int) and before == 0 and isinstance(after, int) and after == 0:
            continue
        if mode == "circular":
            # What is left after cropping goes around.
            first, last = (-before if before < 0 else 0), (-after if after < 0 else 0)
            input, before, after = input.narrow(dim, first, size - first - last), max(before, 0), max(after, 0)
            size = input.shape[dim]
        _check_padding(before, after, size, mode, dim)
        place = torch.arange(-before, size + after)
        if mode == "reflect":
            place = (size - 1) - torch.abs((size - 1) - torch.abs(place))
        elif mode == "replicate":
            place = torch.clamp(place, 0, size - 1)
        else:
            place = place % size
        input = torch.index_select(input, dim, place)
    return input


@_aten("aten::pad(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor")
def _pad(self, pad, mode, value):
    if mode == "constant":
        return F.pad(self, pad, mode, value)
    return _padded_by(self, pad, mode)


@_aten("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor")
def _constant_pad_nd(self, pad, value):
    return F.pad(self, pad, "constant", value)


@_aten("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor")
def _reflection_pad1d(self, padding):
    return _padded_by(self, padding, "reflect")


@_aten("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor")
def _reflection_pad2d(self, padding):
    return _padded_by(self, padding, "reflect")


@_aten("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor")
def _reflection_pad3d(self, padding):
    return _padded_by(self, padding, "reflect")


@_aten("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor")
def _replication_pad1d(self, padding):
    return _padded_by(self, padding, "replicate")


@_aten("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor")
def _replication_pad2d(self, padding):
    return _padded_by(self, padding, "replicate")


@_aten("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor")
def _replication_pad3d(self, padding):
    return _padded_by(self, padding, "replicate")


# --- resampling


def _resampled_size(input, rank, output_size, scale_factors):
    if output_size is not None:
        return list(output_size)
    return [int(input.shape[d - rank] * scale_factors[d]) for d in range(rank)]


def _nearest(input, rank, output_size, scales):
    for d in range(rank):
        dim = input.dim() - rank + d
        size, out, scale = input.shape[dim], output_size[d], scales[d]
        whole = scale is not None and isinstance(size, int) and scale == int(scale) and out == size * int(scale)
        if whole or (isinstance(size, int) and isinstance(out, int) and out % size == 0):
            input = F.repeat_interleave(input, out // size, dim)
            continue
        step = size / out if scale is None else 1.0 / scale
        place = torch.floor(torch.arange(out, dtype=torch.float32) * step).to(torch.int64)
        input = torch.index_select(input, dim, torch.clamp(place, max=size - 1))
    return input


def _sources(size, out, align_corners, scale):
    """For each result the two elements beside its place, and the share of the second."""
    at = torch.arange(out, dtype=torch.float32)
    if align_corners:
        place = at * ((size - 1) / (out - 1)) if out != 1 else at * 0.0
    else:
        step = size / out if scale is None or scale == 0.0 else 1.0 / scale
        place = torch.clamp((at + 0.5) * step - 0.5, min=0.0)
    low = place.to(torch.int64)
    low = torch.clamp(low, max=size - 1)
    high = torch.clamp(low + 1, max=size - 1)
    return low, high, torch.clamp(place - low, 0.0, 1.0)


def _linear(input, rank, output_size, align_corners, scales):
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    for d in reversed(range(rank)):
        dim = input.dim() - rank + d
        low, high, share = _sources(input.shape[dim], output_size[d], align_corners, scales[d])
        share = share.to(wide.dtype).reshape([-1] + [1] * (rank - 1 - d))
        wide = torch.index_select(wide, dim, low) * (1.0 - share) + torch.index_select(wide, dim, high) * share
    return wide.to(input.dtype)


@_aten("aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _upsample_nearest1d(input, output_size, scale_factors):
    return _nearest(input, 1, _resampled_size(input, 1, output_size, scale_factors), scale_factors or [None])


@_aten("aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _upsample_nearest2d(input, output_size, scale_factors):
    return _nearest(input, 2, _resampled_size(input, 2, output_size, scale_factors), scale_factors or [None] * 2)


@_aten("aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")
def _upsample_nearest3d(input, output_size, scale_factors):
    return _nearest(input, 3, _resampled_size(input, 3, output_size, scale_factors), scale_factors or [None] * 3)


@_aten("aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor")
def _upsample_nearest1d_core(self, output_size, scales):
    return _nearest(self, 1, output_size, [scales])


@_aten("aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_nearest2d_core(self, output_size, scales_h, scales_w):
    return _nearest(self, 2, output_size, [scales_h, scales_w])


@_aten("aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_nearest3d_core(self, output_size, scales_d, scales_h, scales_w):
    return _nearest(self, 3, output_size, [scales_d, scales_h, scales_w])


@_aten("aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _upsample_linear1d(input, output_size, align_corners, scale_factors):
    return _linear(input, 1, _resampled_size(input, 1, output_size, scale_factors), align_corners, scale_factors or [None])


@_aten("aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _upsample_bilinear2d(input, output_size, align_corners, scale_factors):
    return _linear(input, 2, _resampled_size(input, 2, output_size, scale_factors), align_corners, scale_factors or [None] * 2)


@_aten("aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor")
def _upsample_trilinear3d(input, output_size, align_corners, scale_factors):
    return _linear(input, 3, _resampled_size(input, 3, output_size, scale_factors), align_corners, scale_factors or [None] * 3)


@_aten("aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor")
def _upsample_bilinear2d_core(self, output_size, align_corners, scales_h, scales_w):
    return _linear(self, 2, output_size, align_corners, [scales_h, scales_w])


@_aten("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor")
def _pixel_shuffle(self, upscale_factor):
    r = upscale_factor
    lead, (c, h, w) = list(self.shape[:-3]), self.shape[-3:]
    n = len(lead)
    x = self.reshape(lead + [c // (r * r), r, r, h, w])
    return torch.permute(x, list(range(n)) + [n, n + 3, n + 1, n + 4, n + 2]).reshape(lead + [c // (r * r), h * r, w * r])


@_aten("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor")
def _pixel_unshuffle(self, downscale_factor):
    r = downscale_factor
    lead, (c, h, w) = list(self.shape[:-3]), self.shape[-3:]
    n = len(lead)
    x = self.reshape(lead + [c, h // r, r, w // r, r])
    return torch.permute(x, list(range(n)) + [n, n + 2, n + 4, n + 1, n + 3]).reshape(lead + [c * r * r, h // r, w // r])


@_aten("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor")
def _channel_shuffle(self, groups):
    shape = list(self.shape)
    x = self.reshape([shape[0], groups, shape[1] // groups] + shape[2:])
    return x.transpose(1, 2).reshape(shape)


# --- lookups


def _bag_of(offsets, count, include_last_offset):
    """For each index the bag that it is in: how many offsets are not behind it, less one."""
    starts = offsets[:-1] if include_last_offset else offsets
    ones = torch.ones_like(starts)
    steps = torch.index_add(torch.zeros([count + 1], dtype=starts.dtype), 0, starts, ones)
    return torch.cumsum(steps, 0)[:count] - 1, starts


def _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx):
    count = indices.numel()
    bag, starts = _bag_of(offsets.to(torch.int64), count, include_last_offset)
    bags = starts.numel()
    rows = torch.ops.aten.embedding.default(weight, indices, -1, scale_grad_by_freq)
    if weight.dtype in (torch.float16, torch.bfloat16):
        rows = rows.float()
    counted = torch.ones([count], dtype=rows.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if padding_idx is not None and padding_idx >= 0:
        kept = indices != padding_idx
        rows, counted = torch.where(kept.unsqueeze(1), rows, 0.0), torch.where(kept, counted, 0.0)
    if mode == 2:
        return _largest_of_bags(weight, rows, counted, bag, bags), None, None, None
    out = torch.index_add(torch.zeros([bags, weight.shape[1]], dtype=rows.dtype), 0, bag, rows)
    sizes = torch.index_add(torch.zeros([bags], dtype=counted.dtype), 0, bag, counted)
    if mode == 1:
        out = out / torch.clamp(sizes, min=1.0).unsqueeze(1)
    # What only a gradient needs is not made.
    return out.to(weight.dtype), None, None, None


def _largest_of_bags(weight, rows, counted, bag, bags):
    """The largest of each column; zeros for a bag that has nothing."""
    none = torch.full([bags, weight.shape[1]], float("-inf"), dtype=rows.dtype)
    rows = torch.where((counted > 0).unsqueeze(1), rows, float("-inf"))
    largest = torch.ops.aten.scatter_reduce.two(none, 0, bag.unsqueeze(1).expand(rows.shape), rows, "amax")
    sizes = torch.index_add(torch.zeros([bags], dtype=counted.dtype), 0, bag, counted)
    return torch.where((sizes > 0).unsqueeze(1), largest, 0.0).to(weight.dtype)


@_aten("aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    if padding_idx is not None and padding_idx < 0:
        padding_idx = padding_idx + weight.shape[0]
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx)


@_aten("aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag_plain(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset):
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, None)


@_aten("aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag_core(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx)


@_aten("aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)")
def _embedding_bag_forward(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    return _bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx)


@_aten("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor")
def _one_hot(self, num_classes):
    return F.one_hot(self, num_classes)


@_aten("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor")
def _take_along_dim(self, indices, dim):
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    shape = F.broadcast_shapes(*[[1 if d == F._wrapped(dim, self.dim()) else n for d, n in enumerate(x.shape)] for x in (self, indices)])
    sizes = [[x.shape[d] if d == F._wrapped(dim, self.dim()) else n for d, n in enumerate(shape)] for x in (self, indices)]
    return self.expand(sizes[0]).gather(dim, _from_the_front(indices.expand(sizes[1]), self.shape[dim]))


def _from_the_front(indices, size):
    """Negative ones count from the end."""
    return torch.where(indices < 0, indices + size, indices)


@_aten("aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor")
def _searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    if sorter is not None:
        sorted_sequence = torch.gather(sorted_sequence, -1, sorter)
    if side is not None:
        right = side == "right"
    values = self.unsqueeze(-1)
    row = sorted_sequence if sorted_sequence.dim() == 1 else sorted_sequence.unsqueeze(-2)
    below = row <= values if right else row < values
    if self.is_floating_point():
        below = below | torch.isnan(values)  # which stands behind all numbers
    return below.sum(-1).to(torch.int32 if out_int32 else torch.int64)


@_aten("aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor")
def _bucketize(self, boundaries, out_int32, right):
    return _searchsorted(boundaries, self, out_int32, right, None, None)


@_aten("aten::take(Tensor self, Tensor index) -> Tensor")
def _take(self, index):
    torch._check_range(index, -self.numel(), self.numel(), "IndexError", f"out of range: tried to access index {{}} on a tensor of {self.numel()} elements.")
    return self.reshape(-1)[index]


@_aten("aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor")
def _unsafe_index(self, indices):
    return torch.ops.aten.index.Tensor(self, indices)


@_aten("aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor")
def _unsafe_index_put(self, indices, values, accumulate):
    return torch.ops.aten.index_put.default(self, indices, values, accumulate)


@_aten("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor")
def _masked_scatter(self, mask, source):
    shape = F.broadcast_shapes(self.shape, mask.shape)
    input, kept = self.expand(shape).reshape(-1), mask.expand(shape).reshape(-1)
    place = torch.clamp(torch.cumsum(kept.to(torch.int64), 0) - 1, min=0)
    return torch.where(kept, source.reshape(-1)[place], input).reshape(shape)


@_aten("aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor")
def _isin(elements, test_elements, assume_unique, invert):
    found = torch.any(elements.unsqueeze(-1) == test_elements.reshape(-1), -1)
    return torch.logical_not(found) if invert else found


@_aten("aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor")
def _isin_scalar(elements, test_element, assume_unique, invert):
    return elements != test_element if invert else elements == test_element


@_aten("aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor")
def _col2im(self, output_size, kernel_size, dilation, padding, stride):
    lead = self.shape[:-2]
    kh, kw = kernel_size
    height, width = output_size[0] + 2 * padding[0], output_size[1] + 2 * padding[1]
    rows = (height - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    columns = (width - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    i = (torch.arange(kh) * dilation[0]).reshape(-1, 1, 1, 1) + (torch.arange(rows) * stride[0]).reshape(1, 1, -1, 1)
    j = (torch.arange(kw) * dilation[1]).reshape(1, -1, 1, 1) + (torch.arange(columns) * stride[1]).reshape(1, 1, 1, -1)
    place = (i * width + j).reshape(-1)
    channels = self.shape[-2] // (kh * kw)
    values = self.reshape(list(lead) + [channels, kh * kw * rows * columns])
    whole = torch.zeros(list(lead) + [channels, height * width], dtype=self.dtype)
    whole = torch.index_add(whole, len(lead) + 1, place, values).reshape(list(lead) + [channels, height, width])
    return whole[..., padding[0] : height - padding[0], padding[1] : width - padding[1]].clone()


@_aten("aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor")
def _im2col(self, kernel_size, dilation, padding, stride):
    windows = _Windows(self, list(kernel_size), list(stride), list(padding), list(dilation), False, 0)
    lead = list(self.shape[:-3])
    places = torch.stack([windows.at(place) for place in windows.places()], len(lead) + 1)
    return places.reshape(lead + [self.shape[-3] * kernel_size[0] * kernel_size[1], windows.out[0] * windows.out[1]])


@_aten("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor")
def _index_fill(self, dim, index, value):
    if self.dim() == 0:
        return _index_fill(self.reshape(1), 0, index, value).reshape([])
    shape = list(self.shape)
    shape[dim] = index.numel()
    return torch.index_copy(self, dim, index.reshape(-1), value.to(self.dtype).expand(shape))


# --- losses


@_aten("aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor")
def _cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing):
    return F.cross_entropy(self, target, weight, None, ignore_index, None, _reductions[reduction], label_smoothing)


@_aten("aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor")
def _nll_loss_nd(self, target, weight, reduction, ignore_index):
    return F.nll_loss(self, target, weight, None, ignore_index, None, _reductions[reduction])


@_aten("aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor")
def _nll_loss(self, target, weight, reduction, ignore_index):
    return F.nll_loss(self, target, weight, None, ignore_index, None, _reductions[reduction])


def _nll_forward(input, target, weight, reduction, ignore_index):
    loss = F.nll_loss(input, target, weight, None, ignore_index, None, _reductions[reduction])
    kept = target != ignore_index
    counted = kept.to(input.dtype) if weight is None else torch.where(kept, weight[torch.where(kept, target, 0)], 0.0)
    return loss, counted.sum() if reduction != 0 else counted.sum() * 0.0


@_aten("aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)")
def _nll_loss_forward(self, target, weight, reduction, ignore_index):
    return _nll_forward(self, target, weight, reduction, ignore_index)


@_aten("aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)")
def _nll_loss2d_forward(self, target, weight, reduction, ignore_index):
    return _nll_forward(self, target, weight, reduction, ignore_index)


@_aten("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def _mse_loss(self, target, reduction):
    return F.mse_loss(self, target, None, None, _reductions[reduction])


@_aten("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def _l1_loss(self, target, reduction):
    return F.l1_loss(self, target, None, None, _reductions[reduction])


@_aten("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor")
def _smooth_l1_loss(self, target, reduction, beta):
    return F.smooth_l1_loss(self, target, None, None, _reductions[reduction], beta)


@_aten("aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor")
def _huber_loss(self, target, reduction, delta):
    return F.huber_loss(self, target, _reductions[reduction], delta)


@_aten("aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor")
def _binary_cross_entropy(self, target, weight, reduction):
    return F.binary_cross_entropy(self, target, weight, None, None, _reductions[reduction])


@_aten("aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor")
def _binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction):
    return F.binary_cross_entropy_with_logits(self, target, weight, None, None, _reductions[reduction], pos_weight)


@_aten("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor")
def _kl_div(self, target, reduction, log_target):
    return F.kl_div(self, target, None, None, _reductions[reduction], log_target)


@_aten("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")
def _cosine_similarity(x1, x2, dim, eps):
    return F.cosine_similarity(x1, x2, dim, eps)


def _reduced(losses, reduction):
    return losses if reduction == 0 else losses.mean() if reduction == 1 else losses.sum()


@_aten("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
def _soft_margin_loss(self, target, reduction):
    return _reduced(torch.log1p(torch.exp(-target * self)), reduction)


@_aten("aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor")
def _margin_ranking_loss(input1, input2, target, margin, reduction):
    return _reduced(torch.clamp(margin - target * (input1 - input2), min=0), reduction)


@_aten("aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor")
def _hinge_embedding_loss(self, target, margin, reduction):
    # A target that is neither counts for both.
    losses = torch.where(target != -1, self, 0.0) + torch.where(target != 1, torch.clamp(margin - self, min=0), 0.0)
    return _reduced(losses, reduction)


@_aten("aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor")
def _cosine_embedding_loss(input1, input2, target, margin, reduction):
    dim = input1.dim() - 1
    product = (input1 * input2).sum(dim)
    scale = torch.sqrt(((input1 * input1).sum(dim) + 1e-12) * ((input2 * input2).sum(dim) + 1e-12))
    cosine = product / scale
    losses = torch.where(target == 1, 1.0 - cosine, 0.0) + torch.where(target == -1, torch.clamp(cosine - margin, min=0), 0.0)
    return _reduced(losses, reduction)


@_aten("aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=1e-06, bool swap=False, int reduction=1) -> Tensor")
def _triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    near, far = F.pairwise_distance(anchor, positive, p, eps), F.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, F.pairwise_distance(positive, negative, p, eps))
    return _reduced(torch.clamp(margin + near - far, min=0), reduction)


@_aten("aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False) -> Tensor")
def _pairwise_distance(x1, x2, p, eps, keepdim):
    return F.pairwise_distance(x1, x2, p, eps, keepdim)


# --- reductions


@_aten("aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
def _var_dim(self, dim, unbiased, keepdim):
    return F.var(self, dim, unbiased, keepdim)


@_aten("aten::var(Tensor self, bool unbiased=True) -> Tensor")
def _var(self, unbiased):
    return F.var(self, None, unbiased)


@_aten("aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
def _std_dim(self, dim, unbiased, keepdim):
    return F.std(self, dim, unbiased, keepdim)


@_aten("aten::std(Tensor self, bool unbiased=True) -> Tensor")
def _std(self, unbiased):
    return F.std(self, None, unbiased)


@_aten("aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)")
def _var_mean(self, dim, correction, keepdim):
    return F.var_mean(self, dim, True, keepdim, 1 if correction is None else correction)


@_aten("aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")
def _var_mean_dim(self, dim, unbiased, keepdim):
    return F.var_mean(self, dim, unbiased, keepdim)


@_aten("aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)")
def _std_mean(self, dim, correction, keepdim):
    return F.std_mean(self, dim, True, keepdim, 1 if correction is None else correction)


@_aten("aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
def _var_mean_all(self, unbiased):
    return F.var_mean(self, None, unbiased)


@_aten("aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")
def _std_mean_dim(self, dim, unbiased, keepdim):
    return F.std_mean(self, dim, unbiased, keepdim)


@_aten("aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
def _std_mean_all(self, unbiased):
    return F.std_mean(self, None, unbiased)


def _kth(input, k, dim, keepdim):
    if input.dim() == 0:
        value, place = _kth(input.reshape(1), k, 0, False)
        return value, place
    values, places = torch.ops.aten.sort.stable(input, stable=True, dim=dim, descending=False)
    value, place = values.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1)
    return tuple(x.clone(memory_format=torch.contiguous_format) for x in ((value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))))


@_aten("aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
def _kthvalue(self, k, dim, keepdim):
    return _kth(self, k, dim, keepdim)


@_aten("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def _median_dim(self, dim, keepdim):
    if self.is_floating_point():
        # The largest elements are NaN; one of them makes the median one.
        value, place = _kth(self, (self.shape[dim] + 1) // 2, dim, True)
        last, at = _kth(self, self.shape[dim], dim, True)
        value, place = torch.where(torch.isnan(last), last, value), torch.where(torch.isnan(last), at, place)
        return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))
    return _kth(self, (self.shape[dim] + 1) // 2, dim, keepdim)


@_aten("aten::median(Tensor self) -> Tensor")
def _median(self):
    value = _median_dim(self.reshape(-1), 0, False)[0]
    if not self.requires_grad:
        return value
    # All elements that are the median share its gradient.
    value = value.detach()
    same = (self == value) & torch.isfinite(value)
    wide = torch.promote_types(self.dtype, torch.float32)  # a count of elements fits no f16
    shared = torch.where(same, self - self.detach(), 0.0).to(wide).sum() / same.sum().clamp(min=1)
    return value + shared.to(self.dtype)


def _vector_norm(x, ord, dim, keepdim, dtype):
    if dtype is not None:
        x = x.to(dtype)
    dim = list(range(x.dim())) if dim is None or len(dim) == 0 else dim
    if x.dtype in (torch.float16, torch.bfloat16):
        return F.norm(x.float(), ord, dim, keepdim).to(x.dtype)
    return F.norm(x, ord, dim, keepdim)


@_aten("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _linalg_vector_norm(self, ord, dim, keepdim, dtype):
    return _vector_norm(self, ord, dim, keepdim, dtype)


@_aten("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor")
def _norm_scalar(self, p):
    return _vector_norm(self, p, None, False, None)


@_aten("aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor")
def _norm_dim(self, p, dim, keepdim):
    return _vector_norm(self, 2 if p is None else p, dim, keepdim, None)


@_aten("aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _linalg_norm(self, ord, dim, keepdim, dtype):
    matrix = self.dim() == 2 if dim is None else len(dim) == 2
    if ord is not None and matrix:
        raise NotImplementedError(f"the matrix norm of order {ord}; the norm over all elements is there")
    return _vector_norm(self, 2 if ord is None else ord, dim, keepdim, dtype)


@_aten("aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _nansum(self, dim, keepdim, dtype):
    kept = torch.where(torch.isnan(self), 0.0, self) if self.is_floating_point() else self
    return torch.sum(kept, [] if dim is None else dim, keepdim, dtype=dtype)


@_aten("aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _nanmean(self, dim, keepdim, dtype):
    dims = [] if dim is None else dim
    count = torch.sum((self == self).to(self.dtype), dims, keepdim)
    return torch.sum(torch.where(self == self, self, 0.0), dims, keepdim, dtype=dtype) / count


@_aten("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def _safe_softmax(self, dim, dtype):
    weights = torch.ops.aten.softmax.int(self, dim, dtype)
    return torch.where((self == float("-inf")).all(dim, True), 0.0, weights)


@_aten("aten::count_nonzero(Tensor self, int? dim=None) -> Tensor")
def _count_nonzero(self, dim):
    return F.count_nonzero(self, dim)


@_aten("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor")
def _count_nonzero_dims(self, dim):
    return F.count_nonzero(self, dim)


@_aten("aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor")
def _any_dims(self, dim, keepdim):
    result = self != 0
    for d in sorted([F._wrapped(d, self.dim()) for d in (range(self.dim()) if dim is None else dim)], reverse=True):
        result = torch.any(result, d, keepdim)
    return result.to(torch.uint8) if self.dtype == torch.uint8 else result


@_aten("aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor")
def _all_dims(self, dim, keepdim):
    result = self != 0
    for d in sorted([F._wrapped(d, self.dim()) for d in (range(self.dim()) if dim is None else dim)], reverse=True):
        result = torch.all(result, d, keepdim)
    return result.to(torch.uint8) if self.dtype == torch.uint8 else result


@_aten("aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)")
def _aminmax(self, dim, keepdim):
    return F.aminmax(self, dim, keepdim)


@_aten("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor")
def _cdist(x1, x2, p, compute_mode):
    return F.cdist(x1, x2, p, compute_mode)


@_aten("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor")
def _cdist_forward(x1, x2, p, compute_mode):
    return F.cdist(x1, x2, p, compute_mode)


# --- products


@_aten("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")
def _einsum(equation, tensors, path):
    return F.einsum(equation, *tensors)


@_aten("aten::outer(Tensor self, Tensor vec2) -> Tensor")
def _outer(self, vec2):
    return F.outer(self, vec2)


@_aten("aten::mv(Tensor self, Tensor vec) -> Tensor")
def _mv(self, vec):
    return torch.matmul(self, vec)


@_aten("aten::dot(Tensor self, Tensor tensor) -> Tensor")
def _dot(self, tensor):
    if self.dim() != 1 or tensor.dim() != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.dim()}D and {tensor.dim()}D tensors")
    if self.dtype != tensor.dtype:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {self.dtype} and {tensor.dtype}")
    return torch.matmul(self, tensor)


@_aten("aten::vdot(Tensor self, Tensor other) -> Tensor")
def _vdot(self, other):
    return torch.matmul(self, other)


def _scaled_sum(input, product, beta, alpha):
    if not product.is_floating_point():
        # As PyTorch takes a factor for whole numbers.
        kind = bool if product.dtype == torch.bool else int
        beta, alpha = kind(beta), kind(alpha)
    if product.dtype == torch.bool:
        none = torch.zeros_like(product)
        return torch.logical_or(product if alpha else none, input if beta else none)
    product = product if alpha == 1 else product * alpha
    # A factor of 0 takes nothing of the input, not even NaN.
    return product if beta == 0 else product + (input if beta == 1 else input * beta)


@_aten("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor")
def _cross(self, other, dim):
    shape = F.broadcast_shapes(self.shape, other.shape)
    a, b = self.expand(shape), other.expand(shape)
    if dim is None:
        dim = [size for size in shape].index(3)
    return _linalg_cross(a, b, dim)


@_aten("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor")
def _linalg_cross(self, other, dim):
    parts = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts.append(self.select(dim, j) * other.select(dim, k) - self.select(dim, k) * other.select(dim, j))
    return torch.stack(parts, dim)


@_aten("aten::trace(Tensor self) -> Tensor")
def _trace(self):
    return F.diagonal(self).sum()


@_aten("aten::kron(Tensor self, Tensor other) -> Tensor")
def _kron(self, other):
    rank = max(self.dim(), other.dim())
    a, b = [1] * (rank - self.dim()) + list(self.shape), [1] * (rank - other.dim()) + list(other.shape)
    spread = [n for pair in zip(a, [1] * rank) for n in pair], [n for pair in zip([1] * rank, b) for n in pair]
    return (self.reshape(spread[0]) * other.reshape(spread[1])).reshape([m * n for m, n in zip(a, b)])


@_aten("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _baddbmm(self, batch1, batch2, beta, alpha):
    return _scaled_sum(self, torch.bmm(batch1, batch2), beta, alpha)


@_aten("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _addmv(self, mat, vec, beta, alpha):
    return _scaled_sum(self, torch.matmul(mat, vec), beta, alpha)


@_aten("aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _addr(self, vec1, vec2, beta, alpha):
    return _scaled_sum(self, F.outer(vec1, vec2), beta, alpha)


@_aten("aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
def _addbmm(self, batch1, batch2, beta, alpha):
    if self.is_floating_point() and self.dtype != torch.float64:
        # Rounded once, not after each product.
        wide = _scaled_sum(self.float(), torch.bmm(batch1.float(), batch2.float()).sum(0), beta, alpha)
        return wide.to(batch1.dtype)
    return _scaled_sum(self, torch.bmm(batch1, batch2).sum(0), beta, alpha)


@_aten("aten::inner(Tensor self, Tensor other) -> Tensor")
def _inner(self, other):
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    return torch.tensordot(self, other, [-1], [-1]) if self.dim() > 2 or other.dim() > 2 else torch.matmul(self, other.t() if other.dim() == 2 else other)


@_aten("aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")
def _tensordot(self, other, dims_self, dims_other):
    # A dim of one element is summed with all of the other's.
    for i, j in zip(dims_self, dims_other):
        if self.shape[i] is not other.shape[j] and self.shape[i] == 1:
            other = torch.sum(other, [j], True)
        elif self.shape[i] is not other.shape[j] and other.shape[j] == 1:
            self = torch.sum(self, [i], True)
    left, right = [F._wrapped(d, self.dim()) for d in dims_self], [F._wrapped(d, other.dim()) for d in dims_other]
    rows = [d for d in range(self.dim()) if d not in left]
    columns = [d for d in range(other.dim()) if d not in right]
    summed = F._product([self.shape[d] for d in left])
    a = torch.permute(self, rows + left).reshape([F._product([self.shape[d] for d in rows]), summed])
    b = torch.permute(other, right + columns).reshape([summed, F._product([other.shape[d] for d in columns])])
    return torch.mm(a, b).reshape([self.shape[d] for d in rows] + [other.shape[d] for d in columns])


# --- shapes


@_aten("aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor")
def _repeat_interleave(self, repeats, dim, output_size):
    return F.repeat_interleave(self, repeats, dim, output_size)


@_aten("aten::tile(Tensor self, SymInt[] dims) -> Tensor")
def _tile(self, dims):
    return F.tile(self, dims)


@_aten("aten::meshgrid(Tensor[] tensors) -> Tensor[]")
def _meshgrid(tensors):
    return F.meshgrid(tensors)


@_aten("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]")
def _meshgrid_indexing(tensors, indexing):
    return F.meshgrid(tensors, indexing=indexing)


@_aten("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor")
def _tril(self, diagonal):
    return F.tril(self, diagonal)


@_aten("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor")
def _triu(self, diagonal):
    return F.triu(self, diagonal)


@_aten("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor")
def _roll(self, shifts, dims):
    if self.dim() == 0 or any(isinstance(size, int) and size == 0 for size in self.shape):
        return self.clone()
    if len(dims) == 0:
        return F.roll(self.reshape(-1), shifts[0], 0).reshape(self.shape)
    for shift, dim in zip(shifts, dims):
        self = F.roll(self, shift, dim)
    return self


@_aten("aten::flip(Tensor self, int[] dims) -> Tensor")
def _flip(self, dims):
    return F.flip(self, dims)


@_aten("aten::fliplr(Tensor self) -> Tensor")
def _fliplr(self):
    return F.flip(self, [1])


@_aten("aten::flipud(Tensor self) -> Tensor")
def _flipud(self):
    return F.flip(self, [0])


@_aten("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor")
def _rot90(self, k, dims):
    k = k % 4
    if k == 0:
        return self.clone()
    if k == 2:
        return F.flip(self, dims)
    a, b = dims
    return F.flip(self, [b]).transpose(a, b).clone() if k == 1 else F.flip(self, [a]).transpose(a, b).clone()


@_aten("aten::diag(Tensor self, int diagonal=0) -> Tensor")
def _diag(self, diagonal):
    if self.dim() not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")
    return _diag_embed(self, diagonal, 0, 1) if self.dim() == 1 else F.diagonal(self, diagonal, 0, 1).clone()


@_aten("aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor")
def _diagonal_copy(self, offset, dim1, dim2):
    return F.diagonal(self, offset, dim1, dim2).clone()


@_aten("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
def _diagonal_scatter(self, src, offset, dim1, dim2):
    whole = self.clone()
    F.diagonal(whole, offset, dim1, dim2).copy_(src)
    return whole


@_aten("aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor")
def _as_strided_copy(self, size, stride, storage_offset):
    return self.as_strided(size, stride, self.storage_offset() if storage_offset is None else storage_offset).clone()


@_aten("aten::block_diag(Tensor[] tensors) -> Tensor")
def _block_diag(tensors):
    matrices = [t.reshape(1, -1) if t.dim() < 2 else t for t in tensors]
    width, before, rows = 0, 0, []
    for matrix in matrices:
        width = width + matrix.shape[1]
    for matrix in matrices:
        rows.append(F.pad(matrix, [before, width - before - matrix.shape[1]]))
        before = before + matrix.shape[1]
    return torch.cat(rows, 0)


@_aten("aten::cartesian_prod(Tensor[] tensors) -> Tensor")
def _cartesian_prod(tensors):
    return torch.stack([grid.reshape(-1) for grid in F.meshgrid(tensors)], 1) if len(tensors) > 1 else tensors[0]


@_aten("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)")
def _movedim(self, source, destination):
    return F.movedim(self, source, destination)


@_aten("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
def _movedims(self, source, destination):
    return F.movedim(self, source, destination)


@_aten("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)")
def _swapaxes(self, axis0, axis1):
    return torch.transpose(self, axis0, axis1)


@_aten("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
def _swapdims(self, dim0, dim1):
    return torch.transpose(self, dim0, dim1)


@_aten("aten::adjoint(Tensor(a) self) -> Tensor(a)")
def _adjoint(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::numpy_T(Tensor(a) self) -> Tensor(a)")
def _numpy_T(self):
    return torch.permute(self, list(reversed(range(self.dim()))))


@_aten("aten::mT(Tensor(a) self) -> Tensor(a)")
def _mT(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::matrix_H(Tensor(a) self) -> Tensor(a)")
def _matrix_H(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)")
def _diagonal(self, offset, dim1, dim2):
    return F.diagonal(self, offset, dim1, dim2)


@_aten("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
def _diag_embed(self, offset, dim1, dim2):
    rank = self.dim() + 1
    dim1, dim2 = F._wrapped(dim1, rank), F._wrapped(dim2, rank)
    size = self.shape[-1] + abs(offset)
    rows, columns = torch.arange(size).unsqueeze(1), torch.arange(size).unsqueeze(0)
    spread = F.pad(self, [max(offset, 0), max(-offset, 0)]).unsqueeze(-2)
    square = torch.where(columns - rows == offset, spread, torch.zeros([], dtype=self.dtype))
    return torch.movedim(square, [-2, -1], [dim1, dim2])


@_aten("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)")
def _unfold(self, dimension, size, step):
    return F.unfold(self, dimension, size, step)


@_aten("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]")
def _tensor_split_sections(self, sections, dim):
    return F.tensor_split(self, sections, dim)


@_aten("aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]")
def _tensor_split_indices(self, indices, dim):
    return F.tensor_split(self, indices, dim)


@_aten("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]")
def _unsafe_split(self, split_size, dim):
    return torch.ops.aten.split.Tensor(self, split_size, dim)


@_aten("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]")
def _unsafe_split_with_sizes(self, split_sizes, dim):
    return torch.ops.aten.split_with_sizes.default(self, split_sizes, dim)


@_aten("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")
def _unsafe_chunk(self, chunks, dim):
    return torch.chunk(self, chunks, dim)


@_aten("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]")
def _split_sizes(self, split_size, dim):
    return torch.ops.aten.split_with_sizes.default(self, split_size, dim)


@_aten("aten::hstack(Tensor[] tensors) -> Tensor")
def _hstack(tensors):
    return F.hstack(tensors)


@_aten("aten::vstack(Tensor[] tensors) -> Tensor")
def _vstack(tensors):
    return F.vstack(tensors)


@_aten("aten::column_stack(Tensor[] tensors) -> Tensor")
def _column_stack(tensors):
    return torch.cat([x.reshape(-1, 1) if x.dim() < 2 else x for x in tensors], 1)


@_aten("aten::dstack(Tensor[] tensors) -> Tensor")
def _dstack(tensors):
    return torch.cat([F.atleast_3d(x) for x in tensors], 2)


@_aten("aten::atleast_1d(Tensor self) -> Tensor")
def _atleast_1d(self):
    return F.atleast_1d(self)


@_aten("aten::atleast_2d(Tensor self) -> Tensor")
def _atleast_2d(self):
    return F.atleast_2d(self)


@_aten("aten::atleast_3d(Tensor self) -> Tensor")
def _atleast_3d(self):
    return F.atleast_3d(self)


@_aten("aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor")
def _narrow_copy(self, dim, start, length):
    return self.narrow(dim, start, length).clone()


@_aten("aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]")
def _unbind_copy(self, dim):
    return [part.clone() for part in torch.unbind(self, dim)]


@_aten("aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]")
def _split_copy(self, split_size, dim):
    return [part.clone() for part in torch.ops.aten.split.Tensor(self, split_size, dim)]


@_aten("aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]")
def _split_with_sizes_copy(self, split_sizes, dim):
    return [part.clone() for part in torch.ops.aten.split_with_sizes.default(self, split_sizes, dim)]


@_aten("aten::mH(Tensor(a) self) -> Tensor(a)")
def _mH(self):
    return torch.transpose(self, -2, -1)


@_aten("aten::concat(Tensor[] tensors, int dim=0) -> Tensor")
def _concat(tensors, dim):
    return torch.cat(tensors, dim)


@_aten("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor")
def _concatenate(tensors, dim):
    return torch.cat(tensors, dim)


@_aten("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]")
def _broadcast_tensors(tensors):
    return F.broadcast_tensors(tensors)


@_aten("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)")
def _broadcast_to(self, size):
    return self.expand(size)


@_aten("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor")
def _unsafe_view(self, size):
    return self.view(size)


@_aten("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)")
def _reshape_as(self, other):
    return self.reshape(other.shape)


@_aten("aten::ravel(Tensor(a) self) -> Tensor(a)")
def _ravel(self):
    return self.reshape(-1)


@_aten("aten::unsqueeze_copy(Tensor self, int dim) -> Tensor")
def _unsqueeze_copy(self, dim):
    return self.unsqueeze(dim).clone()


@_aten("aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor")
def _expand_copy(self, size, implicit):
    return self.expand(size).clone()


@_aten("aten::view_copy(Tensor self, SymInt[] size) -> Tensor")
def _view_copy(self, size):
    return self.reshape(size).clone()


@_aten("aten::permute_copy(Tensor self, int[] dims) -> Tensor")
def _permute_copy(self, dims):
    return torch.permute(self, dims).clone()


@_aten("aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor")
def _transpose_copy(self, dim0, dim1):
    return torch.transpose(self, dim0, dim1).clone()


@_aten("aten::t_copy(Tensor self) -> Tensor")
def _t_copy(self):
    return self.t().clone()


@_aten("aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor")
def _select_copy(self, dim, index):
    return torch.select(self, dim, index).clone()


@_aten("aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor")
def _slice_copy(self, dim, start, end, step):
    return torch.ops.aten.slice.Tensor(self, dim, start, end, step).clone()


@_aten("aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor")
def _squeeze_copy(self, dim):
    return self.squeeze(dim).clone()


@_aten("aten::alias_copy(Tensor self) -> Tensor")
def _alias_copy(self):
    return self.clone()


@_aten("aten::lift_fresh_copy(Tensor self) -> Tensor")
def _lift_fresh_copy(self):
    return self.clone()


@_aten("aten::lift_fresh(Tensor(a) self) -> Tensor(a)")
def _lift_fresh(self):
    return self


@_aten("aten::resolve_conj(Tensor(a) self) -> Tensor(a)")
def _resolve_conj(self):
    return self


@_aten("aten::resolve_neg(Tensor(a) self) -> Tensor(a)")
def _resolve_neg(self):
    return self


@_aten("aten::conj(Tensor(a) self) -> Tensor(a)")
def _conj(self):
    return self


@_aten("aten::real(Tensor(a) self) -> Tensor(a)")
def _real(self):
    return self


@_aten("aten::positive(Tensor(a) self) -> Tensor(a)")
def _positive(self):
    return self


@_aten("aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
def _diff(self, n, dim, prepend, append):
    parts = [x for x in (prepend, self, append) if x is not None]
    return F.diff(torch.cat(parts, dim) if len(parts) > 1 else self, n, dim)


# --- recurrent layers


def _lstm_cell(gates, state):
    i, f, g, o = torch.chunk(gates, 4, 1)
    cell = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return [torch.sigmoid(o) * torch.tanh(cell), cell]


def _projected_lstm_step(x, state, weights):
    hidden, cell = _lstm_step(x, state, weights)
    return [torch.nn.functional.linear(hidden, weights[-1]), cell]


def _recurrent(input, hidden, params, has_biases, num_layers, bidirectional, batch_first, step, dropout):
    """`step` makes the new state of a layer of its input's share, its hidden state and its weights. Between layers
    `dropout` drops elements."""
    steps = input.shape[1 if batch_first else 0]
    if not isinstance(steps, int):
        raise NotImplementedError(f"a recurrent layer over the dynamic length {steps}; make that size static")
    x = [torch.select(input, 1 if batch_first else 0, t) for t in range(steps)]
    ways = 2 if bidirectional else 1
    per = len(params) // (num_layers * ways)
    last = []
    for layer in range(num_layers):
        outputs = []
        for way in range(ways):
            index = layer * ways + way
            weights = list(params[index * per : (index + 1) * per])
            weights = weights if has_biases else weights[:2] + [None, None] + weights[2:]
            state = [h[index] for h in hidden]
            made = []
            for t in reversed(range(steps)) if way else range(steps):
                state = step(x[t], state, weights)
                made.append(state[0])
            outputs.append(list(reversed(made)) if way else made)
            last.append(state)
        x = outputs[0] if ways == 1 else [torch.cat([a, b], 1) for a, b in zip(outputs[0], outputs[1])]
        if dropout and layer < num_layers - 1:
            x = list(torch.unbind(torch.nn.functional.dropout(torch.stack(x), dropout, True)))
    finals = [torch.stack([state[i] for state in last]) for i in range(len(hidden))]
    return torch.stack(x, 1 if batch_first else 0), finals


def _lstm_step(x, state, weights):
    gates = torch.nn.functional.linear(x, weights[0], weights[2]) + torch.nn.functional.linear(state[0], weights[1], weights[3])
    return _lstm_cell(gates, state)


def _gru_step(x, state, weights):
    a = torch.nn.functional.linear(x, weights[0], weights[2])
    b = torch.nn.functional.linear(state[0], weights[1], weights[3])
    (ar, az, an), (br, bz, bn) = torch.chunk(a, 3, 1), torch.chunk(b, 3, 1)
    r, z = torch.sigmoid(ar + br), torch.sigmoid(az + bz)
    new = torch.tanh(an + r * bn)
    return [new + z * (state[0] - new)]


def _tanh_step(x, state, weights):
    return [torch.tanh(torch.nn.functional.linear(x, weights[0], weights[2]) + torch.nn.functional.linear(state[0], weights[1], weights[3]))]


def _relu_step(x, state, weights):
    return [torch.relu(torch.nn.functional.linear(x, weights[0], weights[2]) + torch.nn.functional.linear(state[0], weights[1], weights[3]))]


@_aten("aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)")
def _lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    # An odd one among a layer's weights is its projection.
    step = _projected_lstm_step if len(params) // (num_layers * (2 if bidirectional else 1)) % 2 else _lstm_step
    out, (hidden, cell) = _recurrent(input, hx, params, has_biases, num_layers, bidirectional, batch_first, step, dropout if train else 0.0)
    return out, hidden, cell


@_aten("aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")
def _gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    out, finals = _recurrent(input, [hx], params, has_biases, num_layers, bidirectional, batch_first, _gru_step, dropout if train else 0.0)
    return out, finals[0]


@_aten("aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")
def _rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    out, finals = _recurrent(input, [hx], params, has_biases, num_layers, bidirectional, batch_first, _tanh_step, dropout if train else 0.0)
    return out, finals[0]


@_aten("aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")
def _rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    out, finals = _recurrent(input, [hx], params, has_biases, num_layers, bidirectional, batch_first, _relu_step, dropout if train else 0.0)
    return out, finals[0]


@_aten("aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)")
def _lstm_cell_call(input, hx, w_ih, w_hh, b_ih, b_hh):
    hidden, cell = _lstm_step(input, list(hx), [w_ih, w_hh, b_ih, b_hh])
    return hidden, cell


@_aten("aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor")
def _gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _gru_step(input, [hx], [w_ih, w_hh, b_ih, b_hh])[0]


@_aten("aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor")
def _rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _tanh_step(input, [hx], [w_ih, w_hh, b_ih, b_hh])[0]


@_aten("aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor")
def _rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _relu_step(input, [hx], [w_ih, w_hh, b_ih, b_hh])[0]


# --- factories


@_aten("aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _eye(n, dtype, layout, device, pin_memory):
    return F.eye(n, None, dtype, device)


@_aten("aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _eye_m(n, m, dtype, layout, device, pin_memory):
    return F.eye(n, m, dtype, device)


@_aten("aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _linspace(start, end, steps, dtype, layout, device, pin_memory):
    return F.linspace(start, end, steps, dtype, device)


def _triangle(row, col, offset, lower, dtype, device):
    places = [[i, j] for i in range(row) for j in range(col) if (j - i <= offset if lower else j - i >= offset)]
    return torch.tensor([[p[0] for p in places], [p[1] for p in places]], dtype=torch.int64 if dtype is None else dtype, device=device)


@_aten("aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _tril_indices(row, col, offset, dtype, layout, device, pin_memory):
    return _triangle(row, col, offset, True, dtype, device)


@_aten("aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _triu_indices(row, col, offset, dtype, layout, device, pin_memory):
    return _triangle(row, col, offset, False, dtype, device)


@_aten("aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _empty_permuted(size, physical_layout, dtype, layout, device, pin_memory):
    inner = torch.empty([size[d] for d in physical_layout], dtype=dtype, device=device)
    return torch.permute(inner, [physical_layout.index(d) for d in range(len(size))])


@_aten("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _new_empty_strided(self, size, stride, dtype, layout, device, pin_memory):
    return torch.ops.aten.empty_strided.default(size, stride, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device)


# --- element by element



@_aten("aten::max.other(Tensor self, Tensor other) -> Tensor")
def _max_other(self, other):
    return torch.maximum(self, other)


@_aten("aten::min.other(Tensor self, Tensor other) -> Tensor")
def _min_other(self, other):
    return torch.minimum(self, other)


@_aten("aten::glu(Tensor self, int dim=-1) -> Tensor")
def _glu(self, dim):
    return F.glu(self, dim)


@_aten("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor")
def _celu(self, alpha):
    return F.celu(self, alpha)


@_aten("aten::selu(Tensor self) -> Tensor")
def _selu(self):
    return F.selu(self)


@_aten("aten::prelu(Tensor self, Tensor weight) -> Tensor")
def _prelu(self, weight):
    return F.prelu(self, weight)


@_aten("aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor")
def _prelu_kernel(self, weight):
    return torch.where(self > 0, self, weight * self)


@_aten("aten::log_sigmoid(Tensor self) -> Tensor")
def _log_sigmoid(self):
    return F.logsigmoid(self)


@_aten("aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)")
def _log_sigmoid_forward(self):
    return F.logsigmoid(self), self.new_empty([0])


@_aten("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
def _softshrink(self, lambd):
    return F.softshrink(self, lambd)


@_aten("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
def _hardshrink(self, lambd):
    return F.hardshrink(self, lambd)


@_aten("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor")
def _threshold(self, threshold, value):
    return F.threshold(self, threshold, value)


@_aten("aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor")
def _nan_to_num(self, nan, posinf, neginf):
    return F.nan_to_num(self, nan, posinf, neginf)


@_aten("aten::isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor")
def _isclose(self, other, rtol, atol, equal_nan):
    return F.isclose(self, other, rtol, atol, equal_nan)


@_aten("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor")
def _lerp_scalar(self, end, weight):
    return F.lerp(self, end, weight)


@_aten("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor")
def _lerp(self, end, weight):
    return F.lerp(self, end, weight)


@_aten("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
def _addcdiv(self, tensor1, tensor2, value):
    return F.addcdiv(self, tensor1, tensor2, value)


@_aten("aten::frac(Tensor self) -> Tensor")
def _frac(self):
    return F.frac(self)


@_aten("aten::logaddexp(Tensor self, Tensor other) -> Tensor")
def _logaddexp(self, other):
    return F.logaddexp(self, other)


@_aten("aten::round.decimals(Tensor self, *, int decimals) -> Tensor")
def _round_decimals(self, decimals):
    if not self.is_floating_point():
        raise NotImplementedError(f"round of {self.dtype} takes no decimals; convert the tensor to a floating type")
    scale = 10.0 ** abs(decimals)
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    return (torch.round(wide * scale) / scale if decimals >= 0 else torch.round(wide / scale) * scale).to(self.dtype)


@_aten("aten::isreal(Tensor self) -> Tensor")
def _isreal(self):
    return torch.ones_like(self, dtype=torch.bool)


@_aten("aten::angle(Tensor self) -> Tensor")
def _angle(self):
    return torch.where(torch.isnan(self), self, torch.where(self < 0, math.pi, 0.0).to(self.dtype))


@_aten("aten::logaddexp2(Tensor self, Tensor other) -> Tensor")
def _logaddexp2(self, other):
    top = torch.maximum(self, other)
    return torch.where(self == other, self + 1.0, top + torch.log2(1.0 + torch.exp2(-torch.abs(self - other))))


@_aten("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor")
def _ldexp(self, other):
    factor = torch.pow(2.0, other)
    return self * (factor.to(self.dtype) if self.is_floating_point() and not other.is_floating_point() else factor)


@_aten("aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
def _float_power(self, exponent):
    return torch.pow(self.to(torch.float64), exponent.to(torch.float64))


@_aten("aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
def _float_power_scalar(self, exponent):
    return torch.pow(self.to(torch.float64), exponent)


@_aten("aten::sinc(Tensor self) -> Tensor")
def _sinc(self):
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    angle = wide * math.pi
    result = torch.where(wide == 0, 1.0, torch.sin(angle) / torch.where(wide == 0, 1.0, angle))
    return result.to(self.dtype) if self.is_floating_point() else result


@_aten("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor")
def _xlogy(self, other):
    return F.xlogy(self, other)


@_aten("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor")
def _xlogy_other(self, other):
    return F.xlogy(self, torch.full([], other, dtype=self.dtype))


@_aten("aten::logit(Tensor self, float? eps=None) -> Tensor")
def _logit(self, eps):
    return F.logit(self if self.is_floating_point() else self.float(), eps)


@_aten("aten::sgn(Tensor self) -> Tensor")
def _sgn(self):
    return torch.sign(self)


@_aten("aten::signbit(Tensor self) -> Tensor")
def _signbit(self):
    if not self.is_floating_point():
        return self < 0
    return (self < 0) | ((self == 0) & (1.0 / self < 0))


@_aten("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor")
def _copysign(self, other):
    common = (self + other).dtype
    self = self.to(common if common.is_floating_point else torch.float32)
    return torch.where(_signbit(other), -torch.abs(self), torch.abs(self))


@_aten("aten::heaviside(Tensor self, Tensor values) -> Tensor")
def _heaviside(self, values):
    return torch.where(self == 0, values, torch.where(torch.isnan(self), self, (self > 0).to(self.dtype)))


@_aten("aten::fmax(Tensor self, Tensor other) -> Tensor")
def _fmax(self, other):
    return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.maximum(self, other)))


@_aten("aten::fmin(Tensor self, Tensor other) -> Tensor")
def _fmin(self, other):
    return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.minimum(self, other)))


@_aten("aten::isneginf(Tensor self) -> Tensor")
def _isneginf(self):
    return self == float("-inf")


@_aten("aten::isposinf(Tensor self) -> Tensor")
def _isposinf(self):
    return self == float("inf")


@_aten("aten::deg2rad(Tensor self) -> Tensor")
def _deg2rad(self):
    return self * (math.pi / 180.0)


@_aten("aten::rad2deg(Tensor self) -> Tensor")
def _rad2deg(self):
    return self * (180.0 / math.pi)


@_aten("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor")
def _masked_fill(self, mask, value):
    return torch.where(mask, value.to(self.dtype), self)


@_aten("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor")
def _fill(self, value):
    return value.to(self.dtype).expand(self.shape).clone()


@_aten("aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor")
def _true_divide(self, other):
    return torch.div(self, other)


@_aten("aten::divide.Tensor(Tensor self, Tensor other) -> Tensor")
def _divide(self, other):
    return torch.div(self, other)


@_aten("aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor")
def _multiply(self, other):
    return torch.mul(self, other)


@_aten("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
def _subtract(self, other, alpha):
    return torch.sub(self, other, alpha=alpha)


@_aten("aten::negative(Tensor self) -> Tensor")
def _negative(self):
    return torch.neg(self)


@_aten("aten::absolute(Tensor self) -> Tensor")
def _absolute(self):
    return torch.abs(self)


@_aten("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor")
def _clip(self, min, max):
    return torch.clamp(self, min, max)


@_aten("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor")
def _clamp_max(self, max):
    return torch.minimum(self, max)


@_aten("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor")
def _clamp_min(self, min):
    return torch.maximum(self, min)


@_aten("aten::greater.Tensor(Tensor self, Tensor other) -> Tensor")
def _greater(self, other):
    return torch.gt(self, other)


@_aten("aten::less.Tensor(Tensor self, Tensor other) -> Tensor")
def _less(self, other):
    return torch.lt(self, other)


@_aten("aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor")
def _left_shift_scalar(self, other):
    return torch.bitwise_left_shift(self, other)


@_aten("aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor")
def _right_shift_scalar(self, other):
    return torch.bitwise_right_shift(self, other)


@_aten("aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor")
def _lshift_scalar(self, other):
    return torch.bitwise_left_shift(self, other)


@_aten("aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor")
def _lshift(self, other):
    return torch.bitwise_left_shift(self, other)


@_aten("aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor")
def _rshift_scalar(self, other):
    return torch.bitwise_right_shift(self, other)


@_aten("aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor")
def _rshift(self, other):
    return torch.bitwise_right_shift(self, other)


@_aten("aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor")
def _and_scalar(self, other):
    return torch.bitwise_and(self, other)


@_aten("aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor")
def _or_scalar(self, other):
    return torch.bitwise_or(self, other)


@_aten("aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor")
def _xor_scalar(self, other):
    return torch.bitwise_xor(self, other)


@_aten("aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor")
def _and(self, other):
    return torch.bitwise_and(self, other)


@_aten("aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor")
def _or(self, other):
    return torch.bitwise_or(self, other)


@_aten("aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor")
def _xor(self, other):
    return torch.bitwise_xor(self, other)


@_aten("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor")
def _remainder_scalar(self, other):
    return torch.ops.aten.remainder.Tensor(self, other)


@_aten("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor")
def _feature_dropout(input, p, train):
    return F.feature_dropout(input, p, train)


@_aten("aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor")
def _feature_alpha_dropout(input, p, train):
    return torch.nn.functional.feature_alpha_dropout(input, p, train)


@_aten("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor")
def _alpha_dropout(input, p, train):
    return F.alpha_dropout(input, p, train)


def _cumulative(probabilities):
    sums = torch.cumsum(probabilities, -1)
    return sums / sums[..., -1:]


def _asserted(holds, text):
    """Raised as PyTorch's own in a script, and an assertion of a program."""
    if torch._is_script():
        torch._check_all(holds, "RuntimeError", text)
    else:
        torch._assert_async(holds, text)


@_aten("aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor")
def _multinomial(self, num_samples, replacement, generator):
    if self.dim() not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    _asserted(torch.logical_and(wide >= 0, wide < float("inf")).all(), "probability tensor contains either `inf`, `nan` or element < 0")
    _asserted((wide.sum(-1) > 0).all(), "invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if num_samples == 1 or not replacement:
        waits = torch.ops.aten.exponential(wide)
        return torch.argmax(wide / waits, -1, True) if num_samples == 1 else torch.topk(wide / waits, num_samples)[1]
    # PyTorch draws doubles here, whatever the weights are.
    drawn = torch.rand(list(self.shape[:-1]) + [num_samples], dtype=torch.float64)
    return (_cumulative(wide).unsqueeze(-2) < drawn.unsqueeze(-1)).sum(-1)


def _drawn(self):
    """What the elements of a draw are computed in."""
    return self if self.dtype in (torch.float32, torch.float64) else torch.empty(self.shape, dtype=torch.float32)


@_aten("aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor")
def _geometric(self, p, generator):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    waits = torch.ceil(torch.ops.aten.exponential(_drawn(self)) / -math.log1p(-p))
    return torch.clamp(waits, min=1).to(self.dtype)


@_aten("aten::log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor")
def _log_normal(self, mean, std, generator):
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return torch.exp(torch.randn(self.shape, dtype=_drawn(self).dtype) * std + mean).to(self.dtype)


@_aten("aten::cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor")
def _cauchy(self, median, sigma, generator):
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    turn = torch.ops.aten.uniform(_drawn(self)) - 0.5
    return (torch.tan(turn * math.pi) * sigma + median).to(self.dtype)


@_aten("aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)")
def _rrelu_with_noise(self, noise, lower, upper, training, generator):
    if not training:
        return torch.nn.functional.leaky_relu(self, (lower + upper) / 2), noise
    noise = torch.where(self <= 0, torch.ops.aten.uniform(self, lower, upper), 1.0)
    return self * noise, noise


@_aten("aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor")
def _rrelu(self, lower, upper, training, generator):
    if not training:
        return torch.nn.functional.leaky_relu(self, (lower + upper) / 2)
    return _rrelu_with_noise(self, None, lower, upper, training, None)[0]
