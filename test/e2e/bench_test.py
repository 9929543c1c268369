#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pellucid bench` on a kernel, a model and a package: every figure is there and means what its name says.

    bench_test.py PROGRAM SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / "bench"))
from compare import write_npy  # noqa: E402

SOURCE = ROOT / "bench" / "kernels.py"
MODEL = ["--dtype", "bf16", "--input", "x=bf16[batch=16:1..64,128]"]


def bench(*words):
    done = subprocess.run([PROGRAM, "bench", *map(str, words), "--seconds", "0.05", "--threads", "1", "--json"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert 0 < report["min_s"] <= report["median_s"] and report["calls"] >= 5, report
    assert abs(report["bytes_per_s"] * report["median_s"] / report["bytes"] - 1) < 1e-6, report
    assert abs(report["of_ceiling"] * report["copy_ceiling_bytes_per_s"] / report["bytes_per_s"] - 1) < 1e-6, report
    return report


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for name in ("x", "y", "out"):
        write_npy(folder / f"{name}.npy", "<f4", 5000)
    arguments = [word for name in ("x", "y", "out") for word in ("--arg", f"{name}=@{folder / name}.npy")]
    kernel = bench(f"{SOURCE}:add", "--grid", 5, *arguments, "--arg", "n=5000", "--arg", "BLOCK=1024")
    assert kernel["bytes"] == 3 * 4 * 5000 and kernel["isa"].startswith("cpu:x86-64-"), kernel

    for name in ("x", "y", "out"):
        write_npy(folder / f"{name}.npy", "<f4", 200000)
    kernel = bench(f"{SOURCE}:add", "--grid", 196, *arguments, "--arg", "n=200000", "--arg", "BLOCK=1024")
    lower = min(kernel["arithmetic_ceiling_bytes_per_s"], kernel["copy_ceiling_bytes_per_s"])
    assert abs(kernel["of_lower_ceiling"] * lower / kernel["bytes_per_s"] - 1) < 1e-6, kernel

    model = bench(f"{SOURCE}:TwoLinear", *MODEL)
    assert model["bytes"] == 2 * 2 * 16 * 128, model
    assert 0 < model["load_s"] < model["source_to_package_s"], model

    model = bench(f"{SOURCE}:TwoLinear", *MODEL, "--target", "cpu:x86-64-v3")
    assert model["bytes"] == 2 * 2 * 16 * 128, model

    package = folder / "model.plc"
    subprocess.run([PROGRAM, "compile", f"{SOURCE}:TwoLinear", *MODEL, "-o", package], check=True, capture_output=True)
    write_npy(folder / "x.npy", "<u2", 128)
    refused = subprocess.run([PROGRAM, "bench", package, "--input", f"x=@{folder / 'x'}.npy:bf16"], capture_output=True, text=True)
    assert refused.returncode == 1 and "'x'" in refused.stderr.splitlines()[0], refused.stderr
    rows = bench(package, "--input", f"x=@{folder / 'x'}.npy:bf16[shape=1x128,strides=128x1]")
    assert rows["load_s"] > 0, rows
print("ok")
