# SPDX-License-Identifier: Apache-2.0
import math

import torch

_smaller, _larger = min, max


class _Returned(tuple):
    """Several results with names, as torch.return_types have them: a class of its own for each function."""

    _names = ()

    def __new__(cls, values):
        made = tuple.__new__(cls, tuple(values))
        for name, value in zip(cls._names, made):
            setattr(made, name, value)
        return made

    def __repr__(self):
        return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join([f"{name}={value!r}" for name, value in zip(self._names, self)]) + ")"


_return_types = {}


def _return_type(name, fields):
    made = _return_class(name)
    if not made._names:
        made._names = fields
    return made


def _return_class(name):
    """torch.return_types.<name>; its fields are known from its first result on."""
    if name not in _return_types:
        made = type(name, (_Returned,), {})
        made.__module__ = "torch.return_types"
        _return_types[name] = made
    return _return_types[name]


def _returned(name, fields, values):
    return _return_type(name, fields)(values)


def _ordered(values, indices, name):
    """Values and where they stood."""
    return _returned(name, ("values", "indices"), (values, indices))


def _wrapped(dim, rank):
    """A dim counted from the front; tensors without dims have one, as PyTorch has it."""
    rank = rank or 1
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def max(input, dim=None, keepdim=False, other=None):
    if isinstance(dim, torch.Tensor):
        other = dim
    if other is not None:
        return torch.maximum(input, other)
    if dim is None:
        return torch.ops.aten.max.default(input)
    return _ordered(*torch.ops.aten.max.dim(input, dim, keepdim), "max")


def min(input, dim=None, keepdim=False, other=None):
    if isinstance(dim, torch.Tensor):
        other = dim
    if other is not None:
        return torch.minimum(input, other)
    if dim is None:
        return torch.ops.aten.min.default(input)
    return _ordered(*torch.ops.aten.min.dim(input, dim, keepdim), "min")


def cummax(input, dim):
    return _ordered(*torch.ops.aten.cummax(input, dim), "cummax")


def cummin(input, dim):
    return _ordered(*torch.ops.aten.cummin(input, dim), "cummin")


def kthvalue(input, k, dim=-1, keepdim=False):
    return _ordered(*torch.ops.aten.kthvalue(input, k, dim, keepdim), "kthvalue")


def median(input, dim=None, keepdim=False):
    if dim is None:
        return torch.ops.aten.median.default(input)
    return _ordered(*torch.ops.aten.median.dim(input, dim, keepdim), "median")


def cartesian_prod(*tensors):
    return torch.ops.aten.cartesian_prod(list(tensors))


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    if not isinstance(input, torch.Tensor):
        input = torch.tensor(input)
    return torch.ops.aten.searchsorted.Tensor(sorted_sequence, input, out_int32=out_int32, right=right, side=side, sorter=sorter)


def bucketize(input, boundaries, *, out_int32=False, right=False):
    if not isinstance(input, torch.Tensor):
        input = torch.tensor(input)
    return torch.ops.aten.bucketize.Tensor(input, boundaries, out_int32=out_int32, right=right)


def equal(input, other):
    """Known of what is computed from the program's own numbers; a branch on other values is refused."""
    if tuple(input.shape) != tuple(other.shape):
        return False
    return bool((input == other).all())


