#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Views, copies and writes against what torch does, from source to numbers.

    check_aliasing.py PROGRAM table|regressions|random|operators|mixtures|fresh [--python PYTHON]

`table`: every operator that gives a view or a copy, over every layout and kind of write, against recorded results.
`regressions`, `random`, `operators`, `mixtures`: recorded programs, whose memory ends, then begins, at a page without access. `fresh`: programs from a seed that is printed, where PYTHON has torch.
Exit code 77 where numpy (for `fresh`: torch) is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import programs
import table

BATCH = 48


def report(problems):
    for program, problem in problems:
        print(f"{problem}\n{program['inputs']}\n{programs.text_of(program.get('name', 'program').replace(' ', '_'), program)}")
    return problems


def check_recorded(ours, recorded, outcomes):
    problems = []
    for at in range(0, len(recorded), BATCH):
        problems += programs.check(ours, recorded[at : at + BATCH], outcomes=outcomes)
    return problems


def check_refused(ours, program):
    """What torch raises for must not give numbers."""
    try:
        ours.compile([program])
    except programs.Refused:
        return []
    except programs.Broken as error:
        return [(program, str(error))]
    return [(program, "is compiled where torch raises")]


def check_table(ours):
    answers = json.loads((HERE / "table.json").read_text())
    right, raising = [], []
    for name, program in table.rows():
        operator, layout, write = name.split()
        answer = answers.get(operator, {}).get(layout, {}).get(write)
        if answer is None:
            continue
        program["name"] = name
        (raising if answer == "raises" else right).append(dict(program, runs={"4": answer}))
    outcomes = {}
    problems = check_recorded(ours, right, outcomes)
    for program in raising:
        problems += check_refused(ours, program)
    for program, error in outcomes.get("refusals", []):
        problems.append((program, error))
    print(f"{outcomes.get('right', 0)} of {len(right)} rows right, {len(raising)} that torch refuses")
    return problems


def check_file(ours, name):
    recorded = json.loads((HERE / f"{name}.json").read_text())
    outcomes = {}
    problems = check_recorded(ours, [p for p in recorded if "runs" in p], outcomes)
    for program in recorded:
        if "runs" not in program:
            problems += check_refused(ours, program)
    problems += outcomes.get("refusals", [])
    print(f"{outcomes.get('right', 0)} right, {outcomes.get('refused', 0)} refused of {len(recorded)}")
    return problems


def check_fresh(program, python):
    if subprocess.run([python, "-c", "import torch, numpy"], capture_output=True).returncode != 0:
        print(f"skipped: {python} has no torch")
        sys.exit(77)
    seed = int(time.strftime("%Y%m%d")) * 1000
    print(f"seed {seed}, {time.strftime('%Y-%m-%d')}; fuzz.py PROGRAM --seed {seed} --count 24 runs the same", flush=True)
    failed = 0
    for kind in ([], ["--operators", "--guard", "3"], ["--gradients"], ["--gradients", "--exec"], ["--layouts"], ["--layouts", "--exec"]):
        done = subprocess.run([python, "-W", "ignore", str(HERE / "fuzz.py"), program, "--seed", str(seed), "--count", "24", "--batch", "24", *kind])
        failed |= done.returncode
    sys.exit(failed)


def main():
    program, what = sys.argv[1:3]
    if what == "fresh":
        check_fresh(program, sys.argv[4] if "--python" in sys.argv else sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        ours = programs.Ours(program, folder, guard=0 if what == "table" else 3)
        problems = check_table(ours) if what == "table" else check_file(ours, what)
    report(problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
