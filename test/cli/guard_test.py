#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--guard` of `launch` and `run` finds accesses beside a tensor: guard_test.py PROGRAM. Standard library only."""
import array
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
MODEL = '''import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, out, n, read_at, write_at, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i + write_at, tl.load(x + i + read_at, mask=i < n), mask=i < n)


def passes_on(x):
    out = torch.empty_like(x)
    copy[(1,)](x, out, 7, 0, 0, BLOCK=8)
    return out


def reads_beyond_a_buffer(x):
    out = torch.empty_like(x)
    between = torch.empty_like(x)
    copy[(1,)](x, between, 7, 0, 0, BLOCK=8)
    copy[(1,)](between, out, 7, 1, 0, BLOCK=8)
    return out


def writes_before_an_output(x):
    out = torch.empty_like(x)
    copy[(1,)](x, out, 7, 0, -1, BLOCK=8)
    return out
'''
OUTSIDE = "error: the kernel accessed memory outside of its arguments"
# Which guard finds it, by what is read and written off by one.
SHIFTED = [(0, 0, ()), (1, 0, ("end",)), (-1, 0, ("begin",)), (0, 1, ("end",)), (0, -1, ("begin",)), (-1, 1, ("end", "begin"))]
CALLS = [("passes_on", ()), ("reads_beyond_a_buffer", ("end",)), ("writes_before_an_output", ("begin",))]


def npy(values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + array.array("f", values).tobytes()


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300)


def check(what, done, is_found, results):
    said = done.stderr.split("\n")[0]
    if is_found:
        assert done.returncode == 1 and OUTSIDE in said, (what, done.returncode, done.stderr)
        return
    assert done.returncode == 0, (what, done.returncode, done.stderr)
    if results:
        assert pathlib.Path("out.npy").read_bytes() == npy(results), what


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        values = [0.5, -1, 2, 3, 4, 5, 6.25]
        pathlib.Path("model.py").write_text(MODEL)
        pathlib.Path("x.npy").write_bytes(npy(values))
        arguments = ["--arg", "x=@x.npy", "--arg", "out=@x.npy", "--arg", "n=7", "--arg", "BLOCK=8", "--out", "out=out.npy"]
        launch = ["launch", "model.py:copy", "--grid", "1", "--target", "cpu:x86-64-v3", *arguments]
        for read_at, write_at, found in SHIFTED:
            for guard in ("end", "begin"):
                done = run(*launch, "--arg", f"read_at={read_at}", "--arg", f"write_at={write_at}", "--guard", guard)
                check((read_at, write_at, guard), done, guard in found, values if not found else None)
        for function, found in CALLS:
            done = run("compile", f"model.py:{function}", "--input", "x=f32[7]", "--target", "cpu:x86-64-v3", "-o", "p.plc", "--no-fusion")
            assert done.returncode == 0, done.stderr
            for guard in ("end", "begin"):
                done = run("run", "p.plc", "--input", "x=@x.npy", "--output", "out.npy", "--guard", guard)
                check((function, guard), done, guard in found, values if not found else None)
        done = run("run", "p.plc", "--input", "x=@x.npy", "--guard", "middle")
        assert done.returncode == 1 and "'middle' is neither end nor begin" in done.stderr, done.stderr
        done = run(*launch, "--arg", "read_at=0", "--arg", "write_at=0", "--guard", "end", "--sanitize")
        assert done.returncode == 1 and "--sanitize" in done.stderr, done.stderr


main()
print("ok")
