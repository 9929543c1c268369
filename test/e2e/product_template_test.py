#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CUDA programs of matrix products beside numpy in float64.

    product_template_test.py PROGRAM [--device] [NAME…]

Exit code 77 where numpy is missing. Without a device, the program that was lowered for one is compiled for the CPU: the
template's text, its variants and what joins its store are the same. Sizes are odd, empty, one, and just around tiles.
"""
import json
import pathlib
import sys
import tempfile
import zipfile

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

SOURCE = pathlib.Path(__file__).resolve().parent / "products.py"
# Of the size of the sum of the terms' magnitudes; the second is of each rounding in between.
UNIT = {"f64": 2.0**-48, "f32": 2.0**-20, "f16": 2.0**-10, "bf16": 2.0**-7, "i8": 0, "i32": 0, "i64": 0}
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32, "i64": np.int64}
ON_DEVICE = "--device" in sys.argv
rng = np.random.default_rng(7)


def random(dtype, shape):
    if dtype.startswith("i"):
        return rng.integers(-100, 100, shape).astype(NUMPY[dtype])
    x = rng.standard_normal(shape)
    return to_bf16(x) if dtype == "bf16" else x.astype(NUMPY[dtype])


def wide(dtype, x):
    if dtype.startswith("i"):
        return x.astype(np.int64)
    return from_bf16(x).astype(np.float64) if dtype == "bf16" else x.astype(np.float64)


def kernels_of(package):
    return [launch["kernel"] for launch in json.loads(pellucid("inspect", package, "--json"))["launches"]]


def compiled(folder, function, inputs):
    """The package to run, and the kernels of the device's program."""
    package = folder / "cuda.plc"
    pellucid("compile", f"{SOURCE}:{function}", *inputs, "--target", "cuda:sm_90", "-o", package)
    kernels = kernels_of(package)
    if ON_DEVICE:
        return package, kernels
    text, again = folder / "lowered.txt", folder / "cpu.plc"
    text.write_text(pellucid("inspect", package, "--ir", "lowered"))
    pellucid("compile", text, "--target", "cpu:x86-64-v3", "-o", again)
    return again, kernels


def run(folder, function, dtype, specs, sizes, reference, kernels=None, out=None):
    """`specs`: input name -> dims; `sizes`: for each call, input name -> shape."""
    inputs = [word for key, dims in specs.items() for word in ("--input", f"{key}={dtype}[{dims}]")]
    package, found = compiled(folder, function, inputs)
    if kernels is not None:
        assert found == kernels, f"{function}: launches {found}, expected {kernels}"
    for shapes in sizes:
        arrays = {key: random(dtype, shape) for key, shape in shapes.items()}
        words = []
        for key, array in arrays.items():
            np.save(folder / f"{key}.npy", array)
            words += ["--input", f"{key}=@{folder / key}.npy" + (":bf16" if dtype == "bf16" else "")]
        pellucid("run", package, *words, *(["--target", "cuda"] if ON_DEVICE else []), "--output", folder / "out.npy")
        values = {key: wide(dtype, array) for key, array in arrays.items()}
        expected = reference(**values)
        got = np.load(folder / "out.npy")
        if dtype.startswith("i"):
            assert np.array_equal(got, expected.astype(NUMPY[dtype])), f"{function} {dtype} {shapes}"
            continue
        size = np.maximum(reference(**{key: np.abs(value) for key, value in values.items()}), 1e-30)
        wrong = problem(got, expected, UNIT[dtype] * size, out or dtype, signed_zeros=False)
        assert not wrong, f"{function} {dtype} {shapes}: {wrong}"


def code_of(folder):
    """The PTX of the variant that assumes aligned tensors."""
    with zipfile.ZipFile(folder / "cuda.plc") as package:
        name = min((name for name in package.namelist() if name.endswith("sm_90a.ptx")), key=len)
        return package.read(name).decode()


def silu(x):
    return x / (1 + np.exp(-x))


