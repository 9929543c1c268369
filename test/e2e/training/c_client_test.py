#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/c_training on a package of examples/train_step.py: losses and state of every run against AdamW in float64, state that is
saved and gone on with.

    c_client_test.py PROGRAM CLIENT

Exit code 77 without numpy.
"""
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path.insert(0, str(HERE.parent.parent))
from safetensors_file import read_safetensors  # noqa: E402

ROWS, COLUMNS = 16, 8


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def batch(step):
    x = [[single(single(((row * 37 + column * 11 + step * 7) % 101) / 50) - 1) for column in range(COLUMNS)] for row in range(ROWS)]
    return x, [2 * row[0] - row[1] + 0.5 for row in x]


def numbers(state):
    """Names to lists of floats."""
    return {name: [float(value) for value in np.ravel(array)] for name, array in state.items()}


def reference(state, steps):
    """The losses of AdamW(lr=0.05) on the mean squared error, and the parameters, from the state on."""
    p = state["model.weight"] + state["model.bias"]
    m, v = (state[f"optimizer.state.model.weight.{key}"] + state[f"optimizer.state.model.bias.{key}"] for key in ("exp_avg", "exp_avg_sq"))
    count = state["optimizer.state.model.bias.step"][0]
    losses = []
    for step in range(steps):
        x, y = batch(step)
        difference = [sum(a * b for a, b in zip(row, p)) + p[COLUMNS] - target for row, target in zip(x, y)]
        losses.append(sum(d * d for d in difference) / ROWS)
        count += 1
        for i in range(COLUMNS + 1):
            g = sum(2 * d / ROWS * (row[i] if i < COLUMNS else 1) for d, row in zip(difference, x))
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g * g
            p[i] = p[i] * (1 - 0.05 * 0.01) - 0.05 * (m[i] / (1 - 0.9**count)) / (math.sqrt(v[i] / (1 - 0.999**count)) + 1e-8)
    return losses, p


def main():
    program, client = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        package, saved = f"{folder}/step.plc", f"{folder}/state.safetensors"
        subprocess.run([program, "compile", str(ROOT / "examples" / "train_step.py") + ":Train", "--train", "--input", "x=f32[rows:1..64,8]", "--input",
                        "y=f32[rows,1]", "-o", package], check=True, capture_output=True)

        def steps(count):
            done = subprocess.run([client, package, str(count), saved], check=True, capture_output=True, text=True)
            return [float(line) for line in done.stdout.split()], numbers(read_safetensors(saved))

        assert steps(0)[0] == []
        before = numbers(read_safetensors(saved))
        for count in (7, 40):
            losses, after = steps(count)
            expected, parameters = reference(before, count)
            assert len(losses) == count
            for got, want in zip(losses, expected):
                assert math.isclose(got, want, rel_tol=1e-4, abs_tol=1e-6), (got, want)
            for got, want in zip(after["model.weight"] + after["model.bias"], parameters):
                assert math.isclose(got, want, rel_tol=1e-4, abs_tol=1e-5), (got, want)
            before = after
        assert before["optimizer.state.model.weight.step"] == [47.0]

        pathlib.Path(saved).write_bytes(b"no state")
        refused = subprocess.run([client, package, "1", saved], capture_output=True, text=True)
        assert refused.returncode == 1 and saved in refused.stderr, refused
    print("a C program trains: 47 steps as in float64")


main()