def _variance(operator, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if isinstance(dim, int):
        dim = [dim]
    if correction is None:
        correction = 1 if unbiased else 0
    return operator(input, dim, correction=correction, keepdim=keepdim)


def std(input, dim=None, unbiased=True, keepdim=False, correction=None):
    return _variance(torch.ops.aten.std.correction, input, dim, unbiased, keepdim, correction)


def var(input, dim=None, unbiased=True, keepdim=False, correction=None):
    return _variance(torch.ops.aten.var.correction, input, dim, unbiased, keepdim, correction)


def logsumexp(input, dim, keepdim=False):
    return torch.ops.aten.logsumexp.default(input, [dim] if isinstance(dim, int) else dim, keepdim)


def norm(input, p=2, dim=None, keepdim=False):
    if input.dtype in (torch.float16, torch.bfloat16):  # whose squares do not fit
        return norm(input.float(), p, dim, keepdim).to(input.dtype)
    if p == "nuc":
        return torch.linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else tuple(dim), keepdim)
    if p == "fro":
        p = 2
    if dim is None:
        dim = list(range(input.dim()))
    if p == 1:
        return torch.sum(torch.abs(input), dim, keepdim)
    if p == float("inf"):
        return torch.amax(torch.abs(input), dim, keepdim)
    if p == float("-inf"):
        return torch.amin(torch.abs(input), dim, keepdim)
    if p == 0:
        count = torch.sum((input != 0).to(input.dtype), dim, keepdim)
        # It has a gradient in PyTorch, which is zero.
        return count + 0.0 * torch.sum(torch.sign(torch.where(torch.isfinite(input), input, 0.0)), dim, keepdim) if input.requires_grad else count
    if input.requires_grad:
        return _norm_with_gradient(input, p, dim, keepdim)
    if p != 2:
        return torch.sum(torch.abs(input) ** p, dim, keepdim) ** (1.0 / p)
    return torch.sqrt(torch.sum(input * input, dim, keepdim))


def _norm_with_gradient(input, p, dim, keepdim):
    """No power is taken of zeros, where its slope is not finite; PyTorch's gradient is zero there."""
    if p == 2:
        total = torch.sum(input * input, dim, keepdim)
    else:
        none = input == 0
        total = torch.sum(torch.where(none, 0.0 if p > 0 else float("inf"), torch.abs(torch.where(none, 1.0, input)) ** p), dim, keepdim)
    if p < 0:
        return total ** (1.0 / p)
    none = total == 0
    root = torch.where(none, 1.0, total)
    return torch.where(none, 0.0, torch.sqrt(root) if p == 2 else root ** (1.0 / p))


def _vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return norm(x if dtype is None else x.to(dtype), ord, dim, keepdim)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    return input / norm(input, p, dim, True).clamp(min=eps)


def true_divide(input, other):
    return torch.div(input, other)


def divide(input, other, rounding_mode=None):
    return torch.div(input, other) if rounding_mode is None else torch.div(input, other, rounding_mode=rounding_mode)


def multiply(input, other):
    return torch.mul(input, other)


def subtract(input, other, alpha=1):
    return torch.sub(input, other, alpha=alpha)


def negative(input):
    return torch.neg(input)


def absolute(input):
    return torch.abs(input)


def clip(input, min=None, max=None):
    return torch.clamp(input, min, max)


def greater(input, other):
    return torch.gt(input, other)


def less(input, other):
    return torch.lt(input, other)


def logsigmoid(input):
    return torch.clamp(input, max=0) - torch.log1p(torch.exp(_minus_size(input)))


def _minus_size(x):
    """-abs(x) with a slope of -1 at 0, where that of abs is none: what it stands in has a slope there."""
    return torch.where(x < 0, x, -x)


