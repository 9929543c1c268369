# SPDX-License-Identifier: Apache-2.0
"""The derivative of every operator: for each differentiable argument the gradient that goes to it, as a function of
what its parameters name. `grad` is the gradient of the result, `grads` those of all results, `result` the result itself;
other names are the operator's arguments, and `self_sizes`, `self_strides`, `self_offset`, `self_dtype` what is known of
one without its elements. What a function names is kept until then, so it names no more than it needs.

Gradients are summed over broadcast dims and converted to their tensor's type afterwards. `_of` has tensors of 16 bits
handed over as float32; `_moves` does not: nothing is computed there. `_joint` gives the gradients of several arguments
at once, None for those that `needs` does not ask for. Results of what `_none` names require no gradient.
"""
import math

import torch

_table = {}


def _of(*targets, node=None, **formulas):
    for target in targets:
        _table["aten." + target] = (node, True, formulas)


def _moves(*targets, node=None, **formulas):
    for target in targets:
        _table["aten." + target] = (node, False, formulas)


def _joint(target, arguments, function, node=None, wide=True):
    _table[target if "." in target and target.startswith("pellucid") else "aten." + target] = (node, wide, {",".join(arguments): function})


def _none(*targets):
    for target in targets:
        _table[target if target.startswith("pellucid") else "aten." + target] = (None, False, {})


def _zero(grad):
    return torch.zeros_like(grad)


def _number(value):
    return not isinstance(value, torch.Tensor)


# --- arithmetic

