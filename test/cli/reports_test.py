#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profile, inspect and bench print: the same facts in both forms, in columns.

    reports_test.py PROGRAM SOURCE

On the tour's model. Standard library only.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
CALL = ["model.plc", "--input", f"x=@{SOURCE}/examples/x.npy"]


def run(*words):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def check_profile():
    report = json.loads(run("profile", *CALL, "-o", "trace.json", "--runs", "4", "--json"))
    assert report["trace"] == "trace.json" and report["runs"] == 4, report
    steps = {step["name"]: step for step in report["steps"]}
    products = [step for name, step in steps.items() if name.startswith("gemm")]
    # 16 rows; 128 x 64 and 64 x 128 multiplications and additions for each.
    assert [step["flops"] for step in products] == [2 * 16 * 128 * 64] * 2, steps
    # x, 64 results and the packed weights are read or written once, whatever panels the weights are packed in.
    assert all(step["bytes"] >= 4 * (16 * (128 + 64) + 128 * 64) for step in products), steps
    assert steps["silu_kernel"]["bytes"] == 2 * 16 * 64 * 4 and "flops" not in steps["silu_kernel"], steps
    assert all(step["count"] == 4 and 0 < step["best_s"] <= step["total_s"] / 4 for step in steps.values()), steps
    events = json.loads(pathlib.Path("trace.json").read_text())["traceEvents"]
    assert sum(event.get("cat") == "kernel" for event in events) == 12 and sum(event.get("cat") == "call" for event in events) == 4
    # One line says where the trace is, then a row for each step; the call comes last.
    lines = run("profile", *CALL, "-o", "trace.json").splitlines()
    assert lines[0].startswith("trace.json: 3 call(s)"), lines
    rows = [line.split() for line in lines[1:]]
    assert rows[0][:2] == ["step", "count"] and rows[-1][:3] == ["whole", "call", "3"] and len(rows) == 5, lines
    ends = {len(line) for line in lines[1:] if line.rstrip().split()[-1].replace(".", "").isdigit() and "gemm" in line}
    assert len(ends) == 1, lines


def check_inspect():
    lines = run("inspect", "model.plc").splitlines()
    assert re.match(r"model\.plc: silu_model\.py:Model, \d+ KiB, made by pellucid ", lines[0]), lines
    text = "\n".join(lines)
    assert re.search(r"^  input +x +f32\[batch, 128\] +batch in 1\.\.1024$", text, re.M), text
    assert re.search(r"^  output +\S+ +f32\[batch, 128\]$", text, re.M), text
    assert "code for cpu:x86-64-v3, cpu:x86-64-v4" in text and "a call on the CPU: 3 steps, 2 buffers" in text, text
    launches = json.loads(run("inspect", "model.plc", "--json"))["launches"]
    assert re.findall(r"^  launch +(\S+)", text, re.M) == [launch["label"] for launch in launches], text
    assert "silu_kernel (silu_kernels.py:" in text, text
    report = json.loads(run("inspect", "model.plc", "--json"))
    assert report["inputs"] == [{"name": "x", "dtype": "f32", "shape": ["batch", 128], "mutated": False}], report["inputs"]
    assert [(o["dtype"], o["shape"]) for o in report["outputs"]] == [("f32", ["batch", 128])], report["outputs"]
    assert report["symbols"] == [{"name": "batch", "min": 1, "max": 1024, "divisor": 1}], report["symbols"]


def check_bench():
    text = run("bench", *CALL, "--seconds", "0.05")
    for name in ("calls", "best", "median", "speed", "copy ceiling", "loading the package"):
        assert re.search(rf"^{name} +\d", text, re.M), text


def main():
    start, folder = os.getcwd(), tempfile.mkdtemp(prefix="pellucid-reports-")
    try:
        os.chdir(folder)
        run("compile", f"{SOURCE}/examples/silu_model.py:Model", "--input", "x=f32[batch=8:1..1024,128]", "-o", "model.plc")
        for check in (check_profile, check_inspect, check_bench):
            check()
    finally:
        os.chdir(start)
        shutil.rmtree(folder, ignore_errors=True)
    print("all ok")


if __name__ == "__main__":
    main()
