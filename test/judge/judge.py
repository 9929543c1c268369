# SPDX-License-Identifier: Apache-2.0
"""Is an array the one that is wanted? The one place where tests and benchmarks in Python decide it; Judge.h is the same in C++.

Types have Pellucid's names (f32, bf16, i64, bool …). `problem` compares, `bound_of` says how far a correct result may be.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from bfloat16 import from_bf16  # noqa: E402

NAMES = {np.dtype(kind): name for name, kind in {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_}.items()}
# Half a unit in the last place, relative; the smallest number above zero; the smallest that rounds to infinity.
UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
SMALLEST = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}
OVERFLOW = {"f64": np.inf, "f32": 2.0**128 * (1 - 2.0**-25), "f16": 65520.0, "bf16": 2.0**128 * (1 - 2.0**-9)}


def name_of(array):
    """The type of an array that was loaded; numpy has no bf16, its bits come as a type of two bytes."""
    return NAMES.get(array.dtype, "bf16" if array.dtype.kind == "V" and array.dtype.itemsize == 2 else str(array.dtype))


def numbers(array, dtype=None):
    """The values of an array; `dtype` bf16 where it holds bits."""
    array = np.asarray(array)
    if dtype == "bf16" or (array.dtype.kind == "V" and array.dtype.itemsize == 2):
        return from_bf16(np.ascontiguousarray(array).view(np.uint16)).astype(np.float64).reshape(array.shape)
    return array


def bound_of(dtype, want, roundings=1.0, terms=0, size=None, floor=0.0):
    """How far a correct result of `dtype` may be from `want`, for each element: that many roundings of the element (of `floor`
    where it is smaller), and those of a sum of `terms` numbers whose magnitudes add up to `size`, in the type that sums are
    accumulated in. Roundings of one sum go either way: n of them add up to sqrt(n), four times that is beyond chance. Integers are
    exact."""
    if dtype not in UNIT:
        return 0.0
    with np.errstate(all="ignore"):
        magnitude = np.abs(np.asarray(want, np.float64))
        bound = roundings * (UNIT[dtype] * np.maximum(magnitude, floor) + SMALLEST[dtype] / 2)
        if terms:
            steps = min(terms, 4 * terms**0.5)
            bound = bound + UNIT["f64" if dtype == "f64" else "f32"] * steps * np.maximum(magnitude, 0.0 if size is None else np.abs(size))
    return bound


def rounded_specials(want, dtype):
    """What overflows in `dtype` is infinite in it."""
    want = np.asarray(want)
    if dtype not in OVERFLOW or want.dtype.kind != "f":
        return want
    infinite = np.copysign(np.inf, want.astype(np.float64))
    return np.where(np.abs(want.astype(np.float64)) >= OVERFLOW[dtype], infinite, want)


def errors_of_largest(got, want):
    """How far each element is from the one that is wanted, in units of the largest finite one. Infinite, never NaN, where a NaN or an infinity
    stands alone: `max` and `>` forget a NaN."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    got, want = numbers(got).astype(np.float64), numbers(want).astype(np.float64)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(all="ignore"):
        errors = np.abs(got - want) / max(float(np.abs(want[np.isfinite(want)]).max(initial=0.0)), 1e-30)
    return np.where(same, 0.0, np.where(np.isfinite(errors), errors, np.inf))


class Verdict:
    """`problem` is empty where all is as wanted. `largest` is the largest distance, `of_bound` the largest as a share of its
    element's bound: above 1 exactly where an element is wrong."""

    def __init__(self, problem, largest=np.inf, of_bound=np.inf):
        self.problem, self.largest, self.of_bound = problem, largest, of_bound


def judge(got, want, bound=0.0, dtype=None, signed_zeros=True):
    """`bound` is absolute, a number or an array; `dtype` the type that `got` must have."""
    got, want = np.asarray(got), np.asarray(want)
    found = name_of(got)
    if dtype and found != dtype and not (dtype == "bf16" and found == "u16"):
        return Verdict(f"type {found}, expected {dtype}")
    if got.shape != want.shape:
        return Verdict(f"shape {got.shape}, expected {want.shape}")
    got, want = numbers(got, dtype if dtype == "bf16" else None), rounded_specials(numbers(want), dtype)
    bound = np.broadcast_to(np.asarray(bound, np.float64), got.shape)
    # Integers beyond 2^53 are no float64.
    both_integers = got.dtype.kind in "iub" and want.dtype.kind in "iub"
    with np.errstate(all="ignore"):
        same = got == want
        if not both_integers:
            got, want = got.astype(np.float64), want.astype(np.float64)
            same |= np.isnan(got) & np.isnan(want)
        off = np.where(same, 0.0, np.abs(got.astype(np.float64) - want.astype(np.float64)))
        # Integers may differ by less than float64 tells.
        off = np.where(~same & (off == 0), 1.0, off)
        # A NaN or an infinity alone, or a bound in proportion to an infinity, must not pass.
        off = np.where(same | np.isfinite(off), off, np.inf)
        within = same | ((off <= bound) & np.isfinite(bound) & np.isfinite(off))
        if signed_zeros and not both_integers:
            within &= ~((got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want)))
        share = np.where(within, np.where(off == 0, 0.0, off / bound), np.inf)
    largest, of_bound = float(np.max(off, initial=0.0)), float(np.max(share, initial=0.0))
    wrong = np.flatnonzero(~within)
    if not wrong.size:
        return Verdict("", largest, of_bound)
    at = wrong[int(np.argmax(off.flat[wrong]))]
    return Verdict(f"{wrong.size} of {got.size} wrong: {got.flat[at]} instead of {want.flat[at]} at {at}, "
                   f"off by {off.flat[at]:.3g}, allowed {bound.flat[at]:.3g}", largest, of_bound)


def problem(got, want, bound=0.0, dtype=None, signed_zeros=True):
    return judge(got, want, bound, dtype, signed_zeros).problem
