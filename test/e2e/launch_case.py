# SPDX-License-Identifier: Apache-2.0
"""What a launch case is made of: arguments of every spelling, and the comparison of what comes back."""
import pathlib
import sys

import numpy as np

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST), str(TEST / "judge")]
from bfloat16 import from_bf16, to_bf16  # noqa: E402
from judge import UNIT, name_of, problem  # noqa: E402

ENGINES = [["--target", "cpu:x86-64-v3"], ["--target", "cpu:x86-64-v4"], ["--sanitize"]]
# Some hundred units of the last place of f64 and f32, which sums of some thousand terms need; two roundings of the narrow types.
LOOSEST = {"f64": 1e-13, "f32": 2e-5, "f16": 2 * UNIT["f16"], "bf16": 2 * UNIT["bf16"], "tf32": 0.06}


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
    of a refused launch must hold (with `refused_on_cuda` false, a GPU has `out` instead), `prints` one for the standard error of one
    that runs."""

    def __init__(self, name, file, kernel, grid, args, out, tolerance=1e-5, engines=None, extra=(), refusal=None, prints=None,
                 signed_zeros=True, computed_in=None, refused_on_cuda=True):
        self.name, self.file, self.kernel, self.grid = name, file, kernel, grid
        self.args, self.out, self.tolerance, self.extra = args, out, tolerance, list(extra)
        self.engines = engines or ENGINES
        self.refusal, self.prints, self.signed_zeros = refusal, prints, signed_zeros
        self.computed_in, self.refused_on_cuda = computed_in, refused_on_cuda

    def tolerance_of(self, name):
        """That of an output: no case may be looser than its type, or than what the kernel says that it computes in."""
        argument = self.args.get(name)
        dtype = name_of(argument) if isinstance(argument, np.ndarray) else getattr(argument, "kind", None)
        return min(self.tolerance, LOOSEST.get(self.computed_in or dtype, self.tolerance))


def compare(got, want, tolerance, dtype=None, signed_zeros=True):
    """Each element may be off by `tolerance`, relative where it is above 1; integers not at all."""
    want = np.asarray(want)
    exact = np.asarray(got).dtype.kind in "iub" and want.dtype.kind in "iub"
    with np.errstate(invalid="ignore"):
        bound = 0.0 if exact else tolerance * np.maximum(1.0, np.abs(want.astype(np.float64)))
    return problem(got, want, bound, dtype, signed_zeros)
