#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `export --json` with the node tables that torch.export 2.15 gives for the same models.

    check_tables.py PROGRAM

node_tables.json holds PyTorch's rows with three spellings changed: a `sym_size` node is the dim's name, as dims have names here;
getitem is `_operator.getitem`; a device is its type. Everything else is compared as it stands.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def exported(program, entry, mode):
    words = [program, "export", f"{HERE}/cases/{entry['model']}", "--path", f"{HERE}/cases", "--json", mode]
    if entry["init"]:
        words += ["--init", entry["init"]]
    for spec in entry["inputs"]:
        words += ["--input", spec]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return [[node[key] for key in ("opcode", "name", "target", "args", "kwargs")] for node in json.loads(done.stdout)["nodes"]]


def main():
    failed = 0
    for entry in json.loads((HERE / "node_tables.json").read_text()):
        for mode in ("--non-strict", "--strict"):
            rows = exported(sys.argv[1], entry, mode)
            for got, want in zip(rows, entry["nodes"]):
                if got != want:
                    break
            else:
                if len(rows) == len(entry["nodes"]):
                    print(f"ok      {entry['model']} {entry['init']} {mode}")
                    continue
                got, want = f"{len(rows)} nodes", f"{len(entry['nodes'])} nodes"
            failed += 1
            print(f"FAILED  {entry['model']} {entry['init']} {mode}: {got}, PyTorch has {want}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
