# SPDX-License-Identifier: Apache-2.0
# Settings of torch that choose among ways to the same result. Nothing here depends on timing or on the number of threads, so that asking for
# deterministic algorithms changes nothing. Products of float32 are those of float32 unless a setting lets a device multiply tf32.
import _script
import _script_torch
import torch

_deterministic = [False, False]
_precision = ["highest"]
_threads = [_script.cpu_count()]


def use_deterministic_algorithms(mode, *, warn_only=False):
    _deterministic[:] = [bool(mode), bool(warn_only)]


def are_deterministic_algorithms_enabled():
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled():
    return _deterministic[1]


def set_float32_matmul_precision(precision):
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"Invalid float32_matmul_precision: {precision!r}, expected one of: highest, high, medium")
    _precision[0] = precision
    _truncate("products", precision != "highest")


_tf32 = {"products": False, "convolutions": False}


def _truncate(kind, yes):
    """What was recorded is computed first, as it was meant."""
    _tf32[kind] = yes
    _script_torch.truncate(_tf32["products"], _tf32["convolutions"])
    holder = torch.backends.cuda.matmul if kind == "products" else torch.backends.cudnn
    _script_torch.set_silently(holder, "allow_tf32", yes)
    _script_torch.set_silently(holder, "fp32_precision", "tf32" if yes else "ieee")


def assigned_tf32(kind, name, value):
    if name == "fp32_precision":
        if value not in ("none", "ieee", "tf32"):
            raise RuntimeError(f"Invalid fp32_precision: {value!r}, expected one of: none, ieee, tf32")
        value = value == "tf32"
    elif not isinstance(value, bool):
        raise RuntimeError(f"allow_tf32 expects a bool, got {type(value).__name__}")
    if kind == "products":
        _precision[0] = "high" if value else "highest"
    _truncate(kind, value)


def get_float32_matmul_precision():
    return _precision[0]


def set_default_dtype(d):
    """What floats are made as of which nothing else is said. Compiled programs were made under the one before."""
    torch._pellucid_default_dtype(d)
    _script_torch.reset()


def set_default_tensor_type(t):
    name = t if isinstance(t, str) else t.__name__
    name = name.rpartition(".")[2]
    kinds = {"FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16, "BFloat16Tensor": torch.bfloat16}
    if name not in kinds:
        raise TypeError("only floating-point types are supported as the default type")
    set_default_dtype(kinds[name])


def get_num_threads():
    return _threads[0]


def set_num_threads(number):
    """The pool's threads are the machine's: it is how fast something is done."""
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"set_num_threads expects an int, but got {type(number).__name__}")
    if number <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _threads[0] = number


def set_num_interop_threads(number):
    if not isinstance(number, int) or number <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")


def get_num_interop_threads():
    return 1


class _Flags:
    def __init__(self, **known):
        self.__dict__.update(known)

    def __setattr__(self, name, value):
        if name not in self.__dict__:
            raise AttributeError(f"no such setting: {name}")
        self.__dict__[name] = value


def swap_default_device(device):
    before = _script_torch.default_device()
    _script_torch.set_default(device)
    return before


def set_default_device(device):
    _script_torch.set_default(device)


def get_default_device():
    return torch.device(_script_torch.default_device() or "cpu")
