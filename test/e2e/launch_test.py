#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kernels through `pellucid launch` and compares them with numpy in float64.

    launch_test.py PROGRAM [--guard end|begin] [NAME…]        every case on both ISA levels and the interpreter

On the ISA levels each tensor ends at a page without access, or with `--guard begin` begins at one.

Exit code 77 where numpy is missing. Inputs are random, sizes odd, edges masked; a case may bring NaN and infinities.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import launch_cases_control  # noqa: E402
import launch_cases_descriptors  # noqa: E402
import launch_cases_matrices  # noqa: E402
import launch_cases_memory  # noqa: E402
import launch_cases_networks  # noqa: E402
import launch_cases_numbers  # noqa: E402
import launch_cases_random  # noqa: E402
import launch_cases_reductions  # noqa: E402
from launch_case import Bf16, Bits, Case, View, compare, text_of  # noqa: E402

MODULES = [launch_cases_control, launch_cases_descriptors, launch_cases_matrices, launch_cases_memory, launch_cases_networks,
           launch_cases_numbers, launch_cases_random, launch_cases_reductions]


def command(program, case, engine, folder):
    words = [program, "launch", f"{HERE / 'kernels' / case.file}:{case.kernel}", "--grid", case.grid, *case.extra, *engine]
    for name, value in case.args.items():
        words += ["--arg", f"{name}={text_of(folder, name, value)}"]
    for name in case.out:
        words += ["--out", f"{name}={folder / ('out_' + name)}.npy"]
    return words


