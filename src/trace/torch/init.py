# SPDX-License-Identifier: Apache-2.0
import math

import torch


def _checked(tensor):
    """What is drawn or filled is its `data`: leaves that require a gradient are initialised too."""
    if not hasattr(tensor, "uniform_"):
        raise NotImplementedError(f"torch.nn.init takes a tensor, got {type(tensor).__name__}")
    return tensor


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    _checked(tensor).data.uniform_(a, b, generator=generator)
    return tensor


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    _checked(tensor).data.normal_(mean, std, generator=generator)
    return tensor


_normal = normal_


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    _truncated_normal(_checked(tensor).data, mean, std, a, b, generator)
    return tensor


def zeros_(tensor):
    _checked(tensor).data.fill_(0.0)
    return tensor


def ones_(tensor):
    _checked(tensor).data.fill_(1.0)
    return tensor


_zeros, _ones = zeros_, ones_


def constant_(tensor, val):
    _checked(tensor).data.fill_(val)
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    if _checked(tensor).dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = 1
    for size in tensor.shape[2:]:
        field = field * size
    return tensor.shape[1] * field, tensor.shape[0] * field


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    linear = ["linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"]
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity in linear:
        return 1
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def _xavier_deviation(tensor, gain):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    bound = math.sqrt(3.0) * _xavier_deviation(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


_xavier_uniform = xavier_uniform_


def xavier_normal_(tensor, gain=1.0, generator=None):
    return normal_(tensor, 0.0, _xavier_deviation(tensor, gain), generator)


_xavier_normal = xavier_normal_


def _kaiming_deviation(tensor, a, mode, nonlinearity):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan_in if mode == "fan_in" else fan_out)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        return tensor
    return normal_(tensor, 0, _kaiming_deviation(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor, gain=1, generator=None):
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if 0 not in tensor.shape:
        _orthogonal(tensor.data, gain, generator)
    return tensor


def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    tensor.data.zero_()
    tensor.data.diagonal().fill_(1.0)
    return tensor


def dirac_(tensor, groups=1):
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    rows, middle = tensor.shape[0] // groups, tuple(size // 2 for size in tensor.shape[2:])
    tensor.data.zero_()
    for group in range(groups):
        for d in range(min(rows, tensor.shape[1])):
            tensor.data[(group * rows + d, d) + middle] = 1.0
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    none = math.ceil(sparsity * tensor.shape[0])
    tensor.data.normal_(0, std, generator=generator)
    for column in range(tensor.shape[1]):
        tensor.data[torch.randperm(tensor.shape[0])[:none], column] = 0
    return tensor


def _bounded(tensor, fan_in):
    """What recurrent and bilinear layers begin with."""
    return uniform_(tensor, -1.0 / math.sqrt(fan_in), 1.0 / math.sqrt(fan_in))


def _default_weight(tensor):
    """What Linear and the convolutions begin with."""
    return kaiming_uniform_(tensor, a=math.sqrt(5))


def _default_bias(tensor, weight):
    fan_in, _ = _calculate_fan_in_and_fan_out(weight)
    return uniform_(tensor, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in)) if fan_in > 0 else tensor
