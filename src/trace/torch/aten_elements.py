# SPDX-License-Identifier: Apache-2.0
# --- element by element; part of aten.py's namespace


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
    if not self.is_floating_point():
        return torch.where(self < 0, math.pi, 0.0).to(torch.float32)
    return torch.where(torch.isnan(self), self, torch.where(self < 0, math.pi, 0.0).to(self.dtype))


@_aten("aten::logaddexp2(Tensor self, Tensor other) -> Tensor")
def _logaddexp2(self, other):
    # As logaddexp: half of the slope for each where they are the same.
    apart = torch.where(self == other, 0.0, self - other)
    return torch.maximum(self, other) + torch.log2(1.0 + torch.exp2(-torch.abs(apart)))


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
    self = self.to(common if common.is_floating_point else torch.get_default_dtype())
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
