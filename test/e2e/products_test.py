#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles matrix products and compares what the packages compute with numpy in float64, on every ISA level.

    products_test.py PROGRAM [NAME…]

Exit code 77 where numpy is missing. Sizes are odd, empty and one; results must not depend on the number of threads.
"""
import json
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
from levels import LEVELS, runnable_products, skipped  # noqa: E402
from tool import pellucid  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "products.py"
# Of the size of the sum of the terms' magnitudes: one rounding of the result, and the sum's own.
UNIT = {"f64": 2.0**-50, "f32": 2.0**-21, "f16": 2.0**-11 + 2.0**-21, "bf16": 2.0**-8 + 2.0**-21, "i32": 0, "i64": 0}
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int32, "i64": np.int64}
rng = np.random.default_rng(5)


def random(dtype, shape, special=False):
    if dtype.startswith("i"):
        return rng.integers(-1000, 1000, shape).astype(NUMPY[dtype])
    x = rng.standard_normal(shape)
    if special and x.size > 8:
        flat = x.reshape(-1)
        flat[[1, 3, 5]] = np.nan, np.inf, -np.inf
    return to_bf16(x) if dtype == "bf16" else x.astype(NUMPY[dtype])


def wide(dtype, x):
    return from_bf16(x).astype(np.float64) if dtype == "bf16" else x.astype(np.float64)


def check(name, got, dtype, expected, size):
    wrong = problem(got, expected, UNIT[dtype] * size, dtype, signed_zeros=False)
    assert not wrong, f"{name}: {wrong}"


def run(folder, name, function, dtype, specs, sizes, reference, special=False, labels=None, init=()):
    """`specs`: input name -> its dims as text; `sizes`: for each call, input name -> shape."""
    package = folder / "case.plc"
    inputs = []
    for key, dims in specs.items():
        inputs += ["--input", f"{key}={dims if '[' in dims else dtype + '[' + dims + ']'}"]
    pellucid("compile", f"{SOURCE}:{function}", *inputs, *init, "-o", package)
    if labels is not None:
        launches = [launch["kernel"] for launch in json.loads(pellucid("inspect", package, "--json"))["launches"]]
        assert launches == labels, f"{name}: launches {launches}, expected {labels}"
    for shapes in sizes:
        arrays = {key: random(dtype, shape, special) for key, shape in shapes.items()}
        words = []
        for key, array in arrays.items():
            np.save(folder / f"{key}.npy", array)
            words += ["--input", f"{key}=@{folder / key}.npy" + (":bf16" if dtype == "bf16" else "")]
        with np.errstate(all="ignore"):
            values = {key: wide(dtype, array) for key, array in arrays.items()}
            expected = reference(**values)
            size = np.nan_to_num(reference(**{key: np.abs(value) for key, value in values.items()}), posinf=0) + 1e-30
        results = []
        for level in runnable_products():
            for threads in (1, 3):
                out = folder / "out.npy"
                pellucid("run", package, *words, "--target", level, "--guard", "end", "--threads", threads, "--output", out)
                results.append(np.load(out))
                check(f"{name} {dtype} {level} {shapes}", results[-1], dtype, expected, size)
        # Levels beyond these sum bf16 in an order of their own.
        alike = 2 * len(LEVELS) if dtype == "bf16" else len(results)
        for first, other in [(0, i) for i in range(1, min(alike, len(results)))] + [(i, i + 1) for i in range(alike, len(results), 2)]:
            assert np.array_equal(results[first], results[other], equal_nan=dtype in ("f64", "f32", "f16")), f"{name}: bits differ"


def product(x, w):
    return np.matmul(x, w)


def linear_of(x, w, b):
    return x @ w.T + b


def main():
    wanted = sys.argv[2:]
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def case(name, *args, **kwargs):
            nonlocal done
            if wanted and name not in wanted:
                return
            run(folder, name, *args, **kwargs)
            done += 1

        rows = [0, 1, 5, 6, 17, 95, 96, 97, 200]
        for dtype in ("f32", "f64", "f16", "bf16"):
            case("matmul", "matmul", dtype, {"x": "m:0..1000,37", "w": "37,65"},
                 [{"x": (m, 37), "w": (37, 65)} for m in rows], product, labels=[f"pack_{dtype}", f"gemm_{dtype}_unpacked"])
            case("deep", "matmul", dtype, {"x": "m:0..1000,613", "w": "613,n:1..999"},
                 [{"x": (m, 613), "w": (613, n)} for m, n in ((33, 70), (130, 17))], product)
            case("linear", "linear", dtype, {"x": "batch:1..9,m:1..9,20", "w": "130,20", "b": "130"},
                 [{"x": (b, m, 20), "w": (130, 20), "b": (130,)} for b, m in ((1, 1), (3, 5))],
                 linear_of, labels=[f"gemm_{dtype}_bias_unpacked"])
            case("vector right", "matmul", dtype, {"x": "m:1..999,37", "w": "37"},
                 [{"x": (m, 37), "w": (37,)} for m in (1, 50, 63, 200)], product, labels=[f"gemm_{dtype}_unpacked"])
        case("one output", "linear", "f32", {"x": "batch:1..9,m:1..99,19", "w": "1,19", "b": "1"},
             [{"x": (b, m, 19), "w": (1, 19), "b": (1,)} for b, m in ((1, 1), (3, 33))], linear_of, labels=["copy_operand", "gemm_f32_bias_unpacked"])
        case("one column", "matmul", "f32", {"x": "m:1..99,19", "w": "19,1"}, [{"x": (33, 19), "w": (19, 1)}], product)
        case("no inner size", "matmul", "f32", {"x": "m:0..9,k:0..9", "w": "k,3"}, [{"x": (4, 0), "w": (0, 3)}], product)
        case("no columns", "matmul", "bf16", {"x": "4,5", "w": "5,n:0..9"}, [{"x": (4, 5), "w": (5, 0)}], product)
        case("dynamic inner size", "matmul", "bf16", {"x": "m:1..99,k:1..999", "w": "k,n:1..99"},
             [{"x": (13, 301), "w": (301, 29)}], product)
        case("special values", "matmul", "f32", {"x": "17,23", "w": "23,70"}, [{"x": (17, 23), "w": (23, 70)}], product,
             special=True)
        case("transposed", "transposed_operands", "f32", {"x": "37,m:1..99", "w": "65,37"},
             [{"x": (37, 50), "w": (65, 37)}], lambda x, w: x.T @ w.T,
             labels=["copy_operand", "pack_f32", "gemm_f32_unpacked"])
        case("strided rows", "every_second_row", "f32", {"x": "m:1..99,37", "w": "37,20"},
             [{"x": (51, 37), "w": (37, 20)}], lambda x, w: x[::2] @ w, labels=["gemm_f32_unpacked"])
        case("vector left", "matmul", "f32", {"x": "37", "w": "37,20"}, [{"x": (37,), "w": (37, 20)}], product)
        case("two vectors", "matmul", "f64", {"x": "37", "w": "37"}, [{"x": (37,), "w": (37,)}], product)
        case("batch", "bmm", "bf16", {"x": "b:1..9,m:1..99,17", "w": "b,17,33"},
             [{"x": (b, 50, 17), "w": (b, 17, 33)} for b in (1, 4)], product, labels=["pack_bf16", "gemm_bf16_unpacked"])
        case("broadcast batch", "matmul", "f32", {"x": "b:1..9,3,m:1..99,17", "w": "3,17,33"},
             [{"x": (2, 3, 20, 17), "w": (3, 17, 33)}], product)
        case("broadcast left", "matmul", "f32", {"x": "m:1..99,17", "w": "4,17,33"},
             [{"x": (20, 17), "w": (4, 17, 33)}], product)
        case("bias matrix", "addmm", "f16", {"c": "m,20", "x": "m:1..99,37", "w": "37,20"},
             [{"c": (50, 20), "x": (50, 37), "w": (37, 20)}], lambda c, x, w: c + x @ w, labels=["pack_f16", "gemm_f16_bias_unpacked"])
        case("bias column", "addmm", "f32", {"c": "m,1", "x": "m:2..99,37", "w": "37,20"},
             [{"c": (50, 1), "x": (50, 37), "w": (37, 20)}], lambda c, x, w: c + x @ w)
        case("scaled", "addmm_scaled", "f32", {"c": "20", "x": "m:1..99,37", "w": "37,20"},
             [{"c": (20,), "x": (50, 37), "w": (37, 20)}], lambda c, x, w: 0.5 * c + 2 * (x @ w))
        for dtype in ("i32", "i64"):
            case("integers", "matmul", dtype, {"x": "m:1..99,37", "w": "37,20"}, [{"x": (50, 37), "w": (37, 20)}], product)
        tied(folder) if not wanted or "tied" in wanted else None
    print(f"{done} cases ok" + skipped(done))


def tied(folder):
    """A weight that is read as it is and packed in two ways is there three times; without its table, only packed."""
    package, index, out = folder / "tied.plc", folder / "index.npy", folder / "y.npy"
    table = rng.standard_normal((11, 7)).astype(np.float32)
    np.savez(folder / "w.npz", **{"table.weight": table})
    pellucid("compile", f"{SOURCE}:Tied", "--input", "index=i64[n:1..99]", "--weights", folder / "w.npz", "-o", package)
    weights = [r["name"] for r in json.loads(pellucid("inspect", package, "--json"))["records"] if r["name"].startswith("weights/")]
    assert len(weights) == 3, weights
    values = rng.integers(0, 11, 29)
    np.save(index, values)
    pellucid("run", package, "--input", f"index=@{index}", "--output", out)
    wide_table = table.astype(np.float64)
    expected = wide_table[values] @ wide_table.T @ wide_table
    check("tied", np.load(out), "f32", expected, np.abs(wide_table[values]) @ np.abs(wide_table.T) @ np.abs(wide_table))


if __name__ == "__main__":
    main()