def run(program, case, engine):
    """What is wrong with one case on one engine; nothing when all is as wanted."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = subprocess.run(command(program, case, engine, folder), capture_output=True, text=True, timeout=900)
        if case.refusal and (case.refused_on_cuda or "cuda" not in engine):
            first = done.stderr.split("\n")[0]
            good = done.returncode == 1 and re.search(case.refusal, first)
            return "" if good else f"exit {done.returncode}, no refusal like '{case.refusal}': {done.stderr.strip()[:400]}"
        if done.returncode != 0:
            return f"exit {done.returncode}: {done.stderr.strip()[:400]}"
        if case.prints and not re.search(case.prints, done.stderr):
            return f"'{case.prints}' is not in '{done.stderr[:400]}'"
        for name, want in case.out.items():
            got = np.load(folder / f"out_{name}.npy")
            argument = case.args.get(name)
            dtype = argument.dtype if isinstance(argument, np.ndarray) else None
            if dtype is not None and got.dtype != dtype:
                return f"{name}: type {got.dtype}, expected {dtype}"
            if isinstance(argument, (Bits, View)):
                got = argument.decode(got)
            tolerance = case.tolerance_of(name)
            if problem := compare(got, want, tolerance, signed_zeros=case.signed_zeros):
                return f"{name}: {problem}"
    return ""


def block_of(n):
    return 1 << max(n - 1, 1).bit_length() if n > 1 else 2


def basic_cases():
    rng = np.random.default_rng(7)

    def f32(*shape, scale=1.0):
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    for n, block in ((1, 16), (1000, 128), (4097, 1024), (65536, 1024)):
        x, y = f32(n), f32(n)
        yield Case(f"add {n}", "elementwise.py", "add", str(-(-n // block)),
                   dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(n, np.float32), n=n, BLOCK=block),
                   dict(out_ptr=x.astype(np.float64) + y), 1e-7)
    x = f32(777)
    x[[3, 100, 500]] = [np.nan, np.inf, -np.inf]
    y = f32(777)
    with np.errstate(invalid="ignore"):
        yield Case("add with NaN and infinities", "elementwise.py", "add", "7",
                   dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(777, np.float32), n=777, BLOCK=128),
                   dict(out_ptr=x.astype(np.float64) + y), 1e-7)
    for name, dtype, tolerance in (("f16", np.float16, 2e-3), ("f64", np.float64, 3e-7), ("f32", np.float32, 3e-7)):
        x = (rng.standard_normal(3001) * 4).astype(dtype)
        want = x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64)))
        yield Case(f"silu {name}", "elementwise.py", "silu", "24",
                   dict(x_ptr=x, out_ptr=np.zeros(3001, dtype), n=3001, BLOCK=128), dict(out_ptr=want), tolerance,
                   computed_in="f32" if name == "f64" else None)
    x = Bf16(rng.standard_normal(5003) * 4)
    yield Case("silu bf16", "elementwise.py", "silu", "5",
               dict(x_ptr=x, out_ptr=Bf16(np.zeros(5003)), n=5003, BLOCK=1024),
               dict(out_ptr=x.values / (1 + np.exp(-x.values))), 8e-3)
    x = f32(1500, scale=2)
    wide = x.astype(np.float64)
    limit = np.float64(np.float32(0.5))
    yield Case("two outputs", "elementwise.py", "sin_and_cos_like", "6",
               dict(x_ptr=x, low_ptr=np.zeros(1500, np.float32), high_ptr=np.zeros(1500, np.float32), n=1500, limit=0.5,
                    BLOCK=256),
               dict(low_ptr=np.minimum(wide, limit), high_ptr=np.where(wide > limit, np.exp(-np.abs(wide)), wide**2)), 1e-6)
    for dtype in (np.int32, np.int64):
        a = rng.integers(-10**6, 10**6, 999).astype(dtype)
        b = rng.integers(1, 1000, 999).astype(dtype) * rng.choice([-1, 1], 999).astype(dtype)
        quotient = np.trunc(a / b).astype(dtype)  # the kernel language divides as C does
        want = quotient * 7 + (a - quotient * b) + (((a & 255) << 3) ^ (b | 5)) + (~a >> 2)
        yield Case(f"integers {np.dtype(dtype).name}", "elementwise.py", "integer_mix", "8",
                   dict(a_ptr=a, b_ptr=b, out_ptr=np.zeros(999, dtype), n=999, BLOCK=128), dict(out_ptr=want), 0)
    # The constant 1 is a mask of all lanes for bool tiles only.
    for dtype in (np.int8, np.int32, np.int64):
        x = rng.integers(-20, 20, 333).astype(dtype)
        yield Case(f"lowest bits {np.dtype(dtype).name}", "elementwise.py", "lowest_bits", "6",
                   dict(x_ptr=x, out_ptr=np.zeros(333, np.int32), n=333, BLOCK=64),
                   dict(out_ptr=np.where(x & 1, 100, 0) + (x | 1) * 3 + (x ^ 1)), 0)
    x = f32(901)
    yield Case("bool store", "elementwise.py", "flags", "15",
               dict(x_ptr=x, out_ptr=np.zeros(901, np.bool_), n=901, low=-0.5, high=0.75, BLOCK=64),
               dict(out_ptr=(x > -0.5) & (x <= 0.75)), 0)
    x = f32(1023)
    yield Case("in place", "elementwise.py", "scale_in_place", "4", dict(x_ptr=x, n=1023, factor=-1.5, BLOCK=256),
               dict(x_ptr=x.astype(np.float64) * -1.5), 1e-7)
    bias = f32(1023)
    for with_bias in (True, False):
        yield Case(f"bias {'given' if with_bias else 'none'}", "elementwise.py", "optional_bias", "8",
                   dict(x_ptr=x, bias_ptr=bias if with_bias else None, out_ptr=np.zeros(1023, np.float32), n=1023, BLOCK=128),
                   dict(out_ptr=x.astype(np.float64) + (bias if with_bias else 0)), 1e-7)
    x = f32(67, 45)
    yield Case("transpose", "elementwise.py", "transpose", "3,2",
               dict(x_ptr=x, out_ptr=np.zeros((45, 67), np.float32), rows=67, cols=45, BLOCK=32), dict(out_ptr=x.T), 0)
    x = f32(40, 31)
    yield Case("strided rows", "elementwise.py", "strided_rows", "31",
               dict(x_ptr=x, out_ptr=np.zeros((31, 40), np.float32), rows=31, cols=40, stride_row=1, stride_col=31, BLOCK=64),
               dict(out_ptr=2 * x.T), 0)
    x = rng.integers(0, 50, 10007).astype(np.int32)
    yield Case("histogram by atomics", "elementwise.py", "histogram", "10",
               dict(x_ptr=x, counts_ptr=np.zeros(50, np.int32), n=10007, BLOCK=1024), dict(counts_ptr=np.bincount(x, minlength=50)), 0)

    def softmax_of(values):
        e = np.exp(values - values.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    for rows, cols in ((5, 7), (3, 1000), (9, 1024), (2, 4099)):
        x = f32(rows, cols, scale=3)
        yield Case(f"softmax {rows}x{cols}", "rows.py", "softmax", str(rows),
                   dict(x_ptr=x, out_ptr=np.zeros_like(x), x_stride=cols, out_stride=cols, cols=cols, BLOCK=block_of(cols)),
                   dict(out_ptr=softmax_of(x.astype(np.float64))), 1e-6)
    x, keep = f32(6, 321), rng.integers(0, 2, (6, 321)).astype(np.int8)
    keep[:, 0] = 1
    yield Case("masked softmax", "rows.py", "masked_softmax", "6",
               dict(x_ptr=x, keep_ptr=keep, out_ptr=np.zeros_like(x), cols=321, BLOCK=512),
               dict(out_ptr=softmax_of(np.where(keep, x.astype(np.float64), -np.inf))), 1e-6)
    for cols, block in ((100, 128), (1111, 256)):
        x, w = f32(4, cols), f32(cols)
        wide = x.astype(np.float64)
        yield Case(f"rms norm {cols}", "rows.py", "rms_norm", "4",
                   dict(x_ptr=x, weight_ptr=w, out_ptr=np.zeros_like(x), cols=cols, eps=1e-6, BLOCK=block),
                   dict(out_ptr=wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * w), 2e-6)
    x, w, b = f32(5, 300), f32(300), f32(300)
    wide = x.astype(np.float64)
    mean = wide.mean(-1)
    norm = (wide - mean[:, None]) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    yield Case("layer norm", "rows.py", "layer_norm", "5",
               dict(x_ptr=x, out_ptr=np.zeros_like(x), weight_ptr=w, bias_ptr=b, mean_ptr=np.zeros(5, np.float32), cols=300,
                    eps=1e-5, BLOCK=512),
               dict(out_ptr=norm * w + b, mean_ptr=mean), 2e-6)
    x = rng.permutation(7 * 200).reshape(7, 200).astype(np.float32)
    yield Case("argmax", "rows.py", "row_argmax", "7",
               dict(x_ptr=x, value_ptr=np.zeros(7, np.float32), index_ptr=np.zeros(7, np.int32), cols=200, BLOCK=256),
               dict(value_ptr=x.max(-1), index_ptr=x.argmax(-1)), 0)
    x = f32(3, 500)
    yield Case("cumsum", "rows.py", "cumulative", "3", dict(x_ptr=x, out_ptr=np.zeros_like(x), cols=500, BLOCK=512),
               dict(out_ptr=np.cumsum(x.astype(np.float64), -1)), 1e-5)
    x = f32(203, 77)
    yield Case("column sums", "rows.py", "column_sums", "3",
               dict(x_ptr=x, out_ptr=np.zeros(77, np.float32), rows=203, cols=77, ROWS=16, COLS=32),
               dict(out_ptr=x.astype(np.float64).sum(0)), 1e-5)
    for cols in (64, 65):
        x = f32(6, cols)
        yield Case(f"autotune and heuristics {cols}", "rows.py", "tuned_sum", "6",
                   dict(x_ptr=x, out_ptr=np.zeros(6, np.float32), cols=cols), dict(out_ptr=2 * x.astype(np.float64).sum(-1)), 1e-5)

    for M, N, K in ((64, 64, 32), (70, 51, 33), (1, 130, 257)):
        a, b = f32(M, K), f32(K, N)
        want = a.astype(np.float64) @ b.astype(np.float64)
        strides = dict(stride_am=K, stride_ak=1, stride_bk=N, stride_bn=1, stride_cm=N, stride_cn=1)
        grid = str(-(-M // 32) * -(-N // 32))
        yield Case(f"matmul {M}x{N}x{K}", "tiles.py", "matmul", grid,
                   dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((M, N), np.float32), M=M, N=N, K=K, **strides, BLOCK_M=32, BLOCK_N=32,
                        BLOCK_K=16, GROUP=4, ACTIVATION="leaky"),
                   dict(c_ptr=np.where(want >= 0, want, 0.01 * want)), 1e-5)
        half = [v.astype(np.float16) for v in (a, b)]
        yield Case(f"block pointer matmul f16 {M}x{N}x{K}", "tiles.py", "block_pointer_matmul", f"{-(-M // 32)},{-(-N // 32)}",
                   dict(a_ptr=half[0], b_ptr=half[1], c_ptr=np.zeros((M, N), np.float32), M=M, N=N, K=K, BLOCK_M=32, BLOCK_N=32,
                        BLOCK_K=32),
                   dict(c_ptr=half[0].astype(np.float64) @ half[1].astype(np.float64)), 1e-5)
    heads, length, depth = 2, 75, 32
    q, k, v = (f32(heads, length, depth) for _ in range(3))
    for causal in (False, True):
        scores = np.einsum("hmd,hnd->hmn", q.astype(np.float64), k) / np.sqrt(depth)
        if causal:
            scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
        yield Case(f"attention {'causal' if causal else 'full'}", "tiles.py", "attention", f"{-(-length // 16)},{heads}",
                   dict(q_ptr=q, k_ptr=k, v_ptr=v, out_ptr=np.zeros_like(q), scale=float(1 / np.sqrt(depth)), length=length,
                        D=depth, BLOCK_M=16, BLOCK_N=32, CAUSAL=causal),
                   dict(out_ptr=np.einsum("hmn,hnd->hmd", softmax_of(scores), v.astype(np.float64))), 1e-5)


def cases():
    yield from basic_cases()
    for module in MODULES:
        yield from module.cases()


def guard_of(case, engine, side):
    """A kernel may well go beyond a view, to the rest of the tensor."""
    is_view = any(isinstance(value, View) for value in case.args.values())
    return ["--guard", side] if engine[0] == "--target" and not is_view else []


def main():
    program, wanted = sys.argv[1], sys.argv[2:]
    side = wanted[1] if wanted[:1] == ["--guard"] else "end"
    wanted = wanted[2:] if wanted[:1] == ["--guard"] else wanted
    level4 = "avx512bw" in pathlib.Path("/proc/cpuinfo").read_text()
    chosen = [case for case in cases() if not wanted or any(word in case.name for word in wanted)]
    pairs = [(case, engine + guard_of(case, engine, side)) for case in chosen for engine in case.engines]
    ready = [pair for pair in pairs if level4 or "cpu:x86-64-v4" not in pair[1]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda pair: run(program, *pair), ready))
    for (case, engine), problem in zip(ready, problems):
        if problem:
            print(f"FAILED {case.name} [{' '.join(engine)}]: {problem}")
    failed = sum(bool(problem) for problem in problems)
    print(f"{len(chosen)} cases: {len(ready) - failed} passed, {failed} failed, {len(pairs) - len(ready)} skipped")
    return 1 if failed or not ready else 0


if __name__ == "__main__":
    sys.exit(main())