def glu(input, dim=-1):
    a, b = torch.chunk(input, 2, dim)
    return a * torch.sigmoid(b)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if (running_mean is None) != (running_var is None):
        raise ValueError("batch norm takes both running statistics or neither")
    if training or running_mean is None:
        if not training:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        if input.numel() == input.shape[1]:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        return torch.ops.aten.batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps, True)
    shape = [1, -1] + [1] * (input.dim() - 2)
    if input.dtype in (torch.float16, torch.bfloat16):
        # In float32, with one rounding at the end; what is one number for a channel is computed apart.
        scale = torch.rsqrt(running_var.float() + eps)
        if weight is not None:
            scale = scale * weight.float()
        shift = -running_mean.float() * scale
        if bias is not None:
            shift = shift + bias.float()
        return (input * scale.reshape(shape) + shift.reshape(shape)).to(input.dtype)
    y = (input - running_mean.reshape(shape)) * torch.rsqrt(running_var + eps).reshape(shape)
    if weight is not None:
        y = y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    channels, length = input.shape[1], 1
    for size in input.shape[2:]:
        length = length * size
    for what, size in (("number of channels", channels), ("HxW", length)):
        if _is_proved(input, size == 0):
            raise RuntimeError(f"Expected {what} to be greater than 0, got 0")
    grouped = input.reshape(input.shape[0], num_groups, channels // num_groups * length)
    rows, length = input.shape[0] * num_groups, grouped.shape[2]
    if _is_proved(input, length <= 32768) or _is_proved(input, rows >= 128):
        y = torch.ops.aten.layer_norm.default(grouped, [length], None, None, eps).reshape(input.shape)
    else:
        # Few long rows, each of which many programs reduce.
        centred = grouped - grouped.mean(-1, True)
        y = (centred * torch.rsqrt((centred * centred).mean(-1, True) + eps)).reshape(input.shape)
    shape = [1, channels] + [1] * (input.dim() - 2)
    if weight is not None:
        y = y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def lerp(input, end, weight):
    if isinstance(weight, torch.Tensor):
        return torch.where(weight < 0.5, input + weight * (end - input), end - (end - input) * (1 - weight))
    return input + weight * (end - input) if weight < 0.5 else end - (end - input) * (1 - weight)


def addcdiv(input, tensor1, tensor2, value=1):
    return input + value * (tensor1 / tensor2)


def frac(input):
    return input - torch.trunc(input)


def count_nonzero(input, dim=None):
    return (input != 0).sum() if dim is None else (input != 0).sum(dim)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    if not input.is_floating_point():
        return input.clone()
    nan = 0.0 if nan is None else nan
    top = torch.finfo(input.dtype).max
    input = torch.where(torch.isnan(input), nan, input)
    input = torch.where(input == float("inf"), top if posinf is None else posinf, input)
    return torch.where(input == float("-inf"), -top if neginf is None else neginf, input)


def softsign(input):
    return input / (1 + torch.abs(input))


def selu(input, inplace=False):
    if inplace:
        return input.selu_()
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return torch.nn.functional.elu(input, alpha) * scale


def celu(input, alpha=1.0, inplace=False):
    if inplace:
        return torch.celu_(input, alpha)
    return torch.ops.aten.elu(input, alpha, 1.0, 1.0 / alpha)


def hardshrink(input, lambd=0.5):
    return torch.where(torch.abs(input) <= lambd, 0.0, input)


def softshrink(input, lambd=0.5):
    return torch.where(input > lambd, input - lambd, torch.where(input < -lambd, input + lambd, 0.0 * torch.abs(input)))


def tanhshrink(input):
    return input - torch.tanh(input)


def threshold(input, threshold, value, inplace=False):
    return input.threshold_(threshold, value) if inplace else torch.where(input <= threshold, value, input)


def prelu(input, weight):
    if weight.numel() != 1:
        weight = weight.reshape([-1] + [1] * (input.dim() - 2))
    return torch.where(input > 0, input, weight * input)


def logit(input, eps=None):
    if eps is not None:
        # The lower bound first, also where it is the larger one.
        input = torch.where(input < eps, eps, torch.where(input > 1 - eps, 1 - eps, input))
    input = input if input.is_floating_point() else input.float()
    return torch.log(input / (1 - input))


def logaddexp(input, other):
    # Infinities of one sign are no distance apart; at 0 both have half of the slope, by `maximum`.
    apart = torch.where(input == other, 0.0, input - other)
    return torch.maximum(input, other) + torch.log1p(torch.exp(-torch.abs(apart)))


def xlogy(input, other):
    # Nothing times a logarithm that is no number is nothing; its slope is the logarithm where there is one.
    return input * torch.log(torch.where((input == 0) & ((other <= 0) | (other == float("inf"))), 1.0, other))


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return norm(x1 - x2 + eps, p, -1, keepdim)


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if input.dtype == torch.bool:
        input, other = input.to(torch.int64), other.to(torch.int64)
    close = (input == other) | (torch.isfinite(input) & torch.isfinite(other) & (torch.abs(input - other) <= atol + rtol * torch.abs(other)))
    return close | (torch.isnan(input) & torch.isnan(other)) if equal_nan else close


def mv(input, vec):
    return torch.matmul(input, vec)


def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = ([side] if isinstance(side, int) else list(side) for side in dims)
    if len(left) != len(right):
        raise RuntimeError(f"both dimension lists should have same length, got {len(left)} and {len(right)}")
    return torch.ops.aten.tensordot.default(a, b, left, right)


def dot(input, tensor):
    if input.dim() != 1 or tensor.dim() != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.dim()}D and {tensor.dim()}D tensors")
    return torch.matmul(input, tensor)


