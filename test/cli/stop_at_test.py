#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `pellucid launch --stop-at` shows of a kernel: stop_at_test.py PROGRAM. Standard library only."""
import array
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = '''import triton
import triton.language as tl

@triton.jit
def scaled(v, factor: tl.constexpr):
    grown = v * factor
    return grown

@triton.jit
def k(x_ptr, o_ptr, n, NAME: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=-1.0)
    total = 0.0
    for step in range(3):
        total += scaled(
            tl.sum(x), 2)
        wide = x[:, None] + x[None, :]
    tl.store(o_ptr + i, x + total, mask=mask)
'''


def line_of(text):
    return next(i for i, line in enumerate(SOURCE.split("\n"), 1) if text in line)


def write_npy(path, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + array.array("f", values).tobytes())


def launch(line, *more):
    words = [PROGRAM, "launch", "k.py:k", "--grid", "3", "--arg", "x_ptr=@x.npy", "--arg", "o_ptr=@o.npy", "--arg", "n=40", "--arg",
             'NAME="abc"', "--arg", "B=16", "--stop-at", f"k.py:{line}", *more]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def values_of(done):
    assert done.returncode == 0, done.stderr
    return {value["name"]: value for value in json.loads(done.stdout)["values"]}


def check_values():
    values = values_of(launch(line_of("total = 0.0"), "--program", "2", "--json"))
    assert values["i"]["dtype"] == "int32" and values["i"]["shape"] == [16], values["i"]
    assert [int(t) for t in values["i"]["data"]] == list(range(32, 48)), values["i"]
    assert [float(t) for t in values["x"]["data"]] == [i / 4 if i < 40 else -1 for i in range(32, 48)], values["x"]
    assert [int(t) for t in values["mask"]["data"]] == [1] * 8 + [0] * 8, values["mask"]
    assert values["n"]["data"] == ["40"] and values["x_ptr"]["data"] == ["x_ptr + 0"], values
    assert values["B"] == {"name": "B", "dtype": "constexpr", "shape": [], "count": 1, "data": ["16"]}, values["B"]
    assert values["NAME"]["data"] == ["'abc'"] and "total" not in values, values


def check_loops_and_helpers():
    # The first time that the line is reached: before the loop's second statement of its first pass.
    values = values_of(launch(line_of("wide ="), "--json"))
    assert float(values["total"]["data"][0]) == 2 * sum(i / 4 for i in range(16)) and values["step"]["data"] == ["0"], values
    # A line in the middle of a statement is that statement's; one of a helper shows the helper's names.
    inside = values_of(launch(line_of("tl.sum(x), 2)"), "--json"))
    assert float(inside["total"]["data"][0]) == 0, inside
    helper = values_of(launch(line_of("return grown"), "--json"))
    assert set(helper) == {"v", "factor", "grown"} and helper["factor"]["data"] == ["2"], helper


def check_tables():
    text = launch(line_of("tl.store"), "--program", "0,0,0").stdout
    assert "x: f32[16]\n" in text and "..." in text and "n" in text.split(), text
    rows = [line.split() for line in text.splitlines()]
    assert ["B", "constexpr", "16"] in rows and ["0.00", "0.25"] not in rows, text
    assert any(row[:5] == ["0", "0.25", "0.5", "0.75", "..."] for row in rows), text


def check_refusals():
    for line, more, words in ((3, (), "begins at k.py:3"), (line_of("mask ="), ("--program", "3"), "the grid has 3"),
                              (line_of("mask ="), ("--program", "x"), "expected one to three indices"), ("", (), "expected FILE:LINE"),
                              (line_of("mask ="), ("--out", "o_ptr=r.npy"), "nothing is written")):
        done = launch(line, *more)
        assert done.returncode == 1 and words in done.stderr and not done.stdout, (line, done)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("k.py").write_text(SOURCE)
        write_npy("x.npy", [i / 4 for i in range(48)])
        write_npy("o.npy", [0.0] * 48)
        check_values()
        check_loops_and_helpers()
        check_tables()
        check_refusals()
        os.chdir("/")
    print("passed")


if __name__ == "__main__":
    main()
