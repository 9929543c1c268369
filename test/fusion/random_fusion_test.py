#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles random functions with and without fusion, and compares every result bit by bit.

    random_fusion_test.py PROGRAM [--first SEED] [--count FUNCTIONS]

Without fma a fused program rounds exactly where the unfused one does. Exit code 77 where numpy is missing.
"""
import argparse
import concurrent.futures
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "judge")]
from bfloat16 import to_bf16  # noqa: E402
from judge import numbers, problem  # noqa: E402
from levels import LEVELS, runnable, skipped  # noqa: E402
from random_models import Model  # noqa: E402

NAMES = re.findall(r"^def (\w+)", (HERE / "random_kernels.py").read_text(), re.M)
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int32, "i64": np.int64, "bool": np.bool_}
RUNS = [({"n": 3, "m": 2, "c": 2}, True), ({"n": 1000, "m": 33, "c": 37}, False), ({"n": 1, "m": 1, "c": 1}, False),
        ({"n": 0, "m": 0, "c": 5}, False)]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stderr}")


def random_array(rng, dtype, shape, special):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype[0] == "i":
        return rng.integers(-9, 99, shape).astype(DTYPES[dtype])
    values = np.asarray(2 * rng.standard_normal(shape), np.float32)
    if special and values.size:
        flat = values.reshape(-1)
        for value in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            flat[rng.integers(flat.size)] = value
    return to_bf16(values) if dtype == "bf16" else values.astype(DTYPES[dtype])


def difference(fused, unfused, dtype):
    """To the bit, but for what a NaN carries."""
    if fused.dtype != unfused.dtype:
        return f"type {fused.dtype}, unfused {unfused.dtype}"
    return problem(numbers(fused, dtype), numbers(unfused, dtype))


def check(program, seed, folder):
    model = Model(seed, outputs=6)
    file = folder / "model.py"
    file.write_text(f"import torch\nfrom random_kernels import {', '.join(NAMES)}\n\n\n" + model.source("f"))
    for source in ("kernels.py", "random_kernels.py"):
        shutil.copy(HERE / source, folder)
    command = [program, "compile", "--verify-each", f"{file}:f", "--target", ",".join(LEVELS), "--no-fma"]
    for text in model.input_texts():
        command += ["--input", text]
    run(*command, "-o", folder / "fused.plc")
    run(*command, "--no-fusion", "-o", folder / "unfused.plc")
    rng = np.random.default_rng(seed)
    problems = []
    for level, (sizes, special) in itertools.product(runnable(), RUNS):
        inputs = []
        for name, dtype, dims in model.inputs:
            shape = tuple(int(d) if d.isdigit() else sizes[d] for d in dims)
            np.save(folder / f"{name}.npy", random_array(rng, dtype, shape, special))
            inputs += ["--input", f"{name}=@{folder / name}.npy" + (":bf16" if dtype == "bf16" else "")]
        got = {}
        for tag in ("fused", "unfused"):
            outputs = [folder / f"{tag}{i}.npy" for i in range(len(model.results))]
            run(program, "run", folder / f"{tag}.plc", "--target", level, "--guard", "end", *inputs, *[word for path in outputs for word in ("--output", path)])
            got[tag] = [np.load(path) for path in outputs]
        for i, value in enumerate(model.results):
            if wrong := difference(got["fused"][i], got["unfused"][i], value.dtype):
                problems.append(f"result {i} ({value.text}, {value.dtype}) at {sizes} on {level}: {wrong}")
    return problems + [model.source("f")] if problems else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()

    def one(seed):
        with tempfile.TemporaryDirectory() as folder:
            try:
                return check(options.program, seed, pathlib.Path(folder))
            except AssertionError as error:
                return [str(error)]

    seeds = range(options.first, options.first + options.count)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for seed, problems in zip(seeds, pool.map(one, seeds)):
            if problems:
                failed += 1
                print(f"FAILED seed {seed}")
                for problem in problems:
                    print("   ", problem.replace("\n", "\n    "))
    print(f"{failed} of {options.count} functions failed" + skipped(options.count))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
