#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Assertions about what a tensor holds: made when the program runs, from source, strict or not, and from written archives.

    assertions_test.py PROGRAM

As torch.export(strict=True) records them (`aten._assert_async.msg`); a run in which one fails ends with its words and its line.
Exit code 77 where numpy is missing.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

MODEL = """import torch


def statement(x):
    assert (x > 0).all(), "every x is above 0"
    return x + 1


def without_words(x):
    assert x.sum()
    return x * 2


def of_a_view(x):
    assert x[1] < 5, 'a "quoted" \\\\ word'
    return x[:2].contiguous()


def functions(x):
    torch._assert(x.min() > 0, "by _assert")
    torch._assert_async(x.max() < 5, "by _assert_async")
    torch._assert_async((x == x).all())
    return x - 1


def of_what_is_written(x):
    y = x.clone()
    y[0] = 7
    assert y[0] == 7, "the write is seen"
    y[0] = -1
    assert (y[1:] > 0).all(), f"words with {y} in them"
    return y


def unused(x):
    assert (x > 0).all(), "nothing else uses x"
    return torch.ones(2)


def in_a_branch(x):
    def checked(v):
        assert (v > 0).all(), "taken"
        return v + 1

    def plain(v):
        return v - 1

    return torch.cond(x.sum() > 0, checked, plain, (x,))
"""

GOOD, BAD, ZEROS = [1.0, 2.0, 3.0], [-9.0, 8.0, 0.5], [0.0, 0.0, 0.0]
CASES = [
    # function, input, the words of the failure or the result
    ("statement", GOOD, [2, 3, 4]), ("statement", BAD, "every x is above 0"),
    ("without_words", GOOD, [2, 4, 6]), ("without_words", ZEROS, "assertion error"),
    ("of_a_view", GOOD, [1, 2]), ("of_a_view", BAD, 'a "quoted" \\ word'),
    ("functions", GOOD, [0, 1, 2]), ("functions", BAD, "by _assert"), ("functions", [1.0, 9.0, 2.0], "by _assert_async"),
    ("functions", [1.0, float("nan"), 2.0], "by _assert"),
    ("of_what_is_written", GOOD, [-1, 2, 3]), ("of_what_is_written", [1.0, -2.0, 1.0], "assertion"),
    ("unused", GOOD, [1, 1]), ("unused", BAD, "nothing else uses x"),
    ("in_a_branch", GOOD, [2, 3, 4]), ("in_a_branch", [3.0, -1.0, 0.0], "taken"), ("in_a_branch", BAD, [-10, 7, -0.5]),
]


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def package(program, folder, function, way):
    """The package that comes out of `way`, compiled once."""
    out = folder / f"{function}-{way}.plc"
    if not out.exists():
        source = [f"{folder / 'model.py'}:{function}", "--input", "x=f32[n:2..8]"]
        if way == "archive":
            code, text = run(program, "export", *source, "-o", folder / f"{function}.pt2")
            assert code == 0, text
            source = [folder / f"{function}.pt2"]
        if way == "strict":
            source.append("--strict")
        code, text = run(program, "compile", *source, "-o", out, "--target", "cpu:x86-64-v3", "--verify-each")
        assert code == 0, text
    return out


def check(program, folder, function, values, expected, way):
    np.save(folder / "x.npy", np.array(values, np.float32))
    (folder / "out.npy").unlink(missing_ok=True)
    code, text = run(program, "run", package(program, folder, function, way), "--input", f"x=@{folder / 'x.npy'}", "--output", folder / "out.npy")
    if isinstance(expected, str):
        line = next(i for i, l in enumerate(MODEL.split("\n"), 1) if l.startswith(f"def {function}("))
        places = [f"model.py:{n}:" for n in range(line + 1, line + 9)]
        right = code != 0 and expected in text and (way == "archive" or any(place in text for place in places))
    else:
        right = code == 0 and np.array_equal(np.load(folder / "out.npy"), np.array(expected, np.float32))
    if not right:
        print(f"{function} {values} {way}: expected {expected}, got {code}\n{text}")
    return right


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.py").write_text(MODEL)
        results = [check(program, folder, *case, way) for way in ("plain", "strict", "archive") for case in CASES]
        (folder / "wrong.py").write_text("def f(x):\n    assert x > 0\n    return x\n")
        code, text = run(program, "export", f"{folder / 'wrong.py'}:f", "--input", "x=f32[3]")
        ambiguous = code != 0 and "Boolean value of Tensor with more than one value is ambiguous" in text and "wrong.py:2:" in text
        if not ambiguous:
            print(text)
        code, text = run(program, "export", f"{folder / 'model.py'}:statement", "--input", "x=f32[3]")
        recorded = "aten._assert_async.msg" in text
    print(f"{sum(results)} of {len(results)} right")
    return 0 if all(results) and ambiguous and recorded else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
