# SPDX-License-Identifier: Apache-2.0
"""torch.amp: the types that operators compute in, and the scale of gradients."""
import warnings
import torch
from functools import wraps

_defaults = {"cpu": torch.bfloat16, "cuda": torch.float16}


class autocast:
    """Which operator computes in which type is PyTorch's own list for the device. What it casts is cast at every use: nothing is kept
    between them (`cache_enabled`), as the values are the same."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in _defaults:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and dtype not in (torch.bfloat16, torch.float16) and not (device_type == "cuda" and dtype == torch.float32):
            warnings.warn(f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.")
            enabled = False
        self.device, self.fast_dtype, self._enabled = device_type, dtype, bool(enabled)
        self._before = []

    def __enter__(self):
        self._before.append(_autocast_state(self.device))
        _set_autocast(self.device, self._enabled, self.fast_dtype)
        return self

    def __exit__(self, *exception):
        enabled, dtype = self._before.pop()
        _set_autocast(self.device, enabled, dtype)
        return False

    def __call__(self, func):
        @wraps(func)
        def within(*args, **kwargs):
            with autocast(self.device, self.fast_dtype, self._enabled):
                return func(*args, **kwargs)

        return within


class _cuda_autocast(autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


class _cpu_autocast(autocast):
    def __init__(self, enabled=True, dtype=torch.bfloat16, cache_enabled=True):
        super().__init__("cpu", dtype, enabled, cache_enabled)


def is_autocast_enabled(device_type="cuda"):
    return _autocast_state(device_type)[0]


def is_autocast_cpu_enabled():
    return is_autocast_enabled("cpu")


def get_autocast_dtype(device_type):
    return _autocast_state(device_type)[1] or _defaults[device_type]


def get_autocast_gpu_dtype():
    return get_autocast_dtype("cuda")


def get_autocast_cpu_dtype():
    return get_autocast_dtype("cpu")


def set_autocast_enabled(device_type, enabled=None):
    if enabled is None:
        device_type, enabled = "cuda", device_type
    _set_autocast(device_type, enabled, get_autocast_dtype(device_type))


def set_autocast_dtype(device_type, dtype):
    _set_autocast(device_type, is_autocast_enabled(device_type), dtype)


def is_autocast_available(device_type):
    return device_type in _defaults


def _cast(value, dtype):
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() and value.dtype != torch.float64 else value
    if isinstance(value, dict):
        return {key: _cast(one, dtype) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([_cast(one, dtype) for one in value])
    return value


def custom_fwd(fwd=None, *, device_type="cuda", cast_inputs=None):
    if fwd is None:
        return lambda function: custom_fwd(function, device_type=device_type, cast_inputs=cast_inputs)

    @wraps(fwd)
    def forward(ctx, *args, **kwargs):
        ctx._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None or not is_autocast_enabled(device_type):
            ctx._fwd_used_autocast = is_autocast_enabled(device_type)
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd=None, *, device_type="cuda"):
    if bwd is None:
        return lambda function: custom_bwd(function, device_type=device_type)

    @wraps(bwd)
    def backward(ctx, *args, **kwargs):
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return backward


class GradScaler:
    """Whether a step is taken depends on the gradients' values, so that it is for scripts."""

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._device, self._enabled = str(device), enabled
        self._scale, self._growth_factor, self._backoff_factor, self._growth_interval, self._growth_tracker = init_scale, growth_factor, backoff_factor, growth_interval, 0
        self._unscaled, self._found = {}, {}

    def scale(self, outputs):
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            return outputs * self._scale
        return type(outputs)([self.scale(one) for one in outputs])

    def unscale_(self, optimizer):
        if not self._enabled:
            return
        if id(optimizer) in self._unscaled:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        found = False
        with torch.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype == torch.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    p.grad.mul_(1.0 / self._scale)
                    found = found or not bool(torch.isfinite(p.grad).all())
        self._unscaled[id(optimizer)] = True
        self._found[id(optimizer)] = found

    def step(self, optimizer, *args, **kwargs):
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                grown = self._scale * self._growth_factor
                self._scale, self._growth_tracker = grown if grown < 3.4028234663852886e38 else self._scale, 0
        self._unscaled, self._found = {}, {}

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def is_enabled(self):
        return self._enabled

    def get_growth_factor(self):
        return self._growth_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def get_growth_interval(self):
        return self._growth_interval

    def state_dict(self):
        if not self._enabled:
            return {}
        return {"scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._scale, self._growth_factor, self._backoff_factor = state_dict["scale"], state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
