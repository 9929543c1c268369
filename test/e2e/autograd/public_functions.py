#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the gradients of public packages' Functions (public_programs.py) and compares them with PyTorch's in float64.

    public_functions.py PROGRAM DIRECTORY…      (checkouts, as --path takes them: Liger-Kernel/src, attorch, flash-attention)

Needs a Python with PyTorch. Prints a table of the largest errors, relative to the largest gradient.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import public_programs  # noqa: E402


def drawn(shapes, random):
    for word in shapes.split():
        name, _, sizes = word.partition("=")
        if sizes.startswith("i"):
            yield name, random.integers(0, 33, [int(sizes[1:])])
        else:
            yield name, np.asarray(random.uniform(-1, 1, [int(n) for n in sizes.split(",") if n]), np.float32)


def error_of(program, paths, name, shapes, folder):
    given = dict(drawn(shapes, np.random.default_rng(3)))
    tensors = [torch.from_numpy(v).double() if v.dtype == np.float32 else torch.from_numpy(v) for v in given.values()]
    wanted = [one.numpy() for one in getattr(public_programs, name + "_reference")(*tensors)]
    package, words = folder / f"{name}.plc", []
    for key, value in given.items():
        np.save(folder / f"{key}.npy", value)
        words += ["--input", f"{key}={'f32' if value.dtype == np.float32 else 'i64'}[{','.join(map(str, value.shape))}]"]
    # Its wrappers ask a GPU how many processors it has.
    device = ["--device", "cuda"] if name.startswith("flash") else []
    roots = [word for path in paths for word in ("--path", path)]
    calls = [[program, "compile", f"{HERE / 'public_programs.py'}:{name}", *device, *roots, *words, "-o", package, "--target", "cpu:x86-64-v3"],
             [program, "run", package, *[w for key in given for w in ("--input", f"{key}=@{folder / key}.npy")],
              *[w for i in range(len(wanted)) for w in ("--output", folder / f"out{i}.npy")]]]
    for call in calls:
        done = subprocess.run([str(word) for word in call], capture_output=True, text=True, timeout=600)
        if done.returncode:
            return done.stderr.strip().splitlines()[0]
    worst = 0.0
    for i, want in enumerate(wanted):
        got = np.load(folder / f"out{i}.npy")
        if got.shape != want.shape:
            return f"result {i} has the shape {got.shape}, expected {want.shape}"
        off = float(np.max(np.abs(got - want)) / max(1.0, np.max(np.abs(want))))
        worst = max(worst, off if np.isfinite(off) else np.inf)  # max() forgets NaN
    return worst


def main():
    failed = 0
    print("| Function | error of its gradients |", "|---|---|", sep="\n")
    for name, shapes in public_programs.CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            error = error_of(sys.argv[1], sys.argv[2:], name, shapes, pathlib.Path(folder))
        failed += isinstance(error, str) or not error < 1e-5
        print(f"| `{name}` | {error if isinstance(error, str) else f'{error:.1e}'} |")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
