#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the archives in data/ and compares each recorded call with what PyTorch gave (make_archives.py).

    archives_test.py PROGRAM

Exit code 77 where numpy is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

DATA = pathlib.Path(__file__).resolve().parent / "data"


def pellucid(*words, fails=False):
    done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stderr if fails else done.stdout


def numbered(arrays, prefix):
    found = []
    while f"{prefix}.{len(found)}" in arrays:
        found.append(arrays[f"{prefix}.{len(found)}"])
    return found


def check_cases(folder, archive):
    package = folder / "model.plc"
    pellucid("compile", archive, "-o", package, "--target", "cpu:x86-64-v3")
    names = [i["name"] for i in json.loads(pellucid("inspect", package, "--json"))["inputs"]]
    arrays, case = np.load(archive.with_suffix(".npz")), 0
    while inputs := numbered(arrays, f"{case}.in"):
        words = ["run", package]
        assert len(names) == len(inputs), f"{archive.name}: inputs {names} for {len(inputs)} tensors"
        for name, value in zip(names, inputs):
            np.save(folder / f"{name}.npy", value)
            words += ["--input", f"{name}=@{folder / name}.npy"]
        expected = numbered(arrays, f"{case}.out")
        for i in range(len(expected)):
            words += ["--output", folder / f"out{i}.npy"]
        pellucid(*words)
        for i, value in enumerate(expected):
            got = np.load(folder / f"out{i}.npy")
            assert got.dtype == value.dtype and got.shape == value.shape, f"{archive.name}: result {i} is {got.dtype}{got.shape}, not {value.dtype}{value.shape}"
            np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5, err_msg=f"{archive.name}, call {case}, result {i}")
        case += 1
    assert case, f"{archive.name} has no calls"


def check_verbs(folder):
    """Every verb that takes a model takes an archive."""
    net = DATA / "net.pt2"
    arrays = np.load(net.with_suffix(".npz"))
    np.save(folder / "x.npy", arrays["0.in.0"])
    pellucid("run", net, "--input", f"x=@{folder / 'x.npy'}", "--output", folder / "y.npy")
    np.testing.assert_allclose(np.load(folder / "y.npy"), arrays["0.out.0"], rtol=1e-5, atol=1e-5)
    assert "linear" in pellucid("inspect", net)
    pellucid("explain", net)
    pellucid("bench", net, "--seconds", "0.05")
    pellucid("export", net, "-o", folder / "net.program")
    pellucid("compile", folder / "net.program", "-o", folder / "a.plc", "--target", "cpu:x86-64-v3")
    refused = pellucid("compile", net, "-o", folder / "b.plc", "--dtype", "bf16", fails=True)
    assert "is for Python models" in refused and "an archive" in refused, refused


def check_damage(folder):
    """One line, wherever the file was cut."""
    whole = (DATA / "net.pt2").read_bytes()
    cut = folder / "cut.pt2"
    for size in (0, 100, len(whole) // 2, len(whole) - 30):
        cut.write_bytes(whole[:size])
        said = pellucid("compile", cut, "-o", folder / "c.plc", fails=True)
        assert "error:" in said and said.count("\n") <= 2, said


def main():
    archives = sorted(DATA.glob("*.pt2"))
    assert archives
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for archive in archives:
            check_cases(folder, archive)
        check_verbs(folder)
        check_damage(folder)
    print(f"{len(archives)} archives")


main()
