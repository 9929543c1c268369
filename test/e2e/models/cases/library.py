# SPDX-License-Identifier: Apache-2.0
"""Host lines as public libraries write them around their kernels."""
import contextlib
import copy
import enum
import functools
import math
import threading
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor, nn
from torch.library import custom_op, triton_op, wrap_triton


class Mode(enum.IntEnum):
    DOUBLE = 2
    TRIPLE = 3


@triton.jit
def scale_kernel(x, y, factor, n, MODE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) * factor * MODE, i < n)


@contextlib.contextmanager
def device_context(device):
    backend = getattr(torch, torch.device(device).type, None)
    if backend is not None and hasattr(backend, "device"):
        with backend.device(device):
            yield
    else:
        yield


class Registry:
    _lock = threading.Lock()
    _made = defaultdict(list)

    @classmethod
    def mode(cls, name):
        with cls._lock:
            if name not in cls._made:
                cls._made[name].append(Mode[name.upper()])
        return cls._made[name][0]


def ensure_contiguous(function):
    @functools.wraps(function)
    def wrapper(ctx, *args, **kwargs):
        args = [arg.contiguous() if isinstance(arg, torch.Tensor) else arg for arg in args]
        return function(ctx, *args, **kwargs)

    return wrapper


class Scale(torch.autograd.Function):
    @staticmethod
    @ensure_contiguous
    def forward(ctx, x, mode):
        y = torch.empty_like(x)
        assert x.data_ptr() == x.view(-1).data_ptr() and y.data_ptr() % 16 == 0 and y.data_ptr() != x.data_ptr()
        with device_context(x.device):
            scale_kernel[(triton.cdiv(x.numel(), 64),)](x, y, 0.5, x.numel(), MODE=mode, BLOCK=64)
        ctx.save_for_backward(x)
        return y


def context_of_a_launch(x):
    return Scale.apply(x, Registry.mode("double")) + Scale.apply(x, Mode.TRIPLE)


@triton_op("library_cases::scaled", mutates_args={"out"})
def scaled(x: Tensor, bias: Tensor, out: Tensor) -> None:
    wrap_triton(scale_kernel)[(1,)](x, out, 2.0, 48, MODE=1, BLOCK=64)
    if bias is not None:
        out.add_(bias)


scaled.register_torch_dispatch(object, lambda mode, func, types, args, kwargs: func(*args, **kwargs))


def none_for_a_tensor(x, bias):
    first, second = torch.empty_like(x), torch.empty_like(x)
    with torch.library.set_wrap_triton_enabled(True):
        scaled(x, None, first)
        scaled(x, bias, second)
    return first, second


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        prototype = nn.Linear(4, 4)
        self.layers = nn.ModuleList([copy.deepcopy(prototype) for _ in range(2)])
        self.shift = nn.Buffer(torch.full((4,), 0.5))
        self.plain = torch.arange(4) * 2.0
        self.seen = deque(maxlen=1)
        self.layers[0].register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        self.layers[1].register_forward_hook(lambda module, args, out: out + self.shift)
        removed = self.layers[1].register_forward_hook(lambda module, args, out: out * 100)
        removed.remove()

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            self.seen.append(layer)
        return x + self.plain if self.seen[0] is self.layers[1] else x


class Output(OrderedDict):
    """A dict whose entries are attributes too, as model outputs are."""

    def __init_subclass__(cls):
        cls.registered = True

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                self[field.name] = value

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)


@dataclass
class Result(Output):
    hidden: torch.Tensor = None
    loss: torch.Tensor = None
    extra: torch.Tensor = None


class Lazy:
    def __getattr__(self, name):
        if name == "weight":
            return 3.0
        raise AttributeError(name)


def result_of_a_dataclass(x):
    lazy = Lazy()
    factor = lazy.weight if hasattr(lazy, "weight") and not hasattr(lazy, "bias") else 1.0
    result = Result(hidden=x * factor)
    result.loss = x.sum()
    result["extra"] = x - 1
    result.hidden = result.hidden + getattr(lazy, "bias", 1.0)
    return result


def probes(x):
    torch._check(x.shape[0] >= 1, lambda: f"no rows in {x.shape}")
    torch._check_is_size(x.shape[0])
    if torch.xpu.is_available() or torch.mps.is_available() or torch.accelerator.is_available():
        return x
    if hasattr(torch, "npu") or torch.cuda.is_available() and "A100" in torch.cuda.get_device_name(0):
        return x
    if torch.is_autocast_enabled("cuda"):
        x = x.to(torch.get_autocast_dtype("cuda"))
    return x * __import__("math").sqrt(4.0)


def floats_of_sizes(x):
    n = x.shape[0]
    mean = x.sum(0) * (1.0 / n)
    return mean, x * n**-0.5, x / math.sqrt(n + 1), torch.full((3,), n) + torch.tensor(n), torch.full_like(x, 1 / n), x.log1p() + math.log(n, 2)


def floats_of_sizes_for_kernels(x):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, y, 1.0 / x.shape[0], x.numel(), MODE=1, BLOCK=64)
    return y


def floats_of_sizes_in_half(x):
    return x.half() * (1.0 / x.shape[0]), (x.half() - x.shape[0] / 3.0).float()


def broadcast_and_squeeze(x, y):
    a, b = torch.broadcast_tensors(x, y)
    assert torch.broadcast_shapes(x.shape, y.shape) == a.shape
    return (a * b).squeeze(), x.unsqueeze(1).squeeze(1), x.squeeze(0)


def numbers_and_dicts(x, batch, pair, p, causal, mode, mask=None):
    x = x * p if causal and mode == "double" else x
    ids, (first, second) = batch["ids"], pair
    if mask is not None:
        x = x * mask
    return x[:, ids] + batch["bias"] + first * second


@triton.jit
def count_kernel(x, y, count, mean, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) / count + (count + i) % 3 + mean, i < n)


def numbers_that_tensors_hold(x, target):
    mask = target != -100
    count = mask.sum().item()
    mean = x.mean().item() / 2
    assert isinstance(count, int) and isinstance(mean, float)
    assert (target * mask).max() < 100, f"{target.max()} is no class"
    assert count > -1
    y = torch.empty_like(x)
    count_kernel[(triton.cdiv(x.numel(), 64),)](x, y, count, mean, x.numel(), BLOCK=64)
    buffer = target.clone()
    first = buffer[:1].item()
    buffer.add_(5)  # the number was read before
    halves = x.half() * mean
    return y, x.sum(0) / (count + 1), target + count, torch.full((3,), 2 * count - 1), torch.full((2,), mean), buffer * first, halves.float(), x * (count // 2), torch.tensor(count)
