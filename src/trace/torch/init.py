# SPDX-License-Identifier: Apache-2.0
def random(tensor, *args, **kwargs):
    return _initialize(tensor)


def zeros_(tensor):
    return _initialize(tensor, 0.0)


def ones_(tensor):
    return _initialize(tensor, 1.0)


def constant_(tensor, val):
    return _initialize(tensor, val)


uniform_ = normal_ = trunc_normal_ = random
xavier_uniform_ = xavier_normal_ = kaiming_uniform_ = kaiming_normal_ = orthogonal_ = random


def _calculate_fan_in_and_fan_out(tensor):
    field = 1
    for size in tensor.shape[2:]:
        field = field * size
    return tensor.shape[1] * field, tensor.shape[0] * field


def calculate_gain(nonlinearity, param=None):
    gains = {"tanh": 5.0 / 3, "relu": 2.0**0.5, "selu": 0.75}
    return gains.get(nonlinearity, 1.0)
