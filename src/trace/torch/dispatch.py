# SPDX-License-Identifier: Apache-2.0
"""Modes that see every operator, and what PyTorch's dispatcher writes with others before they do."""
import torch

aten = torch.ops.aten


class TorchDispatchMode:
    def __init__(self, _dispatch_key=None):
        pass

    def __enter__(self):
        _push(self)
        return self

    def __exit__(self, *exception):
        _pop()
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError("a TorchDispatchMode needs __torch_dispatch__")

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class TorchFunctionMode:
    def __enter__(self):
        _push_function(self)
        return self

    def __exit__(self, *exception):
        _pop_function()
        return False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError("a TorchFunctionMode needs __torch_function__")


def is_traceable_wrapper_subclass(t):
    return isinstance(t, torch.Tensor) and type(t) is not torch.Tensor and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def return_and_correct_aliasing(func, args, kwargs, out):
    """An operator that writes to its first tensor gives that tensor back."""
    name = func.__name__.split(".")[0]
    return args[0] if name.endswith("_") and not name.startswith("_") else out


def _linear(input, weight, bias=None):
    if input.dim() == 2:
        turned = aten.t(weight)
        return aten.mm(input, turned) if bias is None else aten.addmm(bias, input, turned)
    rows = aten.view(input, [-1, input.shape[-1]]) if input.is_contiguous() else aten.reshape(input, [-1, input.shape[-1]])
    turned = aten.t(weight)
    flat = aten.mm(rows, turned) if bias is None else aten.addmm(bias, rows, turned)
    return aten.view(flat, [*input.shape[:-1], weight.shape[0]])


def _matmul(self, other):
    ranks = (self.dim(), other.dim())
    if ranks == (2, 2):
        return aten.mm(self, other)
    if ranks == (3, 3) and self.shape[0] == other.shape[0]:
        return aten.bmm(self, other)
    return NotImplemented


def _reshape(self, shape):
    return aten.view(self, shape) if self.is_contiguous() else NotImplemented


def _to(self, *args, **kwargs):
    dtype = kwargs.get("dtype")
    for value in args:
        if isinstance(value, torch.dtype):
            dtype = value
    return NotImplemented if dtype is None or dtype == self.dtype else aten._to_copy(self, dtype=dtype)


def _softmax(self, dim, dtype=None):
    return aten._softmax(self, dim, False) if dtype is None else NotImplemented


def _log_softmax(self, dim, dtype=None):
    return aten._log_softmax(self, dim, False) if dtype is None else NotImplemented


def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    return aten.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


implicit = {"linear": _linear, "matmul": _matmul, "reshape": _reshape, "to": _to, "softmax": _softmax, "log_softmax": _log_softmax, "layer_norm": _layer_norm}
