#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what torch gives for the table and the recorded random programs. Needs torch.

    generate.py table                 writes table.json
    generate.py show ROW              prints what torch gives for one row, such as "reshape_flat dense kernel"
    generate.py random COUNT PROGRAM  writes random.json from those of the seeds 0..COUNT that PROGRAM does not refuse
    generate.py operators COUNT PROGRAM  the same of random_operators.py into operators.json
    generate.py mixtures COUNT PROGRAM  the same of random_mixtures.py into mixtures.json
    generate.py regressions           brings the results in regressions.json up to date
"""
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import programs
import random_mixtures
import random_operators
import random_programs
import table


def write_table():
    answers = {}
    for name, program in table.rows():
        recorded = programs.record(program)
        if recorded.get("raises", "").startswith(("the kernels take", "name ")):
            continue
        operator, layout, write = name.split()
        run = recorded.get("runs", {}).get("4")
        answers.setdefault(operator, {}).setdefault(layout, {})[write] = programs.digest(run["results"], run["inputs"]) if run else "raises"
    lines = [f'  {json.dumps(operator)}: {json.dumps(rows)}' for operator, rows in answers.items()]
    (HERE / "table.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def write_programs(path, recorded):
    path.write_text("[\n" + ",\n".join("  " + json.dumps(program) for program in recorded) + "\n]\n")


def is_taken(compiler, program):
    with tempfile.TemporaryDirectory() as folder:
        try:
            programs.Ours(compiler, folder).compile([program])
        except programs.Refused:
            return False
    return True


def main():
    what = sys.argv[1]
    if what == "table":
        write_table()
    elif what == "show":
        print(json.dumps(programs.record(dict(table.rows())[sys.argv[2]]), indent=1))
    elif what in ("random", "operators", "mixtures"):
        make = {"random": random_programs.make, "operators": random_operators.make, "mixtures": random_mixtures.make}[what]
        made = [p for p in map(make, range(int(sys.argv[2]))) if "runs" in p]
        write_programs(HERE / f"{what}.json", [p for p in made if is_taken(sys.argv[3], p)])
    elif what == "regressions":
        path = HERE / "regressions.json"
        write_programs(path, [programs.record(program) for program in json.loads(path.read_text())])


if __name__ == "__main__":
    main()
