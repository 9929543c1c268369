# SPDX-License-Identifier: Apache-2.0
"""torch.masked of dense tensors: what a mask leaves out is the value that does not change the result."""
import torch

_small = (torch.uint8, torch.bool, torch.int8, torch.int16, torch.int32)
_most, _least = float("inf"), float("-inf")


def _dims(dim, rank):
    """The dims that a reduction goes over, each once and in order; all where none are named."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return list(range(rank))
    found = []
    for d in [dim] if isinstance(dim, int) else dim:
        span = max(rank, 1)
        if d < -span or d >= span:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {d})")
        if d % span in found:
            raise RuntimeError(f"dim={d % span} appears multiple times in the list of dims")
        found.append(d % span)
    return sorted(found) if rank else []


def _over(input, mask):
    if mask.dim() > input.dim():
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return torch.broadcast_to(mask, input.shape).to(dtype=torch.bool)


def _filled(input, mask, value):
    return input if mask is None else torch.where(_over(input, mask), input, torch.tensor(value, dtype=input.dtype, device=input.device))


def _border(input, most):
    """What is no more, or no less, than any element."""
    if torch.is_floating_point(input):
        return _most if most else _least
    return torch.iinfo(input.dtype).max if most else torch.iinfo(input.dtype).min


def _widened(input, dtype):
    return dtype if dtype is not None else torch.int64 if input.dtype in _small else input.dtype


def _counted(input, dim, keepdim, mask):
    taken = torch.ones(input.shape, dtype=torch.int64, device=input.device) if mask is None else _over(input, mask)
    return torch.sum(taken, _dims(dim, input.ndim), bool(keepdim))


# --- reductions


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.sum(_filled(input, mask, 0), _dims(dim, input.ndim), bool(keepdim), dtype=_widened(input, dtype))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    found = _filled(input, mask, 1).to(dtype=_widened(input, dtype))
    for d in reversed(_dims(dim, input.ndim)):
        found = found.prod(dim=d, keepdim=bool(keepdim))
    return found


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.amax(_filled(input, mask, _border(input, False)), _dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.amin(_filled(input, mask, _border(input, True)), _dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.argmax(_filled(input, mask, _border(input, False)), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.argmin(_filled(input, mask, _border(input, True)), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    kind = dtype or input.dtype
    if not kind.is_floating_point:
        raise ValueError(f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be either a floating point or complex dtype. Got: {kind}")
    return sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask) / _counted(input, dim, keepdim, mask)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    is_float = torch.is_floating_point(input)
    # Elements that are not a number are left out of it.
    found = torch.nanmedian(_filled(input if is_float else input.to(torch.float), mask, float("nan")), dim, keepdim).values
    if is_float:
        return found
    if torch.isnan(found).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.to(dtype=dtype or input.dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.logsumexp(_filled(input, mask, _border(input, False)), _dims(dim, input.ndim), keepdim=bool(keepdim)).to(dtype=dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    return torch.logaddexp(_filled(input, input_mask, _border(input, False)), _filled(other, other_mask, _border(other, False))).to(dtype=dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    found = _filled(input, mask, _most if ord == _least else 0)
    return torch.linalg.vector_norm(found, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def _spread(input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    correction = float(correction) if correction is not None else 0.0 if unbiased is False else 1.0
    kind = dtype or (input.dtype if input.dtype.is_floating_point else torch.float32)
    wide = kind if kind.is_floating_point else torch.float32
    far = input - sum(input, dim, keepdim=True, dtype=kind, mask=mask) / _counted(input, dim, True, mask)
    count = _counted(input, dim, keepdim, mask)
    if correction != 0:
        count = torch.clamp(count.to(wide) - correction, min=0.0)
    return sum(far * far, dim, keepdim=keepdim, dtype=wide, mask=mask) / count, kind


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    found, kind = _spread(input, dim, unbiased, correction, keepdim, dtype, mask)
    return found.to(dtype=kind)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    found, kind = _spread(input, dim, unbiased, correction, keepdim, dtype, mask)
    return torch.sqrt(found.to(dtype=kind))


# --- normalizations


def cumsum(input, dim, *, dtype=None, mask=None):
    return torch.cumsum(_filled(input, mask, 0), dim, dtype=dtype or input.dtype).to(dtype=dtype or input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    return torch.cumprod(_filled(input, mask, 1), dim, dtype=dtype or input.dtype).to(dtype=dtype or input.dtype)


def softmax(input, dim, *, dtype=None, mask=None):
    return torch.nn.functional.softmax(_filled(input, mask, _border(input, False)), dim, dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    return torch.nn.functional.log_softmax(_filled(input, mask, _border(input, False)), dim, dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    return torch.nn.functional.softmin(_filled(input, mask, _border(input, True)), dim, dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0) / torch.maximum(length, length.new_full([], eps))
