#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the models of models.py from their source and from their archives, and compares with what PyTorch computed
(record.py): every call of cases.py.

    control_flow_test.py PROGRAM [NAME…]

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
from cases import ARCHIVES, CASES, weights  # noqa: E402
from judge import judge, name_of  # noqa: E402
from tool import pellucid, run_package  # noqa: E402

LEVEL = "cpu:x86-64-v3"
# Of a chain of roundings, relative where a number is above 1.
ONE_LAUNCH = ("cumulative", "products", "products_backwards", "largest")  # element by element: turns inside of a kernel
BOUND = {"f64": 1e-12, "f32": 3e-5, "f16": 4e-3}


def compare(what, got, want):
    dtype = name_of(want)
    bound = BOUND[dtype] * np.maximum(1.0, np.abs(want.astype(np.float64))) if want.dtype.kind == "f" else 0.0
    verdict = judge(got, want, bound, dtype, signed_zeros=False)
    assert not verdict.problem, f"{what}: {verdict.problem}"


def check(name, results, folder):
    specs, calls = CASES[name]
    words = [f"{HERE / 'models.py'}:{name}"]
    for key, spec in specs.items():
        words += ["--input", f"{key}={spec}"]
    if name == "Net":
        np.savez(folder / "weights.npz", **weights())
        words += ["--weights", folder / "weights.npz"]
    # The text of the program says it all: what is read back compiles to the same.
    saved, again = folder / "saved.program", folder / "again.program"
    pellucid("export", *words, "-o", saved)
    pellucid("export", saved, "-o", again)
    assert saved.read_bytes() == again.read_bytes(), f"{name}: the program that was read and written again has other bytes"
    packages = {"source": folder / "source.plc"}
    pellucid("compile", saved, "--verify-each", "-o", packages["source"], "--target", LEVEL)
    if name in ONE_LAUNCH:
        said = pellucid("inspect", packages["source"])
        assert "  loop" not in said and "scan_" in said, f"{name}: its scan is a loop of launches\n{said}"
    if name in ARCHIVES:
        packages["archive"] = folder / "archive.plc"
        pellucid("compile", HERE / "archives" / f"{name}.pt2", "--verify-each", "-o", packages["archive"], "--target", LEVEL)
    for at, call in enumerate(calls):
        wanted = [results[f"{name}.{at}.{i}"] for i in range(sum(key.startswith(f"{name}.{at}.") for key in results))]
        for kind, package in packages.items():
            # An archive may ask for two rows at least.
            if kind == "archive" and at not in ARCHIVES[name][1]:
                continue
            for i, (got, want) in enumerate(zip(run_package(folder, package, call.values(), len(wanted)), wanted, strict=True)):
                compare(f"{name}, {kind}, call {at}, result {i}", got, want)


def main():
    results = dict(np.load(HERE / "results.npz"))
    chosen = sys.argv[2:] or list(CASES)
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
