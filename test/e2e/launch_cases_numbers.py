# SPDX-License-Identifier: Apache-2.0
"""Types: conversions, promotions, integer arithmetic, NaN, and the functions of one number."""
import math
import statistics

import numpy as np

from launch_case import Bf16, Bits, Case, round_bf16

FILE = "numbers.py"


def values(rng, dtype, n):
    if dtype == np.bool_:
        return rng.integers(0, 2, n).astype(np.bool_)
    if np.dtype(dtype).kind == "f":
        return (rng.standard_normal(n) * 20).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)


def conversions(rng):
    n = 781
    types = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_, np.float16, np.float32, np.float64]
    targets = dict(a_ptr=np.int8, b_ptr=np.uint16, c_ptr=np.int64, d_ptr=np.float32, e_ptr=np.float64, f_ptr=np.bool_)
    for source in types:
        x = values(rng, source, n)
        if np.dtype(source).kind == "f":
            x = np.clip(np.abs(x), 0, 127).astype(source)
        x[:3] = 0
        want = {name: (x != 0) if target == np.bool_ else x.astype(target) for name, target in targets.items()}
        yield Case(f"cast {np.dtype(source).name} to six types", FILE, "convert_to_six", "7",
                   dict(x_ptr=x, **{name: np.zeros(n, target) for name, target in targets.items()}, n=n, BLOCK=128), want, 0)
    x = (rng.standard_normal(n) * np.exp2(rng.integers(-140, 127, n))).astype(np.float32)
    x[:6] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 3.4e38]
    with np.errstate(over="ignore"):
        yield Case("cast float32 to float16", FILE, "convert", "7", dict(x_ptr=x, out_ptr=np.zeros(n, np.float16), n=n, BLOCK=128),
                   dict(out_ptr=x.astype(np.float16)), 0)
    ties = (rng.integers(0, 1 << 15, n).astype(np.uint32) << 16 | 0x8000).view(np.float32)
    for name, data in (("random", x), ("ties", ties)):
        want = round_bf16(data)
        yield Case(f"cast float32 to bfloat16, {name}", FILE, "convert", "7",
                   dict(x_ptr=data, out_ptr=Bf16(np.zeros(n)), n=n, BLOCK=128), dict(out_ptr=want), 0)
    chopped = (ties.view(np.uint32) & 0xFFFF0000).view(np.float32)
    yield Case("cast float32 to bfloat16, toward zero", FILE, "truncate_down", "7",
               dict(x_ptr=ties, out_ptr=Bf16(np.zeros(n)), n=n, BLOCK=128), dict(out_ptr=np.where(np.isnan(ties), np.nan, chopped)), 0)
    half = (rng.standard_normal(n) * 100).astype(np.float16)
    yield Case("store float16 as bfloat16", FILE, "implicit_store", "7", dict(x_ptr=half, out_ptr=Bf16(np.zeros(n)), n=n, BLOCK=128),
               dict(out_ptr=round_bf16(half)), 0)
    every = np.arange(256, dtype=np.uint8)
    for kind in ("fp8e4nv", "fp8e5"):
        data = Bits(every, kind)
        yield Case(f"cast {kind} to float32", FILE, "convert", "2", dict(x_ptr=data, out_ptr=np.zeros(256, np.float32), n=256, BLOCK=128),
                   dict(out_ptr=data.values), 0)
        yield Case(f"cast {kind} to bfloat16", FILE, "convert", "1", dict(x_ptr=data, out_ptr=Bf16(np.zeros(256)), n=256, BLOCK=256),
                   dict(out_ptr=data.values), 0)
        finite = data.values[np.isfinite(data.values)]
        top = finite.max()
        points = np.unique(finite)
        middles = np.concatenate([(points[1:] + points[:-1]) / 2, points, rng.uniform(-top, top, 200)]).astype(np.float32)
        size = middles.size
        # Ties go to the pattern with an even last bit.
        even = {float(v): int(b) & 1 == 0 for b, v in enumerate(data.values) if np.isfinite(v)}
        want = []
        for v in middles.astype(np.float64):
            gap = np.abs(points - v)
            best = points[gap == gap.min()]
            nearest = best[0] if len(best) == 1 else next(b for b in best if even[float(b)])
            want.append(np.copysign(nearest, v))
        yield Case(f"cast float32 to {kind}", FILE, "convert", str(-(-size // 128)),
                   dict(x_ptr=middles, out_ptr=Bits(np.zeros(size, np.uint8), kind), n=size, BLOCK=128), dict(out_ptr=np.array(want)), 0)
        large = np.array([1e4, -1e4, 470, -449, 448], np.float32) if kind == "fp8e4nv" else np.array([57344, -57344, 5e4], np.float32)
        want = np.clip(large, -448, 448) if kind == "fp8e4nv" else np.array([57344, -57344, 49152])
        yield Case(f"cast large float32 to {kind}", FILE, "convert", "1",
                   dict(x_ptr=large, out_ptr=Bits(np.zeros(large.size, np.uint8), kind), n=large.size, BLOCK=8), dict(out_ptr=want), 0)
    x = values(rng, np.float32, 1000)
    x[:3] = [np.inf, -0.0, 0.0]
    yield Case("bit casts", FILE, "bits_of", "8", dict(x_ptr=x, out_ptr=np.zeros(1000, np.float32), n=1000, BLOCK=128), dict(out_ptr=-x), 0)


def promotions(rng):
    n = 333
    pairs = [(np.int32, np.int64, np.int64), (np.uint8, np.int8, np.uint8), (np.int8, np.int32, np.int32), (np.uint32, np.int32, np.uint32),
             (np.int64, np.uint32, np.int64), (np.int16, np.uint8, np.int16), (np.int32, np.float16, np.float16),
             (np.float16, np.float32, np.float32), (np.float32, np.float64, np.float64), (np.int64, np.float32, np.float32),
             (np.uint64, np.int64, np.uint64), (np.bool_, np.int8, np.int8)]
    for left, right, common in pairs:
        a, b = values(rng, left, n), values(rng, right, n)
        if np.dtype(common).kind == "f":
            a = (rng.integers(-9, 9, n)).astype(left)
        if np.dtype(right).kind == "f":
            b = (rng.integers(-9, 9, n) / 4).astype(right)
        with np.errstate(over="ignore"):
            want = (a.astype(common) * b.astype(common) + a.astype(common)).astype(common)
        yield Case(f"promote {np.dtype(left).name} and {np.dtype(right).name}", FILE, "sum_of_two", "3",
                   dict(a_ptr=a, b_ptr=b, out_ptr=np.zeros(n, common), n=n, BLOCK=128), dict(out_ptr=want), 0 if np.dtype(common).kind != "f" else 1e-6)
    a, b = Bf16(rng.integers(-9, 9, n) / 4), rng.integers(-9, 9, n).astype(np.float32) / 8
    yield Case("promote bfloat16 and float32", FILE, "sum_of_two", "3", dict(a_ptr=a, b_ptr=b, out_ptr=np.zeros(n, np.float32), n=n, BLOCK=128),
               dict(out_ptr=a.values * b + a.values), 0)
    half = (rng.integers(-9, 9, n) / 4).astype(np.float16)
    yield Case("promote float16 and bfloat16", FILE, "sum_of_two", "3", dict(a_ptr=half, b_ptr=a, out_ptr=np.zeros(n, np.float32), n=n, BLOCK=128),
               dict(out_ptr=half.astype(np.float64) * a.values + half), 0)
    yield Case("float16 with scalars", FILE, "with_scalars", "3", dict(x_ptr=half, out_ptr=np.zeros(n, np.float16), n=n, factor=0.5, BLOCK=128),
               dict(out_ptr=(half.astype(np.float64) * 3 + 1) * 0.5), 0)
    yield Case("bfloat16 with scalars", FILE, "with_scalars", "3", dict(x_ptr=a, out_ptr=Bf16(np.zeros(n)), n=n, factor=0.5, BLOCK=128),
               dict(out_ptr=(a.values * 3 + 1) * 0.5), 0)


def integers(rng):
    n = 999
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64):
        a, b = values(rng, dtype, n), values(rng, dtype, n)
        b[b == 0] = 1
        if np.dtype(dtype).kind == "i":
            a[a == np.iinfo(dtype).min] = 5
        small = rng.integers(0, 2, n) == 1
        b[small] = (rng.integers(1, 100, n) * (rng.choice([-1, 1], n) if np.dtype(dtype).kind == "i" else 1)).astype(dtype)[small]
        quotient = np.array([int(math.copysign(1, int(u)) * math.copysign(1, int(v))) * (abs(int(u)) // abs(int(v))) for u, v in zip(a, b)], object)
        remainder = np.array([int(u) - int(q) * int(v) for u, v, q in zip(a, b, quotient)], object)
        yield Case(f"division of {np.dtype(dtype).name}", FILE, "divisions", "8",
                   dict(a_ptr=a, b_ptr=b, q_ptr=np.zeros(n, dtype), r_ptr=np.zeros(n, dtype), f_ptr=np.zeros(n, np.float32), n=n, BLOCK=128),
                   dict(q_ptr=quotient.astype(dtype), r_ptr=remainder.astype(dtype), f_ptr=a.astype(np.float64) / b.astype(np.float64)), 1e-6)
        bits = np.dtype(dtype).itemsize * 8
        places = rng.integers(0, bits, n).astype(dtype)
        yield Case(f"shifts of {np.dtype(dtype).name}", FILE, "shifts", "8",
                   dict(a_ptr=a, b_ptr=places, left_ptr=np.zeros(n, dtype), right_ptr=np.zeros(n, dtype), n=n, BLOCK=128),
                   dict(left_ptr=a << places, right_ptr=a >> places), 0)
        with np.errstate(over="ignore"):
            x, y = values(rng, dtype, n), values(rng, dtype, n)
            y[::3] = x[::3]
            flags = (x < y) | (x <= y) * 2 | (x > y) * 4 | (x >= y) * 8 | (x == y) * 16 | (x != y) * 32
        yield Case(f"comparisons of {np.dtype(dtype).name}", FILE, "comparisons", "8",
                   dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(n, np.int32), n=n, BLOCK=128), dict(out_ptr=flags.astype(np.int32)), 0)
    a = values(rng, np.int32, n)
    with np.errstate(over="ignore"):
        want = (a * a + np.int32(2147483647)) * np.int32(31) - (a << 20)
    yield Case("integers wrap", FILE, "wrap_around", "8", dict(a_ptr=a, out_ptr=np.zeros(n, np.int32), n=n, BLOCK=128), dict(out_ptr=want), 0)
    i = np.arange(64, dtype=np.int64)
    for step, start in ((0x7FFFFFFF, -5), (1664525, -40), (-3, 2)):
        product, sum_ = (i * step).astype(np.int32), (i + start).astype(np.uint32).astype(np.int64)
        narrow = (i * 9).astype(np.int8).astype(np.int64)
        want = [product.astype(np.int64), product.astype(np.uint32).astype(np.int64), sum_ // 3, sum_ < 8, narrow + (narrow < 100) * 1000]
        yield Case(f"ranges that wrap, step {step}", FILE, "ranges_that_wrap", "1",
                   dict(out_ptr=np.zeros(5 * 64, np.int64), step=step, start=start, BLOCK=64), dict(out_ptr=np.concatenate(want)), 0)
    x = values(rng, np.float32, 64)
    for first, size in ((0, 20), (5, 20), (40, 64), (3, 0)):
        at = i - first
        inside = (at >= 0) & (at < size)
        yield Case(f"window of {size} from {first}", FILE, "window", "1",
                   dict(x_ptr=x, out_ptr=np.zeros(64, np.float32), first=first, n=size, BLOCK=64),
                   dict(out_ptr=np.where(inside, x[np.clip(at, 0, 63)], np.float32(-1))), 0)
    for a, b in ((-7, 3), (7, -2), (29, 5)):
        def chop(u, v):
            return int(math.trunc(u / v))
        want = [chop(a, b), a - chop(a, b) * b, a // b, a % b, chop(a + b - 1, b), chop(a * 2 + 1, b), chop(-a, 4) * 3]
        yield Case(f"scalar division {a} by {b}", FILE, "scalar_division", "1", dict(out_ptr=np.zeros(7, np.int32), a=a, b=b, A=a, B=b),
                   dict(out_ptr=np.array(want, np.int32)), 0)
    for dtype, double in ((np.uint32, 64), (np.int32, 64), (np.uint64, 128)):
        a, b = values(rng, dtype, n), values(rng, dtype, n)
        width = np.dtype(dtype).itemsize * 8
        unsigned = np.dtype(f"u{width // 8}")
        high = np.array([(int(u) * int(v)) >> width for u, v in zip(a.view(unsigned), b.view(unsigned))], unsigned).view(dtype)
        yield Case(f"high product of {np.dtype(dtype).name}", FILE, "high_product", "8",
                   dict(a_ptr=a, b_ptr=b, out_ptr=np.zeros(n, dtype), n=n, BLOCK=128), dict(out_ptr=high), 0)


def floats(rng):
    n = 500
    x, y = values(rng, np.float32, n), values(rng, np.float32, n)
    x[::7], y[::5], x[3], y[4] = np.nan, np.nan, np.inf, -np.inf
    y[10:20] = x[10:20]
    flags = (x < y) | (x <= y) * 2 | (x > y) * 4 | (x >= y) * 8 | (x == y) * 16 | (x != y) * 32
    yield Case("comparisons of NaN", FILE, "comparisons", "4", dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(n, np.int32), n=n, BLOCK=128),
               dict(out_ptr=flags.astype(np.int32)), 0)
    zeros = np.zeros(n, np.float32)
    clean = np.where(np.isnan(x), np.float32(-0.5), np.clip(x, -0.5, 0.5))
    yield Case("maximum, minimum and NaN", FILE, "nan_handling", "4",
               dict(x_ptr=x, y_ptr=y, max_ptr=zeros, keep_ptr=zeros, min_ptr=zeros, clamp_ptr=zeros, n=n, BLOCK=128),
               dict(max_ptr=np.fmax(x, y), keep_ptr=np.maximum(x, y), min_ptr=np.fmin(x, y), clamp_ptr=clean), 0)
    for dtype, tolerance in ((np.float32, 1e-6), (np.float64, 1e-12)):
        a, b = values(rng, dtype, n), values(rng, dtype, n) / 5
        yield Case(f"remainder of {np.dtype(dtype).name}", FILE, "float_remainder", "4",
                   dict(a_ptr=a, b_ptr=b, out_ptr=np.zeros(n, dtype), n=n, BLOCK=128), dict(out_ptr=np.fmod(a.astype(np.float64), b)), tolerance)
        x = (rng.standard_normal(101) * 3).astype(dtype)
        w = x.astype(np.float64)
        erf = np.array([math.erf(v) for v in w])
        want = np.stack([np.exp(w), np.exp2(w), np.log(np.abs(w)), np.log2(np.abs(w)), np.sin(w), np.cos(w), np.sqrt(np.abs(w)),
                         1 / np.sqrt(np.abs(w) + 0.125), erf, np.floor(w), np.ceil(w), 1 / (1 + np.exp(-w)), w * w + w, 1 / w, w / 3, -w])
        yield Case(f"functions of {np.dtype(dtype).name}", FILE, "mathematics", "1",
                   dict(x_ptr=x, out_ptr=np.zeros((16, 101), dtype), n=101, BLOCK=128), dict(out_ptr=want), max(tolerance, 1e-11))
        x = x.copy()
        x[5] = np.nan
        w = x.astype(np.float64)
        want = np.stack([np.tanh(w), np.log1p(np.abs(w)), np.expm1(w), np.abs(w) ** 1.5, np.rint(w * 2),
                         np.copysign(np.floor(np.abs(w * 2) + 0.5), w), np.trunc(w), np.isnan(w), -np.abs(w), np.tan(w), np.arctan(w), 10 ** (w / 4)])
        yield Case(f"libdevice of {np.dtype(dtype).name}", FILE, "device_library", "1",
                   dict(x_ptr=x, out_ptr=np.zeros((12, 101), dtype), n=101, BLOCK=128), dict(out_ptr=want), max(5 * tolerance, 1e-11))


def device_integers(rng):
    n = 200
    x = np.concatenate([np.arange(-10, 10.5, 0.5), rng.standard_normal(n) * 1000])[:n].astype(np.float32)
    i = values(rng, np.int32, n)
    i[:3] = [0, -1, -(1 << 31)]
    w, bits = x.astype(np.float64), [f"{int(v) & 0xFFFFFFFF:032b}" for v in i]
    away = np.copysign(np.floor(np.abs(w) + 0.5), w)
    want = [np.rint(w), away, np.rint(w), np.floor(w), np.ceil(w), np.trunc(w), [b[::-1].find("1") + 1 for b in bits],
            [int(b[::-1], 2) - (int(b[::-1], 2) >> 31 << 32) for b in bits], [b.count("1") for b in bits], [(b + "1").find("1") for b in bits]]
    yield Case("libdevice with integers", FILE, "device_integers", "1", dict(x_ptr=x, i_ptr=i, out_ptr=np.zeros(10 * n, np.int64), n=n, BLOCK=256),
               dict(out_ptr=np.concatenate(want).astype(np.int64)), 0)


    for dtype, tolerance in ((np.float32, 1e-6), (np.float64, 1e-12)):
        x = np.concatenate([[-1.0, -1.0, 0.0, -0.0, 2.0, np.inf, -2.0], rng.standard_normal(94) * 3]).astype(dtype)
        i = np.concatenate([[(1 << 31) - 1, -(1 << 31), 0, -3, -1, -2, 5], rng.integers(-9, 10, 94)]).astype(np.int32)
        with np.errstate(all="ignore"):
            want = np.power(x.astype(np.float64), i.astype(np.float64))
        yield Case(f"powers of {np.dtype(dtype).name} by integers", FILE, "integer_powers", "1", dict(x_ptr=x, i_ptr=i, out_ptr=np.zeros(101, dtype), n=101, BLOCK=128),
                   dict(out_ptr=want), tolerance)


def special_functions(rng):
    """Against Python's own mathematics in f64; the inverses of the normal distribution are those of `statistics`."""
    normal, n = statistics.NormalDist(), 200
    for dtype, tolerance in ((np.float32, 4e-6), (np.float64, 1e-13)):
        x = np.concatenate([[0.5, 1.0, 2.0, 3.0, 1.5, -0.5, -1.5, -2.25, 30.0, 0.001, 7.5, 8.0, -3.75], rng.standard_normal(n - 13) * 4]).astype(dtype)
        y = np.concatenate([[0.5, -0.5, 0.125, 1e-3, -1e-3, 0.9, -0.9, 0.99, -0.999, 0.9375], rng.uniform(-0.98, 0.98, n - 10)]).astype(dtype)
        k = np.concatenate([[0, 1, -1, 40, -40, 140, -140, -149, 126], rng.integers(-30, 30, n - 9)]).astype(np.int32)
        w, v = x.astype(np.float64), y.astype(np.float64)
        inverse = np.array([normal.inv_cdf((1 + float(a)) / 2) for a in v])
        share = 0.5 + 0.5 * np.tanh(w * 0.2)
        with np.errstate(all="ignore"):
            want = [[math.lgamma(a) for a in w], [math.gamma(a / 4) for a in w], inverse / math.sqrt(2), -inverse / math.sqrt(2),
                    [0.5 * math.erfc(-a / math.sqrt(2)) for a in w], inverse, [math.exp(a * a) * math.erfc(abs(a)) if abs(a) < 20 else 0.5641895835477563 / abs(a) * (1 - 0.5 / a**2 + 0.75 / a**4 - 1.875 / a**6 + 6.5625 / a**8) for a in w],
                    np.sin(np.pi * np.fmod(w, 2)), np.cos(np.pi * np.fmod(w, 2)), np.ldexp(v, k), np.frexp(np.abs(v))[1] - 1.0, np.nextafter(x, y),
                    [math.remainder(a, b) for a, b in zip(w, v)], np.maximum(w - v, 0), np.sqrt(2 * (w * w + v * v)), 1 / np.sqrt(w * w + v * v + share**2), 1 / np.cbrt(w)]
        yield Case(f"functions of libdevice that C has not, {np.dtype(dtype).name}", FILE, "special_functions", "1",
                   dict(x_ptr=x, y_ptr=y, i_ptr=k, out_ptr=np.zeros((17, n), dtype), exponent_ptr=np.zeros(n, np.int32), n=n, BLOCK=256),
                   dict(out_ptr=np.stack([np.asarray(a, np.float64).astype(dtype) for a in want]), exponent_ptr=(np.frexp(np.abs(v))[1] - 1).astype(np.int32)), tolerance,
                   engines=[["--target", "cpu:x86-64-v3"], ["--target", "cpu:x86-64-v4"]])
    x, y = values(rng, np.int32, n), values(rng, np.int32, n)
    x[:4], y[:4] = [-1, -(1 << 31), (1 << 31) - 1, 5], [-1, -(1 << 31), -(1 << 31), -8]
    y[4:104] = rng.uniform(-5, 6e9, 100).astype(np.float32).view(np.int32)
    s = rng.integers(0, 1 << 16, n).astype(np.int32)
    a, b, mask = x.astype(object), y.astype(object), (1 << 32) - 1
    low = lambda p: ((p & 0xFFFFFF) ^ 0x800000) - 0x800000  # noqa: E731
    octets = [int(p & mask).to_bytes(4, "little") + int(q & mask).to_bytes(4, "little") for p, q in zip(a, b)]
    permuted = [sum(o[(int(c) >> 4 * i) & 7] << 8 * i for i in range(4)) for o, c in zip(octets, s)]
    floats = y.view(np.float32).astype(np.float64)
    rounded = [0 if math.isnan(f) else int(min(max(np.rint(f), 0), mask)) for f in floats]
    want = [(a * b) >> 32, [low(p) * low(q) for p, q in zip(a, b)], (a + b) >> 1, (a + b + 1) >> 1, abs(a - b) + s.astype(object), permuted,
            x.astype(np.float32).view(np.int32), x.view(np.uint32).astype(np.float32).view(np.int32), rounded]
    wrapped = np.array([[int(p) & mask for p in row] for row in want], np.uint32).view(np.int32)
    yield Case("words of libdevice", FILE, "device_words", "1", dict(x_ptr=x, y_ptr=y, s_ptr=s, out_ptr=np.zeros((9, n), np.int32), n=n, BLOCK=256),
               dict(out_ptr=wrapped), 0, engines=[["--target", "cpu:x86-64-v3"], ["--target", "cpu:x86-64-v4"]])


def quantised(rng):
    x = (rng.standard_normal((5, 333)) * 3).astype(np.float32)
    scale = np.maximum(np.abs(x).max(-1), np.float32(1e-10)) / np.float32(127)
    yield Case("quantise rows to int8", FILE, "quantise", "5",
               dict(x_ptr=x, out_ptr=np.zeros((5, 333), np.int8), scale_ptr=np.zeros(5, np.float32), cols=333, BLOCK=512),
               dict(out_ptr=np.rint(x / scale[:, None]).astype(np.int8), scale_ptr=scale), 1e-7)
    n = 1002
    packed = rng.integers(0, 256, n // 2).astype(np.uint8)
    scales = rng.standard_normal(-(-n // 32)).astype(np.float16)
    nibbles = np.stack([packed & 15, packed >> 4], -1).reshape(-1).astype(np.int64) - 8
    yield Case("unpack int4", FILE, "unpack_int4", "8",
               dict(packed_ptr=packed, scale_ptr=scales, out_ptr=np.zeros(n, np.float16), n=n, GROUP=32, BLOCK=128),
               dict(out_ptr=nibbles * np.repeat(scales.astype(np.float64), 32)[:n]), 1e-3)
    x, y = rng.integers(0, 2, 99).astype(np.bool_), rng.integers(0, 2, 99).astype(np.bool_)
    z = (x & ~y) | (x ^ y)
    yield Case("logic of bools", FILE, "bool_logic", "1",
               dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(99, np.bool_), count_ptr=np.zeros(2, np.int32), n=99, BLOCK=128),
               dict(out_ptr=z, count_ptr=np.array([z.sum(), (x & y).sum()], np.int32)), 0)
    x, y = rng.integers(-1, 2, 64).astype(np.int32), rng.integers(-1, 2, 64).astype(np.int32)
    yield Case("logic of numbers", FILE, "logic_of_numbers", "1", dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(64, np.uint16), BLOCK=64),
               dict(out_ptr=(((x != 0) & (y != 0)) + 2 * ((x != 0) | (y != 0))).astype(np.uint16)), 0)


def spellings(rng):
    x = rng.standard_normal(61).astype(np.float32)
    w = x.astype(np.float64)
    want = np.minimum(np.abs(w) ** 1.5 + np.tanh(w) + np.log1p(np.exp(w)), np.maximum(w, 4))
    yield Case("tl.math of Triton 2", FILE, "old_math", "1", dict(x_ptr=x, out_ptr=np.zeros_like(x), n=61, BLOCK=64), dict(out_ptr=want), 1e-6)


def cases():
    rng = np.random.default_rng(11)
    for part in (conversions, promotions, integers, floats, device_integers, special_functions, quantised, spellings):
        yield from part(rng)
