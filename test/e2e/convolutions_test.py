#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Convolutions on the CPU, and the programs lowered for a device, beside float64.

    convolutions_test.py PROGRAM [--device] [NAME…]

Exit code 77 where numpy is missing. As product_template_test.py, a device's program runs on the CPU where there is none.
"""
import itertools
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST), str(TEST / "judge")]
from bfloat16 import from_bf16, to_bf16  # noqa: E402
from judge import problem  # noqa: E402
from tool import pellucid  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent / "convolutions.py"
# Of the size of the sum of the terms' magnitudes; 16-bit results may be rounded twice, before and after what is added. Of tf32 both factors
# have 10 digits, the last of which units may leave out.
UNIT = {"f64": 2.0**-48, "f32": 2.0**-20, "tf32": 2.0**-9 * 1.01, "f16": 2.0**-9, "bf16": 2.0**-6}
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16}
ON_DEVICE = "--device" in sys.argv
rng = np.random.default_rng(11)


def random(dtype, shape):
    x = rng.standard_normal(shape)
    return to_bf16(x) if dtype == "bf16" else x.astype(NUMPY[dtype])


def wide(dtype, x):
    return from_bf16(x).astype(np.float64) if dtype == "bf16" else x.astype(np.float64)


def each(value, count):
    return value if isinstance(value, tuple) else (value,) * count


def convolution(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """By the definition, tap after tap."""
    spatial = w.ndim - 2
    stride, padding, dilation = each(stride, spatial), each(padding, spatial), each(dilation, spatial)
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    sizes = [(x.shape[2 + d] - dilation[d] * (w.shape[2 + d] - 1) - 1) // stride[d] + 1 for d in range(spatial)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes))
    of_group, inputs = w.shape[0] // groups, w.shape[1]
    for tap in itertools.product(*(range(extent) for extent in w.shape[2:])):
        places = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilation, sizes, stride))
        for g in range(groups):
            seen = x[(slice(None), slice(g * inputs, (g + 1) * inputs), *places)]
            factors = w[(slice(g * of_group, (g + 1) * of_group), slice(None), *tap)]
            out[:, g * of_group:(g + 1) * of_group] += np.moveaxis(np.tensordot(factors, seen, (1, 1)), 0, 1)
    return out if b is None else out + b.reshape(-1, *([1] * spatial))


def spread(x, w, b=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    """Transposed, by the definition: each element is added to what it would be computed from."""
    spatial = w.ndim - 2
    outputs = w.shape[1]
    sizes = [(x.shape[2 + d] - 1) * stride + dilation * (w.shape[2 + d] - 1) + 1 + output_padding for d in range(spatial)]
    out = np.zeros((x.shape[0], outputs * groups, *sizes))
    inputs = x.shape[1] // groups
    for tap in itertools.product(*(range(extent) for extent in w.shape[2:])):
        places = tuple(slice(t * dilation, t * dilation + (n - 1) * stride + 1, stride) for t, n in zip(tap, x.shape[2:]))
        for g in range(groups):
            seen = x[:, g * inputs:(g + 1) * inputs]
            factors = w[(slice(g * inputs, (g + 1) * inputs), slice(None), *tap)]
            out[(slice(None), slice(g * outputs, (g + 1) * outputs), *places)] += np.moveaxis(np.tensordot(factors, seen, (0, 1)), 0, 1)
    out = out[(slice(None), slice(None), *(slice(padding, n - padding) for n in sizes))]
    return out if b is None else out + b.reshape(-1, *([1] * spatial))


def packages(folder, function, inputs, options, tf32=False):
    """What to run, and where."""
    cuda, again, cpu = folder / "cuda.plc", folder / "again.plc", folder / "cpu.plc"
    pellucid("compile", f"{SOURCE}:{function}", *inputs, *options, *([] if tf32 else ["--no-tf32"]), "--target", "cuda:sm_90", "-o", cuda)
    if ON_DEVICE:
        return [(cuda, "cuda")]
    text = folder / "lowered.txt"
    text.write_text(pellucid("inspect", cuda, "--ir", "lowered"))
    if not options:  # weights are not in the text
        pellucid("compile", text, "--target", "cpu:x86-64-v3", "-o", again)
    pellucid("compile", f"{SOURCE}:{function}", *inputs, *options, "--target", "cpu:x86-64-v3", "-o", cpu)
    return [(cpu, "cpu:x86-64-v3")] + ([(again, "cpu:x86-64-v3")] if not options else [])


def run(folder, function, dtype, specs, sizes, reference, options=(), kernels=None):
    unit = UNIT[dtype]
    tf32, dtype = dtype == "tf32", "f32" if dtype == "tf32" else dtype
    inputs = [word for key, dims in specs.items() for word in ("--input", f"{key}={dtype}[{dims}]")]
    for package, target in packages(folder, function, inputs, list(options), tf32):
        for shapes in sizes:
            arrays = {key: random(dtype, shape) for key, shape in shapes.items()}
            words = []
            for key, array in arrays.items():
                np.save(folder / f"{key}.npy", array)
                words += ["--input", f"{key}=@{folder / key}.npy" + (":bf16" if dtype == "bf16" else "")]
            guard = () if target == "cuda" and ON_DEVICE else ("--guard", "end")
            pellucid("run", package, *words, "--target", target, *guard, "--output", folder / "out.npy")
            values = {key: wide(dtype, array) for key, array in arrays.items()}
            expected = reference(**values)
            size = reference(**{key: np.abs(value) for key, value in values.items()}) + 1e-30
            wrong = problem(np.load(folder / "out.npy"), expected, unit * np.abs(size), dtype, signed_zeros=False)
            assert not wrong, f"{function} {dtype} {shapes} {package.stem}: {wrong}"


def network(folder):
    """Modules with their weights: a strided convolution without a bias, padding='same', a transposed one."""
    shapes = {"first.weight": (16, 3, 7, 7), "second.weight": (8, 16, 3, 3), "second.bias": (8,), "third.weight": (8, 4, 2, 2), "third.bias": (4,)}
    weights = {name: random("f32", shape) * np.float32(0.2) for name, shape in shapes.items()}
    np.savez(folder / "w.npz", **weights)
    f, s, t = (weights["first.weight"], None), (weights["second.weight"], weights["second.bias"]), (weights["third.weight"], weights["third.bias"])

    def reference(x, keep=lambda v: v):
        one = np.maximum(convolution(x, keep(f[0]), None, 2, 3), 0)
        two = np.maximum(convolution(one, keep(s[0]), keep(s[1]), padding=1), 0)
        return spread(two, keep(t[0]), keep(t[1]), stride=2)

    x = random("f32", (2, 3, 13, 17))
    np.save(folder / "x.npy", x)
    words = [f"{SOURCE}:Net", "--input", "x=f32[b:1..9,3,13,17]", "--weights", folder / "w.npz"]
    for package, target in packages(folder, "Net", words[1:3], words[3:]):
        pellucid("run", package, "--input", f"x=@{folder / 'x.npy'}", "--target", target, "--output", folder / "out.npy")
        wrong = problem(np.load(folder / "out.npy"), reference(x.astype(np.float64)), 2.0**-18 * reference(np.abs(x).astype(np.float64), np.abs), "f32",
                        signed_zeros=False)
        assert not wrong, f"Net {package.stem}: {wrong}"


def main():
    wanted = [word for word in sys.argv[2:] if not word.startswith("--")]
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def case(name, dtypes, specs, sizes, reference, **kwargs):
            nonlocal done
            if wanted and name not in wanted:
                return
            for dtype in dtypes:
                run(folder, name, dtype, specs, sizes, reference, **kwargs)
                done += 1

        two = ("f32", "tf32", "bf16")
        case("plain1d", ("f32", "f16"), {"x": "2,5,l:3..99", "w": "7,5,3"}, [{"x": (2, 5, n), "w": (7, 5, 3)} for n in (3, 20)], convolution)
        case("conv1d", two, {"x": "b:0..9,16,l:9..99", "w": "24,16,5", "b": "24"},
             [{"x": (b, 16, 33), "w": (24, 16, 5), "b": (24,)} for b in (0, 3)], lambda x, w, b: convolution(x, w, b, 2, 3, 2))
        case("one_by_one", two, {"x": "b:1..9,24,8,9", "w": "40,24,1,1", "b": "40"}, [{"x": (3, 24, 8, 9), "w": (40, 24, 1, 1), "b": (40,)}], convolution)
        case("one_by_one", ("bf16",), {"x": "2,24,7,7", "w": "40,24,1,1", "b": "40"}, [{"x": (2, 24, 7, 7), "w": (40, 24, 1, 1), "b": (40,)}], convolution)
        case("three_by_three", ("f32", "f64", "f16", "bf16"), {"x": "b:1..9,16,h:1..30,11", "w": "20,16,3,3", "b": "20"},
             [{"x": (2, 16, h, 11), "w": (20, 16, 3, 3), "b": (20,)} for h in (1, 9)], lambda x, w, b: convolution(x, w, b, padding=1))
        case("strided", two, {"x": "2,3,21,18", "w": "10,3,7,5"}, [{"x": (2, 3, 21, 18), "w": (10, 3, 7, 5)}],
             lambda x, w: convolution(x, w, stride=(2, 1), padding=(3, 2), dilation=(1, 2)))
        case("same", ("f16",), {"x": "1,64,12,12", "w": "16,64,3,3"}, [{"x": (1, 64, 12, 12), "w": (16, 64, 3, 3)}],
             lambda x, w: convolution(x, w, padding=2, dilation=2))
        case("grouped", two, {"x": "2,32,9,10", "w": "24,16,3,3", "b": "24"}, [{"x": (2, 32, 9, 10), "w": (24, 16, 3, 3), "b": (24,)}],
             lambda x, w, b: convolution(x, w, b, padding=1, groups=2))
        case("depthwise", two, {"x": "2,6,9,10", "w": "12,1,3,3", "b": "12"}, [{"x": (2, 6, 9, 10), "w": (12, 1, 3, 3), "b": (12,)}],
             lambda x, w, b: convolution(x, w, b, stride=2, padding=1, groups=6))
        case("volume", two, {"x": "2,8,5,6,7", "w": "9,8,2,3,5"}, [{"x": (2, 8, 5, 6, 7), "w": (9, 8, 2, 3, 5)}],
             lambda x, w: convolution(x, w, stride=(1, 2, 1), padding=(0, 1, 2)))
        case("transposed", two, {"x": "2,16,h:1..20,6", "w": "16,10,3,3", "b": "10"}, [{"x": (2, 16, h, 6), "w": (16, 10, 3, 3), "b": (10,)} for h in (1, 5)],
             lambda x, w, b: spread(x, w, b, stride=2, padding=1, output_padding=1))
        case("transposed_plain", ("f32",), {"x": "2,5,h:1..20,6", "w": "5,7,3,2", "b": "7"}, [{"x": (2, 5, h, 6), "w": (5, 7, 3, 2), "b": (7,)} for h in (1, 5)],
             lambda x, w, b: spread(x, w, b, padding=1))
        case("transposed_line", two, {"x": "1,6,l:2..99", "w": "6,5,9", "b": "10"}, [{"x": (1, 6, n), "w": (6, 5, 9), "b": (10,)} for n in (2, 17)],
             lambda x, w, b: spread(x, w, b, stride=4, padding=3, groups=2))
        case("transposed_volume", ("f32",), {"x": "1,3,4,5,6", "w": "3,4,3,2,4"}, [{"x": (1, 3, 4, 5, 6), "w": (3, 4, 3, 2, 4)}],
             lambda x, w: spread(x, w, stride=2, padding=1))
        case("transposed_depthwise", ("f32",), {"x": "2,6,9,10", "w": "6,1,4,4", "b": "6"}, [{"x": (2, 6, 9, 10), "w": (6, 1, 4, 4), "b": (6,)}],
             lambda x, w, b: spread(x, w, b, stride=2, padding=1, groups=6))
        case("transposed_groups", two, {"x": "2,16,9", "w": "16,5,2"}, [{"x": (2, 16, 9), "w": (16, 5, 2)}],
             lambda x, w: spread(x, w, stride=3, padding=4, groups=2, dilation=2))
        case("unbatched", ("f32",), {"x": "8,9,10", "w": "6,8,3,3"}, [{"x": (8, 9, 10), "w": (6, 8, 3, 3)}], lambda x, w: convolution(x[None], w, padding=1)[0])
        case("channels_last", two, {"x": "2,9,10,16", "w": "8,16,3,3"}, [{"x": (2, 9, 10, 16), "w": (8, 16, 3, 3)}],
             lambda x, w: np.moveaxis(convolution(np.moveaxis(x, 3, 1), w, padding=1), 1, 3))
        last = lambda y: np.moveaxis(y, 1, 3)
        first = lambda x: np.moveaxis(x, 3, 1)
        case("last_masked", ("f16", "f32"), {"x": "b:1..9,9,h:8..30,64", "w": "24,64,3,3", "b": "24"},
             [{"x": (n, 9, h, 64), "w": (24, 64, 3, 3), "b": (24,)} for n, h in ((1, 8), (3, 15))],
             lambda x, w, b: last(np.maximum(convolution(first(x), w, b, 2, (1, 2), (1, 2)), 0)))
        case("last_depthwise", ("bf16",), {"x": "b:1..9,9,h:5..30,24", "w": "24,1,7,7", "b": "24"},
             [{"x": (n, 9, h, 24), "w": (24, 1, 7, 7), "b": (24,)} for n, h in ((1, 5), (2, 17))],
             lambda x, w, b: last(convolution(first(x), w, b, padding=3, groups=24) * 0.5))
        case("wide_depthwise", ("f16",), {"x": "2,5,13,l:6..99", "w": "10,1,9,7"}, [{"x": (2, 5, 13, n), "w": (10, 1, 9, 7)} for n in (6, 33)],
             lambda x, w: convolution(x, w, padding=(4, 3), groups=5))
        case("chain", ("bf16",), {"x": "b:1..9,8,12,11", "v": "32,8,3,3", "u": "32,1,3,3", "w": "16,32,3,3"},
             [{"x": (n, 8, 12, 11), "v": (32, 8, 3, 3), "u": (32, 1, 3, 3), "w": (16, 32, 3, 3)} for n in (1, 3)],
             lambda x, v, u, w: convolution(convolution(np.maximum(convolution(x, v, None, 2, 1), 0), u, padding=1, groups=32), w, padding=1))
        case("followed", two, {"x": "b:1..9,16,9,8", "w": "20,16,3,3", "b": "20", "r": "b,20,9,8"},
             [{"x": (2, 16, 9, 8), "w": (20, 16, 3, 3), "b": (20,), "r": (2, 20, 9, 8)}], lambda x, w, b, r: np.maximum(convolution(x, w, b, padding=1), 0) + r)
        case("followed", ("bf16",), {"x": "1,256,9,8", "w": "20,256,3,3", "b": "20", "r": "1,20,9,8"},
             [{"x": (1, 256, 9, 8), "w": (20, 256, 3, 3), "b": (20,), "r": (1, 20, 9, 8)}], lambda x, w, b, r: np.maximum(convolution(x, w, b, padding=1), 0) + r)
        if not wanted or "net" in wanted:
            network(folder)
            done += 1
    print(f"{done} cases ok" + ("" if ON_DEVICE else " (the device's programs on the CPU)"))


if __name__ == "__main__":
    main()
