# SPDX-License-Identifier: Apache-2.0
import math

import torch

_tolerances = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}


def _text(count, total):
    return f"Mismatched elements: {count} / {total} ({100 * count / total:.1f}%)"


def _tensors(actual, expected, rtol, atol, equal_nan, check_device, check_dtype, check_stride, where):
    if tuple(actual.shape) != tuple(expected.shape):
        raise AssertionError(f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.{where}")
    if check_device and actual.device != expected.device:
        raise AssertionError(f"The values for attribute 'device' do not match: {actual.device} != {expected.device}.{where}")
    if check_dtype and actual.dtype != expected.dtype:
        raise AssertionError(f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}.{where}")
    if check_stride and actual.stride() != expected.stride():
        raise AssertionError(f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}.{where}")
    if rtol is None:
        pairs = [_tolerances.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(p[0] for p in pairs), max(p[1] for p in pairs)
    if actual.numel() == 0:
        return
    if actual.dtype != expected.dtype:
        wide = torch.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(wide), expected.to(wide)
    close = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(close.all()):
        return
    wrong = int((~close).sum())
    exact = not (rtol or atol)
    head = "Scalars" if actual.dim() == 0 else "Tensor-likes"
    lines = [f"{head} are not {'equal' if exact else 'close'}!", ""]
    difference = (actual.to(torch.float64) - expected.to(torch.float64)).abs()
    relative = difference / expected.to(torch.float64).abs()
    if actual.dim():
        lines.append(_text(wrong, actual.numel()))
        for name, value, allowed in (("absolute", difference, atol), ("relative", relative, rtol)):
            masked = torch.where(close, torch.zeros_like(value), value).flatten()
            place, at = int(masked.argmax()), []
            for size in reversed(tuple(actual.shape)):
                at.insert(0, place % size)
                place //= size
            limit = "" if exact else f" (up to {allowed} allowed)"
            lines.append(f"Greatest {name} difference: {masked.max().item()} at index {tuple(at)}{limit}")
    else:
        lines = [f"Scalars are not {'equal' if exact else 'close'}!", "", f"Expected {expected.item()} but got {actual.item()}."]
        lines.append(f"Absolute difference: {difference.item()}" + ("" if exact else f" (up to {atol} allowed)"))
        lines.append(f"Relative difference: {relative.item()}" + ("" if exact else f" (up to {rtol} allowed)"))
    raise AssertionError("\n".join(lines) + where)


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True, check_layout=True, check_stride=False, msg=None):
    if (rtol is None) != (atol is None):
        raise ValueError(f"Either both 'rtol' and 'atol' must be specified or none of them, but got rtol={rtol} and atol={atol} instead.")
    if not allow_subclasses and type(actual) is not type(expected):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")
    try:
        _compare(actual, expected, rtol, atol, equal_nan, check_device, check_dtype, check_stride, "")
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _compare(actual, expected, rtol, atol, equal_nan, check_device, check_dtype, check_stride, where):
    rest = (rtol, atol, equal_nan, check_device, check_dtype, check_stride)
    if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
        return _tensors(actual, expected, *rest, where)
    if isinstance(actual, dict) and isinstance(expected, dict):
        if set(actual) != set(expected):
            raise AssertionError(f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {sorted(set(expected) - set(actual))}\nAdditional keys in the actual mapping: {sorted(set(actual) - set(expected))}")
        for key in actual:
            _compare(actual[key], expected[key], *rest, f"\n\nThe failure occurred for item [{key!r}]")
        return
    if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences do not match: {len(actual)} != {len(expected)}")
        for i in range(len(actual)):
            _compare(actual[i], expected[i], *rest, f"\n\nThe failure occurred for item [{i}]")
        return
    if isinstance(actual, (int, float)) and isinstance(expected, (int, float)):
        if check_dtype and isinstance(actual, bool) != isinstance(expected, bool):
            raise AssertionError(f"The values for attribute 'dtype' do not match: {type(actual)} != {type(expected)}.")
        r, a = (rtol, atol) if rtol is not None else (1e-7, 1e-7) if isinstance(actual, float) or isinstance(expected, float) else (0.0, 0.0)
        both_nan = actual != actual and expected != expected
        if actual == expected or (equal_nan and both_nan) or (math.isfinite(actual) and math.isfinite(expected) and abs(actual - expected) <= a + r * abs(expected)):
            return
        raise AssertionError(f"Scalars are not {'close' if r or a else 'equal'}!\n\nExpected {expected} but got {actual}.\nAbsolute difference: {abs(actual - expected)}" + (f" (up to {a} allowed)" if r or a else "") + where)
    if actual is None and expected is None:
        return
    raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None):
    if noncontiguous or exclude_zero or memory_format is not None:
        raise NotImplementedError("torch.testing.make_tensor: noncontiguous, exclude_zero and memory_format")
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if dtype.is_floating_point:
        low, high = -9 if low is None else low, 9 if high is None else high
        return torch.empty(shape, dtype=dtype, device=device).uniform_(low, high).requires_grad_(requires_grad)
    return torch.randint(-9 if low is None else low, 10 if high is None else high, shape, dtype=dtype, device=device)
