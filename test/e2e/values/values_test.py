#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the models of models.py from their source and from their archives, and compares with what PyTorch computed
(record.py): every call of cases.py. A call that PyTorch refuses is refused, with the line.

    values_test.py PROGRAM [--target cuda:sm_90] [NAME…]

Exit code 77 where numpy is missing.
"""
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[1] / "judge")]
from cases import ARCHIVES, CASES  # noqa: E402
from judge import judge, name_of  # noqa: E402
from tool import pellucid, run_package  # noqa: E402

TARGET = sys.argv[sys.argv.index("--target") + 1] if "--target" in sys.argv else "cpu:x86-64-v3"
ON = ("--target", TARGET.partition(":")[0])


def compare(what, got, want):
    dtype = name_of(want)
    bound = 3e-5 * np.maximum(1.0, np.abs(np.nan_to_num(want.astype(np.float64)))) if want.dtype.kind == "f" else 0.0
    verdict = judge(got, want, bound, dtype, signed_zeros=False)
    assert not verdict.problem, f"{what}: {verdict.problem}"


def check(name, results, folder):
    specs, calls = CASES[name]
    words = [f"{HERE / 'models.py'}:{name}"]
    for key, spec in specs.items():
        words += ["--input", f"{key}={spec}"]
    # The text of the program says it all: what is read back compiles to the same.
    saved, again = folder / "saved.program", folder / "again.program"
    pellucid("export", *words, "-o", saved)
    pellucid("export", saved, "-o", again)
    assert saved.read_bytes() == again.read_bytes(), f"{name}: the program that was read and written again has other bytes"
    packages = {"source": folder / "source.plc"}
    pellucid("compile", saved, "--verify-each", "-o", packages["source"], "--target", TARGET)
    if name in ARCHIVES:
        packages["archive"] = folder / "archive.plc"
        pellucid("compile", HERE / "archives" / f"{name}.pt2", "--verify-each", "-o", packages["archive"], "--target", TARGET)
    for kind, package in packages.items():
        for at, call in enumerate(calls):
            # PyTorch exports the example's sizes.
            if kind == "archive" and any(call[key].shape != calls[0][key].shape for key in specs):
                continue
            wanted = [results[f"{name}.{at}.{i}"] for i in range(sum(key.startswith(f"{name}.{at}.") for key in results)) if f"{name}.{at}.{i}" in results]
            what = f"{name}, {kind}, call {at}"
            if not wanted:
                count = sum(key.startswith(f"{name}.0.") for key in results)
                said = run_package(folder, package, call.values(), count, *ON, fails=True)
                assert "models.py:" in said or kind == "archive", f"{what}: refused without a line\n{said}"
                continue
            for i, (got, want) in enumerate(zip(run_package(folder, package, call.values(), len(wanted), *ON), wanted, strict=True)):
                compare(f"{what}, result {i}", got, want)


def main():
    results = dict(np.load(HERE / "results.npz"))
    chosen = [word for word in sys.argv[2:] if word in CASES] or list(CASES)
    failed = []
    for name in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                check(name, results, pathlib.Path(scratch))
            except AssertionError as problem:
                failed.append(f"{name}: {problem}")
                print(failed[-1], flush=True)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} models")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
