#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives of 100 to 10,000 nodes, compiled: seconds on the clock and of the processor, the least of several runs, and, where valgrind is
there, the instructions of the compiler's process. What ten nodes need is taken off before it is divided by the nodes.

    archive_growth.py PROGRAM [--json FILE]
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "test/archive"))
import long_archive  # noqa: E402

SIZES = (10, 100, 1_000, 10_000)


def compiled(words):
    before, start = os.times(), time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True)
    seconds, after = time.monotonic() - start, os.times()
    assert done.returncode == 0, done.stderr
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for nodes in SIZES:
            archive = folder / f"{nodes}.pt2"
            long_archive.write(archive, nodes)
            words = [options.program, "compile", str(archive), "-o", str(folder / "long.plc"), "--target", "cpu:x86-64-v3"]
            runs = [compiled(words) for _ in range(5)]
            row = {"nodes": nodes, "seconds": min(r[0] for r in runs), "processor_seconds": min(r[1] for r in runs)}
            if shutil.which("valgrind"):
                said = compiled(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words])[2]
                row["instructions"] = int(re.search(r"Collected\s*:\s*(\d+)", said)[1])
            if rows:
                for key in ("processor_seconds", "instructions"):
                    if key in row:
                        row[key + "_per_node"] = (row[key] - rows[0][key]) / (nodes - SIZES[0])
            rows.append(row)
            print(row, flush=True)
    if options.json:
        head = {"date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "load": os.getloadavg()[0], "target": "cpu:x86-64-v3", "command": "bench/archive_growth.py pellucid --json FILE"}
        options.json.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
