#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs against torch, which must be there.

    fuzz.py PROGRAM --seed N --count M [--batch B] [--keep FILE.json]

Prints each wrong program, shrunk, and how many were right, refused and wrong.
"""
import argparse
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs
import random_programs


def is_wrong(ours, program):
    recorded = programs.record(program)
    return "runs" in recorded and bool(programs.check(ours, [recorded]))


def shrink(ours, program):
    """Without the lines and results that it is wrong without."""
    program = {key: program[key] for key in ("inputs", "body", "results")}
    again = True
    while again:
        again = False
        for key in ("body", "results"):
            i = len(program[key]) - 1
            while i >= 0 and len(program[key]) > (key == "results"):
                smaller = dict(program, **{key: program[key][:i] + program[key][i + 1 :]})
                if is_wrong(ours, smaller):
                    program, again = smaller, True
                i -= 1
    return programs.record(program)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--stop", type=int, default=1000, help="after this many wrong ones")
    parser.add_argument("--refusals", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    kept, outcomes = [], {}
    with tempfile.TemporaryDirectory() as folder:
        ours = programs.Ours(options.program, folder)
        made = []
        for seed in range(options.seed, options.seed + options.count):
            program = random_programs.make(seed)
            if "runs" in program:
                made.append(dict(program, seed=seed))
        for at in range(0, len(made), options.batch):
            for program, problem in programs.check(ours, made[at : at + options.batch], outcomes=outcomes):
                small = shrink(ours, program)
                kept.append(small)
                print(f"--- seed {program['seed']}: {problem[:600]}\n{small['inputs']}\n{programs.text_of('small', small)}", flush=True)
                found = programs.check(ours, [small])
                print(f"    {found[0][1][:1500] if found else 'right when alone'}", flush=True)
            if len(kept) >= options.stop:
                break
    if options.refusals:
        lines = {}
        for program, error in outcomes.get("refusals", []):
            first = error.split("\n")[0]
            key = first.split(": error: ")[-1][:140]
            lines.setdefault(key, [0, program, error])[0] += 1
        for key, (count, program, error) in sorted(lines.items(), key=lambda entry: -entry[1][0]):
            print(f"refused {count}: {key}")
            print("\n".join(error.split("\n")[:3]))
    if options.keep:
        pathlib.Path(options.keep).write_text(json.dumps(kept))
    print(f"{outcomes.get('right', 0)} right, {outcomes.get('refused', 0)} refused, {len(kept)} wrong of {len(made)}")
    return 1 if kept else 0


if __name__ == "__main__":
    sys.exit(main())
