# SPDX-License-Identifier: Apache-2.0
"""Calls of the program that is tested, which a test's first word names."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def pellucid(*words, fails=False):
    """What it prints, or how it fails where it should."""
    done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True, timeout=900)
    assert (done.returncode != 0) == fails, f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr if fails else done.stdout


def check_each(names, check):
    """Exits 1 where `check(folder, name)` raises or says False for one of the names, each of which has a folder of its own."""
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                failed += check(pathlib.Path(scratch), name) is False
            except Exception as error:  # noqa: BLE001 - the next name is tried all the same
                failed += 1
                print(f"FAILED  {name}: {type(error).__name__}: {str(error)[:1500]}", flush=True)
    sys.exit(failed > 0)


def inputs_of(package):
    return [i["name"] for i in json.loads(pellucid("inspect", package, "--json"))["inputs"]]


def run_package(folder, package, values, count, *words, fails=False):
    """The `count` results of a call with these arrays, one for each of its inputs; or how it fails."""
    given = []
    for name, value in zip(inputs_of(package), values, strict=True):
        np.save(folder / f"{name}.npy", value)
        given += ["--input", f"{name}=@{folder / name}.npy"]
    files = [folder / f"out{i}.npy" for i in range(count)]
    said = pellucid("run", package, *given, *[word for file in files for word in ("--output", file)], *words, fails=fails)
    return said if fails else [np.load(file) for file in files]
