# SPDX-License-Identifier: Apache-2.0
"""Calls of the program that is tested, which a test's first word names."""
import json
import subprocess
import sys

import numpy as np


def pellucid(*words, fails=False):
    """What it prints, or how it fails where it should."""
    done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True, timeout=900)
    assert (done.returncode != 0) == fails, f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr if fails else done.stdout


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
