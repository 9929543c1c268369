# SPDX-License-Identifier: Apache-2.0
# torch.nn.grad: the gradients of convolutions by themselves.
import torch


def _listed(value, dims):
    return [value] * dims if isinstance(value, int) else list(value)


def _gradients(dims, grad_output, input, weight, stride, padding, dilation, groups, mask):
    return torch.ops.aten.convolution_backward(
        grad_output, input, weight, None, _listed(stride, dims), _listed(padding, dims), _listed(dilation, dims), False, [0] * dims, groups, mask
    )


def _of_input(dims, input_size, weight, grad_output, stride, padding, dilation, groups):
    # Only its sizes count.
    input = grad_output.new_empty(1).expand(input_size)
    return _gradients(dims, grad_output, input, weight, stride, padding, dilation, groups, [True, False, False])[0]


def _of_weight(dims, input, weight_size, grad_output, stride, padding, dilation, groups):
    weight = grad_output.new_empty(1).expand(weight_size)
    return _gradients(dims, grad_output, input, weight, stride, padding, dilation, groups, [False, True, False])[1]


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return _of_input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return _of_weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return _of_input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return _of_weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return _of_input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return _of_weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)
