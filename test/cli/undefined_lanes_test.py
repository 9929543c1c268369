#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`launch --sanitize` names writes that depend on lanes which a masked load leaves undefined: undefined_lanes_test.py PROGRAM. Standard library only."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
KERNELS = '''import triton
import triton.language as tl


@triton.jit
def sum_without_other(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + i, mask=i < n))
    tl.store(out, total)


@triton.jit
def sum_with_other(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def sum_with_where(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.where(i < n, tl.load(x + i, mask=i < n) * 2, 0)))


@triton.jit
def copy_under_the_mask(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.exp(tl.load(x + i, mask=i < n)) + 1
    tl.store(out + i, tl.reshape(tl.trans(tl.reshape(tl.trans(tl.reshape(y, (4, 2))), (2, 4))), (BLOCK,)), mask=i < n)


@triton.jit
def copy_beyond_the_mask(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n))


@triton.jit
def smallest(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.min(tl.load(x + i, mask=i < n) + 20.0))


@triton.jit
def second_of_two(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first = tl.load(x + i, mask=i < n)
    second = tl.load(x + i, mask=i < n - 1)
    tl.store(out, tl.sum(second))
    tl.store(out + 1 + i, first, mask=i < n)


@triton.jit
def decides(x, out, n, BLOCK: tl.constexpr):
    limit = tl.load(x + 7, mask=n > 7)
    if limit > 5.0:
        tl.store(out, 1.0)
    tl.store(out + 1, 2.0)


@triton.jit
def address(x, out, n, BLOCK: tl.constexpr):
    at = tl.load(x + 7, mask=n > 7).to(tl.int32)
    tl.store(out + at, 1.0)


@triton.jit
def in_place(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(out + i) * 2)
    tl.store(out, tl.load(out) + tl.sum(tl.load(x + i, mask=i < n, other=0)) + tl.load(x + 7, mask=n > 7) * 0)
'''


def npy(path, numbers):
    """A file of float32 as numpy writes it."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}f", *numbers))


# the kernel, what it says at n = 5 (None: nothing), the notes' lines
CASES = [
    ("sum_without_other", "kernels.py:9:5: error: kernel 'sum_without_other' writes to element 0 of 'out' what depends on lanes", [8]),
    ("sum_with_other", None, []),
    ("sum_with_where", None, []),
    ("copy_under_the_mask", None, []),
    ("copy_beyond_the_mask", "writes to element 5 of 'out' what depends on lanes", [36]),
    ("smallest", "writes to element 0 of 'out' what depends on lanes", [42]),
    ("second_of_two", "writes to element 0 of 'out' what depends on lanes", [49]),
    ("decides", "writes to element 0 of 'out' what depends on lanes", [56]),
    ("address", "kernel 'address' depends on lanes that a masked load without 'other' leaves undefined; were they other than 0: writes element", [64]),
    ("in_place", None, []),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kernels.py")
        path.write_text(KERNELS)
        x, out = pathlib.Path(folder, "x.npy"), pathlib.Path(folder, "out.npy")
        npy(x, [i / 4 - 1 for i in range(8)])
        npy(out, [1.0] * 16)
        lines = KERNELS.splitlines()
        for kernel, expected, notes in CASES:
            for n in (5, 8):
                command = [PROGRAM, "launch", f"{path}:{kernel}", "--grid", "1", "--arg", f"n={n}", "--arg", "BLOCK=8", "--sanitize"]
                command += ["--arg", f"x=@{x}", "--arg", f"out=@{out}"]
                done = subprocess.run(command, capture_output=True, text=True)
                if n == 8 and kernel != "second_of_two" or expected is None:
                    assert done.returncode == 0, f"{kernel}, n = {n}: {done.stderr}"
                    continue
                if n == 8:
                    continue
                assert done.returncode == 1 and expected in done.stderr, f"{kernel}: {done.returncode} {done.stderr}"
                places = [line for line in done.stderr.splitlines() if "note: its mask leaves lanes without a value" in line]
                assert len(places) == len(notes) and all("tl.load" in lines[int(p.split("kernels.py:")[1].split(":")[0]) - 1] for p in places), done.stderr
    print("ok")


main()