def main():
    wanted = [word for word in sys.argv[2:] if not word.startswith("--")]
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def case(name, *args, **kwargs):
            nonlocal done
            if wanted and name not in wanted:
                return
            run(folder, *args, **kwargs)
            done += 1

        def product(x, w):
            return x @ w

        def linear(x, w, b=0):
            return x @ np.swapaxes(w, -1, -2) + b

        def rows(*counts, **others):
            return [{"x": (m, others["w"][1]), **others} for m in counts]

        # Every choice of tiles by rows, whole and cut in each dim.
        case("rows", "linear", "bf16", {"x": "m:0..5000,72", "w": "136,72", "b": "136"},
             rows(0, 1, 15, 16, 17, 64, 65, 200, 513, w=(136, 72), b=(136,)), linear, kernels=["gemm_linear"])
        case("whole", "linear_plain", "bf16", {"x": "1024,512", "w": "256,512"}, rows(1024, w=(256, 512)), linear)
        if not wanted or "whole" in wanted:
            code = code_of(folder)
            assert "wgmma.mma_async" in code and "cp.async.bulk.tensor.2d" in code, "no staged product by warpgroups"
            assert "ld.global" not in code, "an operand goes through registers"
            assert code.count("st.global") == code.count("st.global.v4"), "a store of less than 16 bytes"
        # 192 columns are two tiles, the second of which the last program may lack; both run into the next round.
        case("two tiles of columns", "residual", "bf16", {"x": "8400,520", "w": "378,520", "b": "378", "r": "8400,378"},
             [{"x": (8400, 520), "w": (378, 520), "b": (378,), "r": (8400, 378)}], lambda x, w, b, r: r + linear(x, w, b) * 0.5)
        if not wanted or "two tiles of columns" in wanted:
            code = code_of(folder)
            assert "m64n128k16" in code and "m64n64k16" in code, "no tile of 192 columns"
            assert "wgmma.wait_group.sync.aligned \t2" in code or "wgmma.wait_group.sync.aligned 2" in code, "a round waits for its products"
        case("odd", "linear_plain", "bf16", {"x": "m:1..3000,37", "w": "65,37"}, rows(3, 70, 700, w=(65, 37)), linear)
        case("right", "mm", "bf16", {"x": "m:1..3000,40", "w": "40,72"},
             [{"x": (m, 40), "w": (40, 72)} for m in (9, 50, 600)], product)
        case("left", "transposed_left", "f16", {"x": "40,m:1..3000", "w": "40,72"},
             [{"x": (40, m), "w": (40, 72)} for m in (9, 50, 600)], lambda x, w: x.T @ w)
        case("both", "transposed_operands", "bf16", {"x": "37,m:1..99", "w": "65,37"}, [{"x": (37, 50), "w": (65, 37)}],
             lambda x, w: x.T @ w.T)
        case("sizes unknown", "matmul", "bf16", {"x": "m:1..999,k:0..999", "w": "k,n:1..999"},
             [{"x": (m, k), "w": (k, n)} for m, k, n in ((13, 301, 29), (4, 0, 3), (200, 64, 130))], product)
        case("parts", "transposed_right", "bf16", {"x": "16,4096", "w": "48,4096"}, rows(16, w=(48, 4096)), linear,
             kernels=["gemm_mm", "gemm_mm_parts"])
        case("parts of a sum", "residual", "bf16", {"x": "2,8,4096", "w": "48,4096", "b": "48", "r": "2,8,48"},
             [{"x": (2, 8, 4096), "w": (48, 4096), "b": (48,), "r": (2, 8, 48)}],
             lambda x, w, b, r: r + linear(x, w, b) * 0.5, kernels=["gemm_linear_mul_add", "gemm_linear_mul_add_parts"])
        for dtype in ("f32", "f64", "f16", "i8", "i32", "i64"):
            case("types", "mm", dtype, {"x": "m:1..300,37", "w": "37,20"},
                 [{"x": (m, 37), "w": (37, 20)} for m in (5, 70)], product)
        case("batch", "bmm", "bf16", {"x": "b:1..9,m:1..99,24", "w": "b,24,40"},
             [{"x": (b, 50, 24), "w": (b, 24, 40)} for b in (1, 4)], product)
        # Programs that go through several tiles.
        for k, n in ((72, 696), (64, 640), (70, 701)):
            case("many tiles", "bmm", "bf16", {"x": f"46,130,{k}", "w": f"46,{k},{n}"}, [{"x": (46, 130, k), "w": (46, k, n)}], product)
        case("broadcast batch", "matmul", "f32", {"x": "b:1..9,3,m:1..99,17", "w": "3,17,33"},
             [{"x": (2, 3, 20, 17), "w": (3, 17, 33)}], product)
        case("vectors", "matmul", "f32", {"x": "37", "w": "37"}, [{"x": (37,), "w": (37,)}], product)
        case("scaled", "addmm_scaled", "f16", {"c": "m,20", "x": "m:1..99,37", "w": "37,20"},
             [{"c": (50, 20), "x": (50, 37), "w": (37, 20)}], lambda c, x, w: 0.5 * c + 2 * (x @ w))
        case("column", "addmm_scaled", "f32", {"c": "m,1", "x": "m:2..99,37", "w": "37,20"},
             [{"c": (50, 1), "x": (50, 37), "w": (37, 20)}], lambda c, x, w: 0.5 * c + 2 * (x @ w))
        case("large integers", "addmm_without_addend", "i64", {"c": "20", "x": "m:1..99,37", "w": "37,20"},
             [{"c": (20,), "x": (9, 37), "w": (37, 20)}], lambda c, x, w: 3 * (x @ w))

        # What follows a product joins its store.
        case("activation", "activated", "bf16", {"x": "b:1..9,m:1..99,40", "w": "72,40", "b": "72"},
             [{"x": (b, m, 40), "w": (72, 40), "b": (72,)} for b, m in ((1, 1), (3, 50))],
             lambda x, w, b: np.maximum(linear(x, w, b), 0), kernels=["gemm_linear_relu"])
        case("residual", "residual", "bf16", {"x": "m:1..999,40", "w": "72,40", "b": "72", "r": "m,72"},
             [{"x": (m, 40), "w": (72, 40), "b": (72,), "r": (m, 72)} for m in (5, 300)],
             lambda x, w, b, r: r + linear(x, w, b) * 0.5, kernels=["gemm_linear_mul_add"])
        case("gated", "gated", "bf16", {"x": "m:1..999,40", "w": "72,40", "v": "72,40"},
             [{"x": (m, 40), "w": (72, 40), "v": (72, 40)} for m in (5, 300)],
             lambda x, w, v: np.abs(silu(linear(x, w))) * np.abs(linear(x, v)) * np.sign(linear(x, w) * linear(x, v)),
             kernels=["gemm_linear", "gemm_linear_silu_mul"])
        case("heads", "per_head", "f32", {"x": "b:1..9,m:1..99,24", "w": "b,24,40", "scale": "b,1,1", "shift": "b,m,1"},
             [{"x": (3, 50, 24), "w": (3, 24, 40), "scale": (3, 1, 1), "shift": (3, 50, 1)}],
             lambda x, w, scale, shift: x @ w * scale + shift, kernels=["gemm_bmm_mul_add"])
        case("rows again", "row_of_batch", "bf16", {"x": "b:1..9,m:1..99,24", "w": "40,24", "r": "m,40"},
             [{"x": (3, 50, 24), "w": (40, 24), "r": (50, 40)}], lambda x, w, r: linear(x, w) + r,
             kernels=["gemm_linear_add"])
        case("cast", "wider", "bf16", {"x": "m:1..999,24", "w": "40,24"}, rows(50, w=(40, 24)),
             lambda x, w: linear(x, w) * 3, kernels=["gemm_linear_to_mul"], out="f32")
        case("two readers", "read_twice", "bf16", {"x": "m:1..999,24", "w": "40,24"}, rows(50, w=(40, 24)),
             lambda x, w: np.maximum(linear(x, w), 0), kernels=["gemm_linear", "fused_relu", "reduce_sum"])
    print(f"{done} cases ok" + ("" if ON_DEVICE else " (on the CPU)"))


if __name__ == "__main__":
    main()