_of("abs.default", self=lambda grad, self: grad * torch.sign(self))
_of("acos.default", self=lambda grad, self: grad * -torch.rsqrt(1 - self * self))
_of("acosh.default", self=lambda grad, self: grad * torch.rsqrt(self * self - 1))
_moves("add.Tensor", self=lambda grad: grad, other=lambda grad, alpha: _scaled(grad, alpha))
_moves("add.Scalar", node="AddBackward1", self=lambda grad: grad)
_of(
    "addcmul.default",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * tensor2 * value,
    tensor2=lambda grad, tensor1, value: grad * tensor1 * value,
)
_of("asin.default", self=lambda grad, self: grad * torch.rsqrt(1 - self * self))
_of("asinh.default", self=lambda grad, self: grad * torch.rsqrt(self * self + 1))
_of("atan.default", self=lambda grad, self: grad / (self * self + 1))
_of(
    "atan2.default",
    self=lambda grad, self, other: _or_zero(grad * other / (self * self + other * other), (self == 0) & (other == 0)),
    other=lambda grad, self, other: _or_zero(grad * -self / (self * self + other * other), (self == 0) & (other == 0)),
)
_of("atanh.default", self=lambda grad, self: grad / (1 - self * self))
_moves("ceil.default", "floor.default", "round.default", "sign.default", "trunc.default", self=_zero)
_of(
    "clamp.Tensor",
    node="ClampBackward0",
    self=lambda grad, self, min, max: _of_clamped(grad, self, min, max),
    min=lambda grad, self, min, max: _of_lower(grad, self, min, max),
    max=lambda grad, self, min, max: _of_upper(grad, self, min, max),
)
_of("clamp.default", node="ClampBackward1", self=lambda grad, self, min, max: torch.where(_inside(self, min, max), grad, 0.0))
_of("clamp_max.default", self=lambda grad, self, max: torch.where(self < max, grad, 0.0))
_of("clamp_min.default", self=lambda grad, self, min: torch.where(self > min, grad, 0.0))
_of("cos.default", self=lambda grad, self: grad * -torch.sin(self))
_of("cosh.default", self=lambda grad, self: grad * torch.sinh(self))
_of("div.Tensor", self=lambda grad, other: grad / other, other=lambda grad, self, other: -grad * ((self / other) / other))
_of("div.Scalar", node="DivBackward1", self=lambda grad, other: grad / other)
_of(
    "div.Tensor_mode",
    node="DivBackward2",
    self=lambda grad, other, rounding_mode: grad / other if rounding_mode is None else _zero(grad),
    other=lambda grad, self, other, rounding_mode: -grad * ((self / other) / other) if rounding_mode is None else _zero(grad),
)
_of("div.Scalar_mode", node="DivBackward3", self=lambda grad, other, rounding_mode: grad / other if rounding_mode is None else _zero(grad))
_of("erf.default", self=lambda grad, self: 2.0 / math.sqrt(math.pi) * torch.exp(-self * self) * grad)
_of("erfc.default", self=lambda grad, self: -2.0 / math.sqrt(math.pi) * torch.exp(-self * self) * grad)
_of("exp.default", self=lambda grad, result: grad * result)
_of("exp2.default", self=lambda grad, result: grad * result * math.log(2.0))
_of("expm1.default", self=lambda grad, result: grad * (result + 1))
_none("floor_divide.default")
_of("fmod.Scalar", self=lambda grad: grad)
_of("fmod.Tensor", node="FmodBackward1", self=lambda grad: grad, other=lambda grad, self, other: -grad * torch.trunc(self / other))
_of("hypot.default", self=lambda grad, self, result: grad * (self / result), other=lambda grad, other, result: grad * (other / result))
_of("log.default", self=lambda grad, self: grad / self)
_of("log10.default", self=lambda grad, self: grad / (self * math.log(10.0)))
_of("log1p.default", self=lambda grad, self: grad / (self + 1))
_of("log2.default", self=lambda grad, self: grad / (self * math.log(2.0)))
_of(
    "maximum.default",
    self=lambda grad, self, other: _share(grad, self == other, self < other),
    other=lambda grad, self, other: _share(grad, self == other, self > other),
)
_of(
    "minimum.default",
    self=lambda grad, self, other: _share(grad, self == other, self > other),
    other=lambda grad, self, other: _share(grad, self == other, self < other),
)
_of("mul.Tensor", self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
_of("mul.Scalar", node="MulBackward1", self=lambda grad, other: grad * other)
_moves("neg.default", self=lambda grad: -grad)
_of("pow.Tensor_Scalar", self=lambda grad, self, exponent: _of_power(grad, self, exponent))
_of(
    "pow.Tensor_Tensor",
    node="PowBackward1",
    self=lambda grad, self, exponent: _of_base(grad, self, exponent),
    exponent=lambda grad, self, exponent, result: _of_exponent(grad, self, exponent, result),
)
_of("pow.Scalar", node="PowBackward2", exponent=lambda grad, self, exponent, result: _of_fixed_base(grad, self, exponent, result))
_of("reciprocal.default", self=lambda grad, result: -grad * (result * result))
_of("remainder.Scalar", self=lambda grad: grad)
_of("remainder.Tensor", node="RemainderBackward1", self=lambda grad: grad, other=lambda grad, self, other: -grad * torch.floor(self / other))
_of("rsqrt.default", self=lambda grad, result: -0.5 * grad * (result * result * result))
_moves("rsub.Scalar", node="RsubBackward1", self=lambda grad, alpha: -_scaled(grad, alpha))
_moves("rsub.Tensor", self=lambda grad, alpha: -_scaled(grad, alpha), other=lambda grad: grad)
_of("sin.default", self=lambda grad, self: grad * torch.cos(self))
_of("sinh.default", self=lambda grad, self: grad * torch.cosh(self))
_of("sqrt.default", self=lambda grad, result: grad / (2 * result))
_of("square.default", node="PowBackward0", self=lambda grad, self: 2 * grad * self)
_moves("sub.Tensor", self=lambda grad: grad, other=lambda grad, alpha: -_scaled(grad, alpha))
_moves("sub.Scalar", node="SubBackward1", self=lambda grad: grad)
_of("tan.default", self=lambda grad, result: grad * (1 + result * result))
_of("tanh.default", self=lambda grad, result: grad * (1 - result * result))
_joint(
    "pellucid.affine.default",
    ["self", "scale", "shift"],
    lambda grad, self, scale, needs: (grad * scale, grad * self if needs[1] else None, grad),
)


def _scaled(grad, alpha):
    return grad if _number(alpha) and alpha == 1 else grad * alpha


def _or_zero(gradient, where):
    return torch.where(where, 0.0, gradient)


def _inside(self, low, high):
    """A bound itself is outside, as PyTorch has it since 2.15."""
    if low is None:
        return self < high
    return self > low if high is None else (self > low) & (self < high)


def _share(grad, equal, loses):
    """Halves where both are the same; of NaN each has all."""
    return torch.where(loses, 0.0, torch.where(equal, grad * 0.5, grad))


def _of_clamped(grad, self, low, high):
    if low is None:
        return _share(grad, self == high, self > high)
    if high is None:
        return _share(grad, self == low, self < low)
    return _share(grad, (self == low) != (self == high), (self < low) | (self > high) | (high < low))


def _of_lower(grad, self, low, high):
    if high is None:
        return _share(grad, self == low, self > low)
    return torch.where((self < low) & (low <= high), grad, torch.where((self == low) & (low < high), grad * 0.5, 0.0))


def _of_upper(grad, self, low, high):
    if low is None:
        return _share(grad, self == high, self < high)
    return torch.where((self > high) | (high < low), grad, torch.where((self == high) & (low < high), grad * 0.5, 0.0))


def _of_power(grad, self, exponent):
    if exponent == 0.0:
        return torch.zeros_like(grad)
    return grad * (exponent * torch.pow(self, exponent - 1))


def _of_base(grad, self, exponent):
    if _number(exponent):
        return _of_power(grad, self, exponent)
    return torch.where(exponent == 0.0, 0.0, grad * (exponent * torch.pow(self, exponent - 1)))


def _of_exponent(grad, self, exponent, result):
    if _number(self):
        return _of_fixed_base(grad, self, exponent, result)
    return grad * torch.where((self == 0) & (exponent >= 0), 0.0, result * torch.log(self))


def _of_fixed_base(grad, self, exponent, result):
    if self == 0:
        return grad * torch.where(exponent >= 0, 0.0, result * float("-inf"))
    return grad * (result * (math.log(self) if self > 0 else float("nan")))


# --- selection

_none(
    "eq.Scalar", "eq.Tensor", "ge.Scalar", "ge.Tensor", "gt.Scalar", "gt.Tensor", "le.Scalar", "le.Tensor", "lt.Scalar", "lt.Tensor", "ne.Scalar", "ne.Tensor",
    "isfinite.default", "isinf.default", "isnan.default", "logical_and.default", "logical_not.default", "logical_or.default", "logical_xor.default",
    "bitwise_and.Scalar", "bitwise_and.Tensor", "bitwise_left_shift.Scalar", "bitwise_left_shift.Tensor", "bitwise_not.default", "bitwise_or.Scalar",
    "bitwise_or.Tensor", "bitwise_right_shift.Scalar", "bitwise_right_shift.Tensor", "bitwise_xor.Scalar", "bitwise_xor.Tensor", "where.Scalar",
    "all.default", "all.dim", "any.default", "any.dim", "argmax.default", "argmin.default", "argsort.default", "_assert_async.default", "_assert_async.msg",
)

_moves("masked_fill.Scalar", self=lambda grad, mask: torch.where(mask, 0.0, grad))
_moves("where.self", self=lambda grad, condition: torch.where(condition, grad, 0.0), other=lambda grad, condition: torch.where(condition, 0.0, grad))
_moves("where.ScalarOther", self=lambda grad, condition: torch.where(condition, grad, 0.0))
_moves("where.ScalarSelf", other=lambda grad, condition: torch.where(condition, 0.0, grad))

# --- activations

_of("elu.default", self=lambda grad, self, alpha, scale, input_scale: torch.where(self > 0, grad * scale, grad * (input_scale * alpha * scale) * torch.exp(self * input_scale)))
_of("gelu.default", self=lambda grad, self, approximate: _of_gelu(grad, self, approximate))
_of("hardsigmoid.default", self=lambda grad, self: torch.where((self > -3.0) & (self < 3.0), grad / 6.0, 0.0))
_of("hardswish.default", self=lambda grad, self: torch.where(self <= -3.0, 0.0, torch.where(self < 3.0, grad * (self / 3.0 + 0.5), grad)))
_of("hardtanh.default", self=lambda grad, self, min_val, max_val: torch.where((self > min_val) & (self < max_val), grad, 0.0))
_of("leaky_relu.default", self=lambda grad, self, negative_slope: torch.where(self > 0, grad, grad * negative_slope))
_of("mish.default", self=lambda grad, self: _of_mish(grad, self))
_of("relu.default", self=lambda grad, result: torch.where(result > 0, grad, 0.0))
_of("relu6.default", node="HardtanhBackward0", self=lambda grad, self: torch.where((self > 0.0) & (self < 6.0), grad, 0.0))
_of("sigmoid.default", self=lambda grad, result: grad * ((1 - result) * result))
_of("silu.default", self=lambda grad, self: _of_silu(grad, self))
_of("softplus.default", self=lambda grad, self, beta, threshold: torch.where(self * beta > threshold, grad, grad * torch.sigmoid(self * beta)))


def _of_gelu(grad, self, approximate):
    if approximate == "none":
        density = torch.exp(self * self * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
        return grad * (0.5 * (1.0 + torch.erf(self * math.sqrt(0.5))) + self * density)
    slope = math.sqrt(2.0 / math.pi)
    cube = self * self * self
    bent = torch.tanh(slope * (self + 0.044715 * cube))
    inner = slope * (1.0 + 3.0 * 0.044715 * self * self)
    return grad * (0.5 * (1.0 + bent) + 0.5 * self * (1.0 - bent * bent) * inner)


def _of_mish(grad, self):
    bent = torch.tanh(torch.nn.functional.softplus(self))
    return grad * (bent + self * torch.sigmoid(self) * (1.0 - bent * bent))


def _of_silu(grad, self):
    gate = torch.sigmoid(self)
    return grad * (gate * (1.0 + self * (1.0 - gate)))


# --- reductions

_of("amax.default", "amin.default", self=lambda grad, self, dim, keepdim, result: _of_extremes(grad, self, dim, keepdim, result))
_of("max.default", "min.default", node=None, self=lambda grad, self, result: _of_chosen_values(grad, self, result))
_of("logsumexp.default", self=lambda grad, self, dim, keepdim, result: _of_logsumexp(grad, self, dim, keepdim, result))
_moves("sum.default", self=lambda grad, self_sizes: grad.expand(self_sizes))
_moves("sum.dim_IntList", node="SumBackward1", self=lambda grad, self_sizes, dim, keepdim: _unreduced(grad, dim, keepdim, len(self_sizes)).expand(self_sizes))
# Divided when it is as large: as in PyTorch the gradient is dense, and a kernel may write into it.
_moves("mean.default", self=lambda grad, self_sizes: grad.expand(self_sizes) / _count(self_sizes, []))
_moves(
    "mean.dim",
    node="MeanBackward1",
    self=lambda grad, self_sizes, dim, keepdim: _unreduced(grad, dim, keepdim, len(self_sizes)).expand(self_sizes) / _count(self_sizes, dim),
)
_of("prod.default", self=lambda grad, self: (grad * _others(self.reshape([-1]), 0)).reshape(self.shape))
_of("prod.dim_int", node="ProdBackward1", self=lambda grad, self, dim, keepdim: _unreduced(grad, [dim], keepdim, self.dim()) * _others(self, dim))
_of("std.correction", self=lambda grad, self, dim, correction, keepdim, result: _of_deviation(grad, self, dim, correction, keepdim, result))
_of("var.correction", self=lambda grad, self, dim, correction, keepdim: _of_variance(grad, self, dim, correction, keepdim))


def _dims(dim, rank):
    """The dims that are reduced: all where none is named."""
    if dim is None or (isinstance(dim, (list, tuple)) and len(dim) == 0):
        return list(range(rank))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return [d % rank if rank else 0 for d in dims]


def _unreduced(x, dim, keepdim, rank):
    if keepdim or rank == 0:
        return x
    for d in sorted(_dims(dim, rank)):
        x = x.unsqueeze(d)
    return x


def _count(sizes, dim):
    count = 1
    if len(sizes):
        for d in _dims(dim, len(sizes)):
            count = count * sizes[d]
    return count


def _of_logsumexp(grad, self, dim, keepdim, result):
    rank = self.dim()
    return _unreduced(grad, dim, keepdim, rank) * torch.exp(self - _unreduced(result, dim, keepdim, rank))


def _of_extremes(grad, self, dim, keepdim, result):
    """Shared by all that are the largest."""
    dims = _dims(dim, self.dim())
    equal = self == _unreduced(result, dim, keepdim, self.dim())
    count = torch.sum(equal, dims, True) if dims else 1
    # Where NaN is the largest, nothing equals it: 0 / 0, as in PyTorch.
    return torch.where(equal, _unreduced(grad, dim, keepdim, self.dim()), 0.0) / count


def _of_chosen_values(grad, self, result):
    """Shared by all that are the same as the one of all elements that was chosen, NaN among them."""
    equal = (self == result) | (torch.isnan(self) & torch.isnan(result))
    return torch.where(equal, grad / torch.sum(equal), 0.0)


def _others(x, dim):
    """For each element the product of the others along `dim`, where some are zero too."""
    if x.dim() == 0:
        return torch.ones_like(x)
    ones = torch.ones_like(x.narrow(dim, 0, 1)) if _at_least_one(x, dim) else None
    if ones is None:
        return torch.zeros_like(x)
    before = torch.cumprod(torch.cat([ones, x.narrow(dim, 0, x.shape[dim] - 1)], dim), dim)
    turned = torch.flip(x, [dim])
    after = torch.flip(torch.cumprod(torch.cat([ones, turned.narrow(dim, 0, x.shape[dim] - 1)], dim), dim), [dim])
    return before * after


def _at_least_one(x, dim):
    return x.shape[dim] != 0


def _of_variance(grad, self, dim, correction, keepdim):
    rank = self.dim()
    dims = _dims(dim, rank)
    freedom = _count(self.shape, dim) - (1 if correction is None else correction)
    centred = self - torch.mean(self, dims, True) if rank else self - self
    scale = (2.0 / freedom) if not isinstance(freedom, (int, float)) or freedom > 0 else float("nan")
    return _unreduced(grad, dim, keepdim, rank) * (scale * centred)


def _of_deviation(grad, self, dim, correction, keepdim, result):
    return _of_variance(torch.where(result == 0, 0.0, grad / (2 * result)), self, dim, correction, keepdim)


# --- rows

_of("_log_softmax.default", self=lambda grad, dim, result: grad - torch.exp(result) * torch.sum(grad, dim, True))
_of("log_softmax.int", node="LogSoftmaxBackward0", self=lambda grad, dim, result: grad - torch.exp(result) * torch.sum(grad, dim, True))
_of("_softmax.default", self=lambda grad, dim, result: result * (grad - torch.sum(grad * result, dim, True)))
_of("softmax.int", node="SoftmaxBackward0", self=lambda grad, dim, result: result * (grad - torch.sum(grad * result, dim, True)))
_joint(
    "layer_norm.default",
    ["input", "weight", "bias"],
    lambda grad, input, weight, normalized_shape, eps, needs: _of_layer_norm(grad, input, weight, normalized_shape, eps, needs),
    node="NativeLayerNormBackward0",
)
_joint(
    "rms_norm.default",
    ["input", "weight"],
    lambda grad, input, weight, normalized_shape, eps, needs, input_dtype: _of_rms_norm(grad, input, weight, normalized_shape, eps, needs, input_dtype),
    node="FusedRmsNormBackward0",
)


def _row_dims(x, shape):
    return list(range(x.dim() - len(shape), x.dim())), list(range(x.dim() - len(shape)))


def _of_layer_norm(grad, input, weight, shape, eps, needs):
    inner, outer = _row_dims(input, shape)
    centred = input - torch.mean(input, inner, True)
    scale = torch.rsqrt(torch.mean(centred * centred, inner, True) + eps)
    normal = centred * scale
    of_input = of_weight = of_bias = None
    if needs[0]:
        scaled = grad if weight is None else grad * weight
        of_input = scale * (scaled - torch.mean(scaled, inner, True) - normal * torch.mean(scaled * normal, inner, True))
    if needs[1]:
        of_weight = torch.sum(grad * normal, outer) if outer else grad * normal
    if needs[2]:
        of_bias = torch.sum(grad, outer) if outer else grad
    return of_input, of_weight, of_bias


def _of_rms_norm(grad, input, weight, shape, eps, needs, dtype):
    inner, outer = _row_dims(input, shape)
    if eps is None:
        eps = torch.finfo(dtype if dtype == torch.float64 else torch.float32).eps
    scale = torch.rsqrt(torch.mean(input * input, inner, True) + eps)
    normal = input * scale
    of_input = of_weight = None
    if needs[0]:
        scaled = grad if weight is None else grad * weight
        of_input = scale * (scaled - normal * torch.mean(scaled * normal, inner, True))
    if needs[1]:
        of_weight = torch.sum(grad * normal, outer) if outer else grad * normal
    return of_input, of_weight


# --- lines

_moves("cumsum.default", self=lambda grad, dim: _from_the_end(grad, dim))
_of("cumprod.default", self=lambda grad, self, dim: _of_cumprod(grad, self, dim))


def _from_the_end(grad, dim):
    if grad.dim() == 0:
        return grad
    return torch.flip(torch.cumsum(torch.flip(grad, [dim]), dim), [dim])


def _of_cumprod(grad, self, dim):
    """d result[j] / d self[i] is the product of self[:j + 1] without self[i], for i <= j."""
    if self.dim() == 0:
        return grad
    x, g = torch.movedim(self, dim, -1), torch.movedim(grad, dim, -1)
    n = x.shape[-1]
    j = torch.arange(n, device=x.device)
    i = j.unsqueeze(1)
    # Row i has a one in the place of x[i].
    rows = torch.where(i == j, 1.0, x.unsqueeze(-2))
    products = torch.where(i <= j, torch.cumprod(rows, -1), 0.0)
    return torch.movedim(torch.sum(products * g.unsqueeze(-2), -1), -1, dim)


# --- products

_moves(
    "addmm.default",
    self=lambda grad, beta: _scaled(grad, beta),
    mat1=lambda grad, mat2, alpha: _scaled(torch.mm(grad, mat2.t()), alpha),
    mat2=lambda grad, mat1, alpha: _scaled(torch.mm(mat1.t(), grad), alpha),
)
_moves("bmm.default", self=lambda grad, mat2: torch.bmm(grad, mat2.transpose(1, 2)), mat2=lambda grad, self: torch.bmm(self.transpose(1, 2), grad))
_moves("mm.default", self=lambda grad, mat2: torch.mm(grad, mat2.t()), mat2=lambda grad, self: torch.mm(self.t(), grad))
_moves(
    "linear.default",
    node="AddmmBackward0",
    input=lambda grad, weight: torch.matmul(grad, weight) if weight.dim() == 2 else grad.unsqueeze(-1) * weight,
    weight=lambda grad, input, weight_sizes: _of_weight(grad, input, weight_sizes),
    bias=lambda grad, bias_sizes: grad.reshape([-1, grad.shape[-1]]).sum(0) if len(bias_sizes) and grad.dim() else grad,
)
_moves("matmul.default", node="UnsafeViewBackward0", self=lambda grad, other, self_sizes: _of_left(grad, other, self_sizes), other=lambda grad, self, other_sizes: _of_right(grad, self, other_sizes))


def _of_weight(grad, input, sizes):
    if len(sizes) == 1:
        return (grad.unsqueeze(-1) * input).reshape([-1, sizes[0]]).sum(0)
    rows = grad.reshape([-1, sizes[0]])
    return torch.mm(rows.t(), input.reshape([-1, sizes[1]]))


def _lines(x, length):
    """Its rows, one after another; of none there is nothing that says how many."""
    if length is 0:
        return x.flatten(0, -2) if x.dim() > 1 else x.unsqueeze(0)
    return x.reshape([-1, length])


def _of_left(grad, other, sizes):
    rank = len(sizes)
    if rank == 1 and other.dim() == 1:
        return grad * other
    if other.dim() == 1:
        return grad.unsqueeze(-1) * other
    if rank == 1:
        # [k] @ [.., k, n]: the gradient has no rows.
        return _lines(torch.matmul(other, grad.unsqueeze(-1)).squeeze(-1), sizes[0]).sum(0)
    if rank > 2 and other.dim() == 2:
        return torch.matmul(grad, other.t())
    if rank == 2 and other.dim() > 2:
        n = other.shape[-1]
        rows = _lines(grad.transpose(-1, -2), sizes[0])
        columns = _lines(other.transpose(-1, -2), sizes[1])
        return torch.mm(rows.t(), columns)
    return torch.matmul(grad, other.transpose(-1, -2))


def _of_right(grad, self, sizes):
    rank = len(sizes)
    if rank == 1 and self.dim() == 1:
        return grad * self
    if rank == 1:
        return _lines(self * grad.unsqueeze(-1), sizes[0]).sum(0)
    if self.dim() == 1:
        return self.unsqueeze(-1) * grad.unsqueeze(-2)
    if self.dim() > 2 and rank == 2:
        return torch.mm(_lines(self, sizes[0]).t(), _lines(grad, sizes[1]))
    return torch.matmul(self.transpose(-1, -2), grad)


# --- attention

_joint(
    "scaled_dot_product_attention.default",
    ["query", "key", "value", "attn_mask"],
    lambda grad, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, needs: _of_attention(
        grad, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, needs
    ),
)
_joint(
    "_scaled_dot_product_flash_attention_for_cpu.default",
    ["query", "key", "value", "attn_mask"],
    lambda grad, query, key, value, attn_mask, dropout_p, is_causal, scale, needs: _of_attention(grad, query, key, value, attn_mask, dropout_p, is_causal, scale, False, needs),
)


def _of_attention(grad, query, key, value, mask, dropout_p, is_causal, scale, enable_gqa, needs):
    if dropout_p > 0.0:
        raise NotImplementedError("the derivative of scaled_dot_product_attention with dropout needs what the forward pass dropped; write the dropout out")
    groups = 1
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query, key.transpose(-1, -2)) * factor
    rows, columns = query.shape[-2], key.shape[-2]
    if is_causal:
        row, column = torch.arange(rows, device=grad.device), torch.arange(columns, device=grad.device)
        scores = torch.where(row.unsqueeze(1) >= column, scores, float("-inf"))
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf")) if mask.dtype == torch.bool else scores + mask
    # A row that attends to nothing gives zeros.
    top = torch.amax(scores, -1, True)
    weights = torch.exp(scores - torch.where(torch.isinf(top), 0.0, top))
    total = torch.sum(weights, -1, True)
    weights = weights / torch.where(total == 0, 1.0, total)
    of_value = torch.matmul(weights.transpose(-1, -2), grad)
    of_weights = torch.matmul(grad, value.transpose(-1, -2))
    of_scores = weights * (of_weights - torch.sum(of_weights * weights, -1, True))
    of_query = torch.matmul(of_scores, key) * factor if needs[0] else None
    of_key = torch.matmul(of_scores.transpose(-1, -2), query) * factor if needs[1] else None
    if groups != 1:
        of_key = None if of_key is None else _summed_groups(of_key, groups)
        of_value = _summed_groups(of_value, groups)
    return of_query, of_key, of_value if needs[2] else None, of_scores if needs[3] else None


def _summed_groups(x, groups):
    sizes = list(x.shape)
    return x.reshape(sizes[:-3] + [sizes[-3] // groups, groups] + sizes[-2:]).sum(-3)