def baddbmm(input, batch1, batch2, beta=1, alpha=1):
    product = torch.bmm(batch1, batch2)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (input if beta == 1 else input * beta)


def _mean_of_spread(input, dim, keepdim):
    """What PyTorch's var_mean has come to: from an infinite mean it goes on by a difference that is NaN, so that one remains only where it comes last."""
    mean = torch.mean(input, dim, keepdim) if dim is not None else torch.mean(input)
    if not input.dtype.is_floating_point or input.dim() == 0 or [size for size in input.shape if size is 0]:
        return mean
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim) or list(range(input.dim()))
    if input.is_cuda:
        # Where the infinite one comes is a matter of how a device divides the elements.
        return torch.where(torch.isinf(mean), math.nan, mean)
    infinite = torch.isinf(input)
    count = infinite.sum(dims, keepdim)
    last = infinite
    for d in sorted({_wrapped(d, input.dim()) for d in dims}, reverse=True):
        last = last.narrow(d, input.shape[d] - 1, 1) if keepdim else last.select(d, -1)
    return torch.where(torch.logical_and(count > 0, torch.logical_not(torch.logical_and(count == 1, last))), math.nan, mean)


def var_mean(input, dim=None, unbiased=True, keepdim=False, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    mean = _mean_of_spread(input, dim, keepdim)  # first: it can be there with the variance
    return var(input, dim, unbiased, keepdim, correction), mean


def std_mean(input, dim=None, unbiased=True, keepdim=False, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    mean = _mean_of_spread(input, dim, keepdim)
    return std(wide, dim, unbiased, keepdim, correction).to(input.dtype), mean


def mode(input, dim=-1, keepdim=False):
    """The most frequent values, the smallest of them where several are, and where each stands last."""
    if input.dim() == 0:
        return _ordered(input.clone(), torch.zeros([], dtype=torch.int64), "mode")
    dim = _wrapped(dim, input.dim())
    if isinstance(input.shape[dim], int) and input.shape[dim] == 0:
        raise IndexError(f"mode(): Expected reduction dim {dim} to have non-zero size.")
    line, order = torch.sort(input.movedim(dim, -1), dim=-1, stable=True)
    count = line.shape[-1]
    begins = torch.cat([torch.ones_like(line[..., :1], dtype=torch.bool), line[..., 1:] != line[..., :-1]], -1)
    at = torch.arange(count)
    runs = at - torch.cummax(torch.where(begins, at, 0), -1)[0]
    place = runs.argmax(-1, keepdim=True)
    values, indices = (torch.gather(x, -1, place).movedim(-1, dim) for x in (line, order))
    return _ordered(values if keepdim else values.squeeze(dim), indices if keepdim else indices.squeeze(dim), "mode")


def _weights_of(weights, name, kind, is_kind, count):
    if weights.dim() > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions")
    if not is_kind:
        words = {torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16", torch.int64: "Long", torch.int32: "Int", torch.int16: "Short", torch.int8: "Char",
                 torch.uint8: "Byte", torch.bool: "Bool"}
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {words[weights.dtype]} dtype")
    if weights.numel() != count:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but got {weights.numel()} != {count}")
    if count > 0 and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return weights


def cov(input, *, correction=1, fweights=None, aweights=None):
    if input.dim() > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")
    if input.dtype == torch.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    rows = rows if rows.is_floating_point() else rows.float()
    count, weights = rows.shape[1], None
    if fweights is not None:
        is_whole = not fweights.is_floating_point() and fweights.dtype != torch.bool
        weights = _weights_of(fweights, "fweights", "integral", is_whole, count)
    if aweights is not None:
        aweights = _weights_of(aweights, "aweights", "floating point", aweights.is_floating_point(), count)
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        rows = rows - rows.mean(1, keepdim=True)
        return (rows @ rows.T / (count - correction if count > correction else 0)).squeeze()
    total = weights.sum()
    if bool(total == 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    rows = rows - ((rows * weights).sum(1) / total).unsqueeze(1)
    freedom = total - correction if aweights is None or correction == 0 else total - correction * (weights * aweights).sum() / total
    return (rows @ (rows * weights).T / torch.clamp(freedom, min=0)).squeeze()


def result_type(tensor1, tensor2):
    """What an operator of the two computes in; sizes do not matter, whether there are dims does."""
    with_dims = [torch.empty([0] * _smaller(x.dim(), 1), dtype=x.dtype) if isinstance(x, torch.Tensor) else x for x in (tensor1, tensor2)]
    if not isinstance(with_dims[0], torch.Tensor):
        with_dims[0] = torch.tensor(with_dims[0]) if not isinstance(with_dims[1], torch.Tensor) else with_dims[0]
    return (with_dims[0] * with_dims[1]).dtype


def promote_types(type1, type2):
    return (torch.empty([0], dtype=type1) * torch.empty([0], dtype=type2)).dtype


def can_cast(from_, to):
    if from_.is_floating_point and not to.is_floating_point:
        return False
    return to != torch.bool or from_ == torch.bool


def aminmax(input, dim=None, keepdim=False):
    dims = [] if dim is None else [dim]
    return _returned("aminmax", ("min", "max"), (torch.amin(input, dims, keepdim), torch.amax(input, dims, keepdim)))


def _linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    x, dims = A if dtype is None else A.to(dtype), [dim] if isinstance(dim, int) else dim
    if ord is not None and (A.dim() == 2 if dims is None else len(dims) == 2):
        return torch.linalg.matrix_norm(x, ord, (-2, -1) if dims is None else tuple(dims), keepdim)
    return norm(x, 2 if ord is None else ord, dim, keepdim)


def nonzero(input, as_tuple=False):
    return tuple(torch.ops.aten.nonzero_numpy.default(input)) if as_tuple else torch.ops.aten.nonzero.default(input)


def _asked(result, inverse, counts):
    """What unique() was asked for beside the elements."""
    if not inverse and not counts:
        return result[0]
    return (result[0],) + ((result[1],) if inverse else ()) + ((result[2],) if counts else ())


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        return _asked(torch.ops.aten.unique_dim.default(input, dim, sorted, return_inverse, return_counts), return_inverse, return_counts)
    return _asked(torch.ops.aten._unique2.default(input, sorted, return_inverse, return_counts), return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    return _asked(torch.ops.aten.unique_consecutive.default(input, return_inverse, return_counts, dim), return_inverse, return_counts)


def _checked_dropout(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def feature_dropout(input, p, train):
    """Whole channels."""
    _checked_dropout(p)
    if not train or p == 0.0:
        return input
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    noise = input.new_ones(list(input.shape[:2]) + [1] * (input.dim() - 2))
    return input * torch.nn.functional.dropout(noise, p, True)


def _dropout_of_channels(input, p, training, inplace, batched):
    whole = input if batched else input.unsqueeze(0)
    result = feature_dropout(whole, p, training)
    result = result if batched else result.squeeze(0)
    return input.copy_(result) if inplace and training else result


def dropout1d(input, p=0.5, training=True, inplace=False):
    _checked_dropout(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    return _dropout_of_channels(input, p, training, inplace, input.dim() == 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    return _dropout_of_channels(input, p, training, inplace, True)


def dropout3d(input, p=0.5, training=True, inplace=False):
    return _dropout_of_channels(input, p, training, inplace, input.dim() != 4)


def _alpha_dropout(input, p, training, inplace, kept):
    _checked_dropout(p)
    if not training or p == 0.0:
        return input
    alpha = 1.7580993408473766
    scale = (1.0 / math.sqrt((alpha * alpha * p + 1.0) * (1.0 - p))) if p < 1.0 else 0.0
    noise = torch.empty_like(kept).bernoulli_(1.0 - p) if torch._is_script() else torch.ops.aten.bernoulli(kept, 1.0 - p)
    result = input * (noise * scale) + ((noise - 1.0) * (alpha * scale) + alpha * scale * p)
    return input.copy_(result) if inplace else result


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _alpha_dropout(input, p, training, inplace, input)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Whole channels."""
    if training and input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    kept = input.new_ones(list(input.shape[:2]) + [1] * (input.dim() - 2)) if training else input
    return _alpha_dropout(input, p, training, inplace, kept)


def multinomial(input, num_samples, replacement=False, generator=None):
    if generator is not None and torch._is_script():
        return torch.pellucid_multinomial(input, num_samples, replacement, generator)
    if generator is not None:
        raise NotImplementedError("torch.multinomial with a generator: a program draws from the seed and offset of its run; leave generator out")
    return torch.ops.aten.multinomial(input, num_samples, replacement)


def rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False):
    # What the gradient needs of the input is not what it holds afterwards.
    kept = input.clone() if inplace and input.requires_grad else input
    if training and torch._is_script():
        # One number is drawn for each element that is not above zero.
        falls = kept.detach() <= 0
        drawn = torch.empty(int(falls.sum()), dtype=torch.float64, device=kept.device).uniform_(lower, upper).to(kept.dtype)
        result = kept * torch.ones_like(kept).masked_scatter(falls, drawn)
    else:
        result = torch.ops.aten.rrelu(kept, lower, upper, training)
    return input.copy_(result) if inplace else result


def gumbel_softmax(logits, tau=1.0, hard=False, eps=1e-10, dim=-1):
    gumbels = -torch.ops.aten.exponential(logits).log()
    soft = torch.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = torch.argmax(soft, dim, True)
    return torch.zeros_like(logits).scatter(dim, index, 1.0) - soft.detach() + soft


def _multiplies_distances(x1, x2, p, compute_mode):
    """Whether PyTorch takes distances from a product, which is less exact. Gradients are those of the differences."""
    if p != 2 or x1.requires_grad or x2.requires_grad or x1.dtype not in (torch.float32, torch.float64):
        return False
    if compute_mode in ("use_mm_for_euclid_dist", 1):
        return True
    many = [_is_known(n) and n > 25 for n in (x1.shape[-2], x2.shape[-2])]
    return compute_mode in ("use_mm_for_euclid_dist_if_necessary", 0, None) and any(many)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    if compute_mode not in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist", 0, 1, 2, None):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if _multiplies_distances(x1, x2, p, compute_mode):
        squares = (x1 * x1).sum(-1, True) + (x2 * x2).sum(-1).unsqueeze(-2)
        return (squares - 2.0 * torch.matmul(x1, x2.transpose(-1, -2))).clamp(min=0.0).sqrt()
    return norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


def _attention_that_drops(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa):
    """Step by step, so that what was dropped comes from the script's generator and is there for the gradient."""
    if is_causal and mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    kind = query.dtype
    if kind in (torch.float16, torch.bfloat16):
        query, key, value = query.float(), key.float(), value.float()
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    factor = math.sqrt(abs(scale))
    scores = torch.matmul(query * (-factor if scale < 0 else factor), (key * factor).transpose(-1, -2))
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, float("-inf")) if mask.dtype == torch.bool else scores + mask
    if mask is None:
        weights = torch.softmax(scores, -1)
    else:
        # A row that sees nothing is zero, and so is its gradient.
        blind = (scores == float("-inf")).all(-1, True)
        weights = torch.where(blind, 0.0, torch.softmax(torch.where(blind, 0.0, scores), -1))
    return torch.matmul(torch.nn.functional.dropout(weights, dropout_p, True), value).to(kind)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if isinstance(scale, torch.Tensor):
        # A scale that follows from a size which is only known when the program runs.
        query, scale = query * scale, 1.0
    if dropout_p > 0.0 and torch._is_script():
        return _attention_that_drops(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return torch.ops.aten.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)

# --- pooling


def _or_none(stride):
    return [] if stride is None else stride


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    pool = torch.ops.aten.max_pool1d_with_indices if return_indices else torch.ops.aten.max_pool1d
    return pool(input, kernel_size, _or_none(stride), padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    pool = torch.ops.aten.max_pool2d_with_indices if return_indices else torch.ops.aten.max_pool2d
    return pool(input, kernel_size, _or_none(stride), padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    pool = torch.ops.aten.max_pool3d_with_indices if return_indices else torch.ops.aten.max_pool3d
    return pool(input, kernel_size, _or_none(stride), padding, dilation, ceil_mode)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return torch.ops.aten.avg_pool1d(input, kernel_size, _or_none(stride), padding, ceil_mode, count_include_pad)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return torch.ops.aten.avg_pool2d(input, kernel_size, _or_none(stride), padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return torch.ops.aten.avg_pool3d(input, kernel_size, _or_none(stride), padding, ceil_mode, count_include_pad, divisor_override)


def _adaptive_size(input, output_size, dims):
    """None keeps a dim's size."""
    sizes = [output_size] * dims if isinstance(output_size, int) or output_size is None else list(output_size)
    return [input.shape[d - dims] if size is None else size for d, size in enumerate(sizes)]


def adaptive_avg_pool1d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool1d(input, _adaptive_size(input, output_size, 1))


def adaptive_avg_pool2d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool2d(input, _adaptive_size(input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool3d(input, _adaptive_size(input, output_size, 3))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    values, indices = torch.ops.aten.adaptive_max_pool1d(input, _adaptive_size(input, output_size, 1))
    return (values, indices) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    values, indices = torch.ops.aten.adaptive_max_pool2d(input, _adaptive_size(input, output_size, 2))
    return (values, indices) if return_indices else values


def adaptive_max_pool3d(input, output_size, return_indices=False):
    values, indices = torch.ops.aten.adaptive_max_pool3d(input, _adaptive_size(input, output_size, 3))
    return (values, indices) if return_indices else values


def erfinv(input):
    # A rational start in each range, then two steps of Newton's method.
    whole = input if input.is_floating_point() else input.to(torch.get_default_dtype())
    end = torch.abs(whole) == 1.0
    y = torch.where(end, 0.0, whole)
    z = y * y
    middle = y * (((-0.140543331 * z + 0.914624893) * z - 1.645349621) * z + 0.886226899)
    middle = middle / ((((0.012229801 * z - 0.329097515) * z + 1.442710462) * z - 2.118377725) * z + 1.0)
    z = torch.sqrt(-torch.log((1.0 - torch.abs(y)) * 0.5))
    tail = ((1.641345311 * z + 3.429567803) * z - 1.624906493) * z - 1.970840454
    tail = torch.sign(y) * tail / ((1.637067800 * z + 3.543889200) * z + 1.0)
    x = torch.where(torch.abs(y) <= 0.7, middle, tail)
    for _ in range(2):
        x = x - (torch.erf(x) - y) / (1.1283791670955126 * torch.exp(-x * x))
    return torch.where(end, whole * torch.where(end, float("inf"), 1.0), x)
