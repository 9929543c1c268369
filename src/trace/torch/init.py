# SPDX-License-Identifier: Apache-2.0
import math


def _drawn(tensor, generator, *distribution):
    if generator is not None:
        raise NotImplementedError("torch.nn.init with a generator; values are drawn from --seed")
    return _initialize(tensor, *distribution)


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    return _drawn(tensor, generator, "uniform", (b - a) / 2, (a + b) / 2)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    return _drawn(tensor, generator, "normal", std, mean)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    return _drawn(tensor, generator, "normal", std, mean, a, b)


def zeros_(tensor):
    return _initialize(tensor, "full", 0.0)


def ones_(tensor):
    return _initialize(tensor, "full", 1.0)


def constant_(tensor, val):
    return _initialize(tensor, "full", val)


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = 1
    for size in tensor.shape[2:]:
        field = field * size
    return tensor.shape[1] * field, tensor.shape[0] * field


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75, "linear": 1, "sigmoid": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return _drawn(tensor, generator, "uniform", gain * math.sqrt(6.0 / (fan_in + fan_out)), 0.0)


def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return _drawn(tensor, generator, "normal", gain * math.sqrt(2.0 / (fan_in + fan_out)), 0.0)


def _kaiming_deviation(tensor, a, mode, nonlinearity):
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan_in if mode == "fan_in" else fan_out)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return _drawn(tensor, generator, "uniform", math.sqrt(3.0) * _kaiming_deviation(tensor, a, mode, nonlinearity), 0.0)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return _drawn(tensor, generator, "normal", _kaiming_deviation(tensor, a, mode, nonlinearity), 0.0)


def orthogonal_(tensor, gain=1, generator=None):
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    return _drawn(tensor, generator, "orthogonal", gain)
