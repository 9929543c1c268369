# SPDX-License-Identifier: Apache-2.0
"""What a launch case is made of: arguments of every spelling, and the comparison of what comes back."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from bfloat16 import from_bf16, to_bf16  # noqa: E402

ENGINES = [["--target", "cpu:x86-64-v3"], ["--target", "cpu:x86-64-v4"], ["--reference"]]


def round_bf16(x):
    return from_bf16(to_bf16(np.asarray(x, np.float32)))


def fp8_table(exponent_bits, mantissa_bits, bias, has_infinity):
    """The value of each of the 256 patterns of an 8-bit float."""
    values = []
    for bits in range(256):
        exponent, mantissa = (bits & 127) >> mantissa_bits, bits & ((1 << mantissa_bits) - 1)
        if has_infinity and exponent == (1 << exponent_bits) - 1:
            value = np.nan if mantissa else np.inf
        elif not has_infinity and bits & 127 == 127:
            value = np.nan
        elif exponent == 0:
            value = mantissa * 2.0 ** (1 - bias - mantissa_bits)
        else:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        values.append(-value if bits & 128 else value)
    return np.array(values)


NARROW = {
    "bf16": lambda bits: from_bf16(bits).astype(np.float64),
    "fp8e4nv": lambda bits: fp8_table(4, 3, 7, False)[bits],
    "fp8e5": lambda bits: fp8_table(5, 2, 15, True)[bits],
}


class Bits:
    """An array that travels as the bits of a type numpy lacks."""

    def __init__(self, bits, kind):
        self.bits, self.kind = bits, kind
        self.values = self.decode(bits)

    def decode(self, bits):
        return NARROW[self.kind](bits)

    def save(self, folder, name):
        np.save(folder / f"{name}.npy", self.bits)
        return f"@{folder / name}.npy:{self.kind}"


class Bf16(Bits):
    def __init__(self, values):
        super().__init__(to_bf16(np.asarray(values, np.float32)), "bf16")


class View:
    """A view of an array, in the command line's words: offset=2,shape=3x4,strides=8x1."""

    def __init__(self, array, words):
        self.array, self.words = array, words

    def save(self, folder, name):
        return f"{save_array(self.array, folder, name)}[{self.words}]"

    def decode(self, bits):
        return bits


class Table:
    """A table of addresses of several tensors."""

    def __init__(self, *members):
        self.members = members

    def save(self, folder, name):
        texts = [save_array(m, folder, f"{name}{i}")[1:] for i, m in enumerate(self.members)]
        return "@ptrs:" + ",".join(texts)


class Words(str):
    """A value spelled as on the command line."""


def save_array(value, folder, name):
    if isinstance(value, (Bits, View, Table)):
        return value.save(folder, name)
    np.save(folder / f"{name}.npy", value)
    return f"@{folder / name}.npy"


def text_of(folder, name, value):
    if isinstance(value, (np.ndarray, Bits, View, Table)):
        return save_array(value, folder, name)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Words):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value) if isinstance(value, float) else str(value)


class Case:
    """`out` maps an argument (or `table[i]`) to what it must hold after the launch. `refusal` is a pattern that the diagnostic
    of a refused launch must hold, `prints` one for the standard error of one that runs."""

    def __init__(self, name, file, kernel, grid, args, out, tolerance=1e-5, engines=None, extra=(), refusal=None, prints=None):
        self.name, self.file, self.kernel, self.grid = name, file, kernel, grid
        self.args, self.out, self.tolerance, self.extra = args, out, tolerance, list(extra)
        self.engines = engines or ENGINES
        self.refusal, self.prints = refusal, prints


def compare(got, want, tolerance):
    """The largest error relative to max(1, |want|); NaN must stand where NaN is wanted, integers must agree to the bit."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape} instead of {want.shape}"
    if got.dtype.kind in "iub" and want.dtype.kind in "iub":
        wrong = np.flatnonzero(got != want)
        return f"{wrong.size} of {got.size} differ, first {got.flat[wrong[0]]} instead of {want.flat[wrong[0]]} at {wrong[0]}" if wrong.size else ""
    got, want = got.astype(np.float64), want.astype(np.float64)
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        return f"NaN in {np.isnan(got).sum()} places instead of {np.isnan(want).sum()}"
    same = (got == want) | np.isnan(want)
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got - want) / np.maximum(1.0, np.abs(want)))
    worst = float(np.max(error, initial=0.0))
    if worst <= tolerance:
        return ""
    at = int(np.argmax(error))
    return f"error {worst:.3g} is over {tolerance:.3g}: {got.flat[at]} instead of {want.flat[at]} at {at}"
