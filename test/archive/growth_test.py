#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the work from archive to package, code generation apart, to the same for each node from 100 to 10,000 nodes.

    growth_test.py PROGRAM COUNTER

COUNTER is what ../fusion/CountAllocations.c was built into: allocations and their bytes, no clock. What a program without nodes
needs is taken off.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import long_archive

SIZES = (100, 1_000, 10_000)


def allocations(program, counter, folder, nodes):
    archive = folder / f"{nodes}.pt2"
    long_archive.write(archive, nodes)
    process = subprocess.Popen([program, "compile", archive, "-o", folder / "long.plc", "--target", "cpu:x86-64-v3"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, env=os.environ | {"LD_PRELOAD": counter, "COUNT_ALLOCATIONS": f"{folder}/count"})
    error = process.communicate()[1]
    assert process.returncode == 0, error
    return [int(word) for word in (folder / f"count.{process.pid}").read_text().split()]


def main():
    program, counter = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        none, *counts = (allocations(program, counter, folder, nodes) for nodes in (long_archive.LAYER, *SIZES))
    failed = False
    for i, what in enumerate(("allocations", "bytes")):
        each = [(count[i] - none[i]) / (nodes - long_archive.LAYER) for nodes, count in zip(SIZES, counts)]
        wrong = max(each) > 1.5 * min(each)
        failed |= wrong
        print(f"{'FAILED' if wrong else 'ok'} {what} for a node: " + ", ".join(f"{e:.0f} of {n}" for e, n in zip(each, SIZES)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
