# SPDX-License-Identifier: Apache-2.0
"""What torch answers from the values of tensors, for scripts."""

import math

import torch
from torch._pellucid_composites import _returned
from torch._pellucid_random import _draw_events


class OutOfMemoryError(RuntimeError):
    """Raised where the values of a script's tensors do not fit the memory."""


OutOfMemoryError.__module__ = "torch"


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if input.dtype != other.dtype:
        raise RuntimeError(f"{_title(input.dtype)} did not match {_title(other.dtype)}")
    return bool(torch.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan).all())


def _title(dtype):
    return _type_names.get(dtype, str(dtype))


def equal(input, other):
    return tuple(input.shape) == tuple(other.shape) and bool((input == other).all())


def is_nonzero(input):
    if input.numel() != 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous" if input.numel() else "Boolean value of Tensor with no values is ambiguous")
    return bool(input)


def pellucid_drawn_from(value, *sources):
    """What is drawn has a gradient by what it is drawn from, which is 0."""
    for source in sources:
        if isinstance(source, torch.Tensor) and source.requires_grad:
            value = torch.where(torch.zeros((), dtype=torch.bool, device=source.device), source, value)
    return value


def bernoulli(input, *, generator=None):
    torch._check_all(torch.logical_and(input >= 0, input <= 1), "RuntimeError", "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
    if (events := _draw_events(input, generator)) is not None:
        return pellucid_drawn_from(events, input)
    wide = torch.float64 if input.dtype == torch.float64 else torch.float32
    drawn = torch.rand(input.shape, generator=generator, dtype=wide, device=input.device)
    return pellucid_drawn_from((drawn < input).to(input.dtype), input)


def cauchy_(input, median=0, sigma=1, *, generator=None):
    if sigma <= 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    drawn = torch.rand(input.shape, generator=generator, dtype=torch.float64, device=input.device)
    return input.copy_(median + sigma * torch.tan(math.pi * (drawn - 0.5)))


def geometric_(input, p, *, generator=None):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    drawn = torch.rand(input.shape, generator=generator, dtype=torch.float64, device=input.device)
    return input.copy_(torch.ceil(torch.log(drawn) / math.log1p(-p)))


def log_normal_(input, mean=1, std=2, *, generator=None):
    raise NotImplementedError("log_normal_() draws from PyTorch's generator one number after another; torch.randn(...).mul(std).add(mean).exp() is there")


_profiles = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, float("inf"), 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    if profile is not None:
        if profile not in _profiles:
            raise ValueError(f"unknown profile: {profile}")
        _print_options(*_profiles[profile], None, True)
    _print_options(precision, threshold, edgeitems, linewidth, sci_mode, False)


def get_printoptions():
    precision, threshold, edgeitems, linewidth, sci_mode = _print_options()
    return {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth, "sci_mode": sci_mode}


def numpy(input, *, force=False):
    import numpy as arrays

    if force:
        input = input.detach().cpu()
    if input.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if input.device.type != "cpu":
        raise TypeError(f"can't convert {input.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
    if input.dtype == torch.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return arrays._of(input)


def from_numpy(ndarray):
    held = getattr(ndarray, "_t", None)
    if not isinstance(held, torch.Tensor):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return held


def as_tensor(data, dtype=None, device=None):
    if isinstance(data, torch.Tensor) or hasattr(data, "_t"):
        found = data if isinstance(data, torch.Tensor) else from_numpy(data)
        if dtype is not None:
            found = found.to(dtype)
        return found if device is None else found.to(device)
    return torch.tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def _legacy_tensor(dtype, args):
    """torch.FloatTensor(2, 3): a tensor of those sizes; of a list or an array, its numbers."""
    if len(args) == 1 and not isinstance(args[0], int) or len(args) == 1 and isinstance(args[0], bool):
        given = args[0]
        if isinstance(given, torch.Size):
            return torch.empty(given, dtype=dtype)
        return torch.as_tensor(given).to(dtype).clone() if hasattr(given, "_t") else given.to(dtype) if isinstance(given, torch.Tensor) else torch.tensor(list(given), dtype=dtype)
    return torch.empty(args if args else (0,), dtype=dtype)


def FloatTensor(*args):
    return _legacy_tensor(torch.float32, args)


def DoubleTensor(*args):
    return _legacy_tensor(torch.float64, args)


def HalfTensor(*args):
    return _legacy_tensor(torch.float16, args)


def LongTensor(*args):
    return _legacy_tensor(torch.int64, args)


def IntTensor(*args):
    return _legacy_tensor(torch.int32, args)


def ByteTensor(*args):
    return _legacy_tensor(torch.uint8, args)


def BoolTensor(*args):
    return _legacy_tensor(torch.bool, args)


_type_names = {torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16", torch.int64: "Long", torch.int32: "Int", torch.int16: "Short", torch.int8: "Char", torch.uint8: "Byte", torch.bool: "Bool"}


def typename(obj):
    if isinstance(obj, torch.Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = "" if kind.__module__ in ("builtins", None) else kind.__module__ + "."
    return module + kind.__qualname__


def svd(input, some=True, compute_uv=True):
    U, S, Vh = torch.linalg.svd(input, full_matrices=not some)
    if not compute_uv:
        U, Vh = torch.zeros_like(U), torch.zeros_like(Vh)
    return _returned("svd", ("U", "S", "V"), (U, S, Vh.transpose(-2, -1)))


_numbers = range


def lu(input, pivot=True, get_infos=False):
    LU, pivots = torch.linalg.lu_factor(input, pivot=pivot)
    if not get_infos:
        return LU, pivots
    singular = torch.diagonal(LU.detach(), dim1=-2, dim2=-1) == 0
    first = torch.argmax(singular.to(torch.int32), -1) + 1
    return LU, pivots, torch.where(singular.any(-1), first, 0).to(torch.int32)


def range(start, end=None, step=1, dtype=None):
    if end is None:
        start, end = 0, start
    count = int((end - start) / step) + 1
    made = start + step * torch.arange(count, dtype=torch.float64)
    return made.to(torch.get_default_dtype() if dtype is None else dtype)


def nanmedian(input, dim=None, keepdim=False):
    if dim is None:
        return torch.ops.aten.nanmedian.default(input)
    return _returned("nanmedian", ("values", "indices"), torch.ops.aten.nanmedian.dim(input, dim, keepdim))


def frexp(input):
    if not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    plain = torch.logical_and(torch.isfinite(input), input != 0)
    size = torch.where(plain, torch.abs(input), torch.ones_like(input)).double()
    exponent = torch.floor(torch.log2(size)) + 1
    # log2 may round up to the next power.
    exponent = torch.where(size * torch.exp2(-exponent) < 0.5, exponent - 1, exponent)
    exponent = torch.where(size * torch.exp2(-exponent) >= 1.0, exponent + 1, exponent)
    mantissa = torch.where(plain, (input.double() * torch.exp2(-exponent)).to(input.dtype), input)
    return _returned("frexp", ("mantissa", "exponent"), (mantissa, torch.where(plain, exponent, torch.zeros_like(exponent)).to(torch.int32)))


def get_device(input):
    return -1 if input.device.type == "cpu" else input.device.index or 0


def pin_memory(input, device=None):
    """Copies to a device wait for the host here, from wherever they are made."""
    return input


def is_pinned(input, device=None):
    return False


def record_stream(input, stream):
    """Work is done in one order: no other stream uses the memory."""


def new_tensor(input, data, dtype=None, device=None, requires_grad=False):
    return torch.tensor(data, dtype=input.dtype if dtype is None else dtype, device=input.device if device is None else device, requires_grad=requires_grad)


def fill_diagonal_(input, fill_value, wrap=False):
    if input.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.dim() > 2 and len(set(input.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    rows, columns = input.shape[0], input.shape[-1]
    step = sum(input.stride()) if input.dim() > 2 else input.stride(0) + input.stride(1)
    input.as_strided([min(rows, columns)], [step], input.storage_offset()).fill_(fill_value)
    for begin in _numbers(columns + 1, rows, columns + 1) if wrap and input.dim() == 2 else ():
        input.as_strided([min(rows - begin, columns)], [step], input.storage_offset() + begin * input.stride(0)).fill_(fill_value)
    return input


def pellucid_multinomial(input, num_samples, replacement, generator):
    """torch.multinomial of a generator of the script's."""
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    torch._check_all(torch.logical_and(wide >= 0, wide < float("inf")), "RuntimeError", "probability tensor contains either `inf`, `nan` or element < 0")
    torch._check_all(wide.sum(-1) > 0, "RuntimeError", "invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if num_samples == 1 or not replacement:
        waits = torch.empty_like(wide).exponential_(generator=generator)
        return torch.argmax(wide / waits, -1, True) if num_samples == 1 else torch.topk(wide / waits, num_samples)[1]
    sums = torch.cumsum(wide, -1)
    drawn = torch.rand(list(input.shape[:-1]) + [num_samples], dtype=torch.float64, generator=generator)
    return ((sums / sums[..., -1:]).unsqueeze(-2) < drawn.unsqueeze(-1)).sum(-1)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    from torch import _pellucid_bytes

    like = torch.empty(0, dtype=dtype)
    size, data = like.element_size(), bytes(buffer)
    if not data or not 0 <= offset < len(data):
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({len(data)} bytes) minus 1")
    if count < 0:
        if (len(data) - offset) % size:
            raise ValueError(f"buffer length ({len(data) - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})")
        count = (len(data) - offset) // size
    if offset + count * size > len(data):
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than actual buffer length ({len(data)} bytes)")
    made = _pellucid_bytes.tensor(data[offset:offset + count * size], like, [count])
    return made.requires_grad_() if requires_grad else made
