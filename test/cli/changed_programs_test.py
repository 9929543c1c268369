#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saved programs with a word changed: refused with a place, or compiled to what runs.

    changed_programs_test.py PROGRAM [--from N --seconds S --jobs J --keep FOLDER]    (more than the test: changes N, N + 1, …)

A reader believes nothing that a text says of its nodes; what it takes must not end the compiler, the worker or a run in any
other way than with exit code 0 or a sentence. Fixed seeds. Standard library only.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

PARSER = argparse.ArgumentParser()
PARSER.add_argument("program")
PARSER.add_argument("--from", dest="first", type=int)
PARSER.add_argument("--seconds", type=int, default=60)
PARSER.add_argument("--jobs", type=int, default=2)
PARSER.add_argument("--keep", type=pathlib.Path)
OPTIONS = PARSER.parse_args()
PROGRAM = os.path.abspath(OPTIONS.program)
MODEL = '''import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def double_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * factor, mask=at < n)


@triton_op("ops::double", mutates_args={})
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(double_kernel)[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), 2.0, BLOCK=64)
    return out


def model(x, i):
    y = double(x) + 1
    rows = torch.relu(y[:, 1:3]).sum(-1)
    table = torch.cat([y, y.t().reshape(-1, 4)], 0)
    return rows, table[i], torch.softmax(y, 1).reshape(-1), (y.chunk(2, 1)[1] * 3.0).amax(0), y @ y.t()
'''
WORDS = ("0", "-1", "1", "3", "64", "9223372036854775807", "f16", "i64", "bool", "f64", "None", "True", "nan", "[]", "`b`",
         "`b + 1`", "read", "write", "none", "[0, 1]", "1e300", "%x", "%i", "%cat", "aten.relu.default")
# The last ones ended the compiler or a run while readers still believed types.
CHANGES = (*range(140), 369, 670, 825, 919, 1154, 1348, 1518)


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, timeout=120)


def array(values, shape, kind):
    """The bytes of an .npy file."""
    import struct
    data = struct.pack(f"<{len(values)}{'f' if kind == '<f4' else 'q'}", *values)
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def changed(text, rng):
    """One word of the graphs, or now and then of the kernels, replaced by another one."""
    begin, end = (text.index("kernel "), text.index("\nbody ")) if rng.random() < 0.2 else (text.index("\nbody "), len(text))
    words = [m for m in re.finditer(r"\w+", text) if begin < m.start() < end]
    where = rng.choice(words)
    return text[:where.start()] + rng.choice(WORDS) + text[where.end():]


def attempt(text, folder, number):
    """None, or what went wrong."""
    rng = random.Random(number)
    other = changed(text, rng)
    if number % 4 == 0 and "\nbody " in other and "kernel " in other:
        other = changed(other, rng)
    program, package = folder / f"p{number}.pellucid", folder / f"p{number}.plc"
    program.write_text(other)
    done = run("compile", program, "--target", "cpu:x86-64-v3", "--verify-each", "-o", package)
    outcome = "refused"
    if done.returncode == 0:
        outcome = "ran"
        done = run("run", package, "--input", f"x=@{folder / 'x.npy'}", "--input", f"i=@{folder / 'i.npy'}")
    if done.returncode in (0, 1) and (done.returncode == 0 or b"error: " in done.stderr.split(b"\n")[0]):
        return outcome, None
    kept = (OPTIONS.keep or folder.parent) / f"changed_program_{number}"
    kept.write_text(other)
    return outcome, f"change {number} ({kept}): {outcome} with exit code {done.returncode}: {done.stderr[:400].decode(errors='replace')}"


def attempts(text, folder, job):
    """The changes of one of the jobs, for as long as is given."""
    outcomes, end = [], time.monotonic() + OPTIONS.seconds
    for number in itertools.count(OPTIONS.first + job, OPTIONS.jobs):
        if time.monotonic() > end:
            return outcomes
        outcomes.append(attempt(text, folder, number))
        for path in folder.glob(f"p{number}.*"):
            path.unlink()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.py").write_text(MODEL)
        (folder / "x.npy").write_bytes(array([float(k) for k in range(32)], (8, 4), "<f4"))
        (folder / "i.npy").write_bytes(array([0, 5, 3], (3,), "<i8"))
        done = run("export", folder / "model.py:model", "--input", "x=f32[b:2..64,4]", "--input", "i=i64[3]", "-o",
                   folder / "whole.pellucid")
        if done.returncode:
            print(done.stderr.decode())
            return 1
        text = (folder / "whole.pellucid").read_text()
        with concurrent.futures.ThreadPoolExecutor(OPTIONS.jobs) as pool:
            if OPTIONS.first is None:
                outcomes = list(pool.map(lambda n: attempt(text, folder, n), CHANGES))
            else:
                outcomes = [outcome for some in pool.map(lambda job: attempts(text, folder, job), range(OPTIONS.jobs)) for outcome in some]
    problems = [problem for _, problem in outcomes if problem]
    for problem in problems:
        print("FAILED", problem)
    ran = sum(outcome == "ran" for outcome, _ in outcomes)
    print(f"{len(outcomes)} changes: {ran} ran, {len(outcomes) - ran} refused, {len(problems)} wrong")
    few = OPTIONS.first is None and not 5 <= ran < len(outcomes) // 2
    return 1 if problems or few else 0


if __name__ == "__main__":
    sys.exit(main())
