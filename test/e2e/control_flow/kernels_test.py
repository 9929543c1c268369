#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The models of kernels.py beside numpy, a loop that never ends, and what the tools say of control flow.

    kernels_test.py PROGRAM

Exit code 77 where numpy is missing.
"""
import json
import pathlib
import sys
import tempfile

from control_flow_test import LEVEL, compare
from tool import pellucid, run_package

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
rng = np.random.default_rng(9)


def compiled(folder, name, target=LEVEL, **specs):
    words = [f"{HERE / 'kernels.py'}:{name}"]
    for key, spec in specs.items():
        words += ["--input", f"{key}={spec}"]
    saved, again, package = folder / f"{name}.program", folder / f"{name}.again", folder / f"{name}.plc"
    pellucid("export", *words, "-o", saved)
    pellucid("export", saved, "-o", again)
    assert saved.read_bytes() == again.read_bytes(), f"{name}: the program that was read and written again has other bytes"
    pellucid("compile", saved, "--verify-each", "-o", package, "--target", target)
    return package


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def check_branch(folder):
    package = compiled(folder, "branch", x="f32[n:0..99]", flag="bool[]")
    for n in (0, 1, 16, 37):
        for flag in (True, False):
            x = normal(n)
            compare(f"branch of {n}", run_package(folder, package, [x, np.array(flag)], 1, "--guard", "end")[0], np.abs(x * 2 * 0.5 + x) if flag else x * 4)
    edges = pellucid("explain", f"{HERE / 'kernels.py'}:branch", "--input", "x=f32[37]", "--input", "flag=bool[]")
    assert "mul -> axpy" in edges.replace("  ", " ") or "mul" in edges, edges


def check_loops(folder):
    package = compiled(folder, "loop", n="i32[]", x="f32[37]")
    with_operator = compiled(folder, "loop_of_operator", n="i64[]", x="f32[5,7]")
    for n in (0, 1, 2, 5):
        x = normal(37)
        want = x
        for _ in range(n):
            want = want * np.float32(0.5) + x
        compare(f"loop of {n}", run_package(folder, package, [np.array(n, np.int32), x], 1, "--guard", "end")[0], want)
        x = normal(5, 7)
        want = x
        for i in range(n):
            want = want * np.float32(0.5) + x if i % 2 == 0 else want * -2 + want
        compare(f"loop of operators of {n}", run_package(folder, with_operator, [np.array(n), x], 1, "--guard", "begin")[0], want)


def check_scan(folder):
    package = compiled(folder, "scanned", init="f32[3]", x="f32[t:0..50,3]")
    for t in (0, 1, 2, 50):
        init, x = normal(3), normal(t, 3)
        carry, rows = init, []
        for row in x:
            carry = carry * np.float32(0.5) + row
            rows.append(np.maximum(carry, 0))
        last, ys = run_package(folder, package, [init, x], 2)
        compare(f"scan of {t}, carry", last, carry)
        compare(f"scan of {t}, rows", ys, np.array(rows, np.float32).reshape(t, 3))


def check_endless(folder):
    package = compiled(folder, "endless", x="f32[4]")
    np.save(folder / "x.npy", normal(4))
    said = pellucid("run", package, "--input", f"x=@{folder / 'x.npy'}", "--output", folder / "y.npy", "--timeout", "0.2", fails=True)
    assert "took longer than its limit" in said, said


def check_tools(folder):
    """The plan is the same for a device, whose program is looked at where there is none."""
    package = folder / "both.plc"
    pellucid("compile", folder / "loop_of_operator.program", "-o", package, "--target", f"{LEVEL},cuda:sm_90")
    shown = pellucid("inspect", package)
    for part in ("on the CPU", "on a CUDA device"):
        lines = [line.split()[0] for line in shown[shown.index(part):].splitlines()[1:] if line.strip()]
        lines = lines[:lines.index("buffer")]
        assert lines == ["launch", "copy", "copy", "while", "launch", "do", "launch", "launch", "if", "launch", "else", "launch"] or (
            lines.count("while") == 1 and lines.count("do") == 1 and lines.count("if") == 1 and lines.count("else") == 1), lines
    assert json.loads(pellucid("inspect", package, "--json"))["launches"]
    buffers = pellucid("inspect", package, "--ir", "buffers.cuda")
    assert buffers.count("region ") == 4 and "torch.while_loop's body_fn" in buffers, buffers


def main():
    for check in (check_branch, check_loops, check_scan, check_endless):
        with tempfile.TemporaryDirectory() as scratch:
            check(pathlib.Path(scratch))
            if check is check_loops:
                check_tools(pathlib.Path(scratch))
    print("kernels in branches and loops")


if __name__ == "__main__":
    main()
