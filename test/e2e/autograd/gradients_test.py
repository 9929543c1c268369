#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the functions of programs.py, whose calls differentiate, and compares with what PyTorch computed in float64
(record.py): forward and backward are one program.

    gradients_test.py PROGRAM [NAME…] [--target cuda]

Exit code 77 where numpy is missing.
"""
import pathlib
import re
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "judge")]
from judge import judge  # noqa: E402
from tool import pellucid  # noqa: E402

BOUND = 2e-5


def check(name, results, folder, target):
    given = {key.split(".")[2]: results[key] for key in results if key.startswith(f"{name}.in.")}
    wanted = [results[key] for key in sorted(results) if key.startswith(f"{name}.out.")]
    words = [f"{HERE / 'programs.py'}:{name}"]
    for key, value in given.items():
        words += ["--input", f"{key}={'i64' if value.dtype == np.int64 else 'f32'}[{','.join(map(str, value.shape))}]"]
        np.save(folder / f"{key}.npy", value)
    package = folder / f"{name}.plc"
    pellucid("compile", *words, "--verify-each", "-o", package, "--target", target)
    pellucid("run", package, *[w for key in given for w in ("--input", f"{key}=@{folder / key}.npy")],
             *[w for i in range(len(wanted)) for w in ("--output", folder / f"out{i}.npy")],
             *(["--target", "cuda"] if target.startswith("cuda") else []))
    for i, want in enumerate(wanted):
        got = np.load(folder / f"out{i}.npy")
        bound = BOUND * np.maximum(np.abs(want), np.max(np.abs(want), initial=1.0))
        verdict = judge(got, want.astype(np.float32), bound, "f32", signed_zeros=False)
        assert not verdict.problem, f"{name}, result {i}: {verdict.problem}"


def main():
    target = "cuda:sm_90" if "--target" in sys.argv else "cpu:x86-64-v3"
    names = [word for word in sys.argv[2:] if not word.startswith("--") and word != "cuda"]
    results = dict(np.load(HERE / "results.npz"))
    known = list(dict.fromkeys(re.match(r"(\w+)\.", key)[1] for key in results))
    failed = 0
    for name in names or known:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(name, results, pathlib.Path(folder), target)
                print("ok", name)
            except AssertionError as error:
                failed += 1
                print("FAILED", name, error)
    return failed != 0


sys.exit(main())
