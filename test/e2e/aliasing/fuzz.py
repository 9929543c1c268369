#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs against torch, which must be there.

    fuzz.py PROGRAM --seed N --count M [--batch B] [--saved] [--option=--no-fusion] [--keep FILE.json]

Prints each wrong program, shrunk, and how many were right, refused and wrong.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs
import random_gradients
import random_layouts
import random_mixtures
import random_operators
import random_programs


def is_wrong(ours, program, options):
    recorded = programs.record(program)
    return "runs" in recorded and bool(programs.check(ours, [recorded], options))


def shrink(ours, program, options):
    """Without the lines and results that it is wrong without."""
    program = {key: program[key] for key in ("inputs", "dtypes", "range", "body", "results") if key in program}
    again = True
    while again:
        again = False
        for key in ("body", "results"):
            i = len(program[key]) - 1
            while i >= 0 and len(program[key]) > (key == "results"):
                smaller = dict(program, **{key: program[key][:i] + program[key][i + 1 :]})
                if is_wrong(ours, smaller, options):
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
    parser.add_argument("--seconds", type=int, help="no further programs after these")
    parser.add_argument("--refusals", action="store_true")
    parser.add_argument("--operators", action="store_true", help="random_operators.py's programs")
    parser.add_argument("--mixtures", action="store_true", help="random_mixtures.py's programs")
    parser.add_argument("--layouts", action="store_true", help="random_layouts.py's programs")
    parser.add_argument("--gradients", action="store_true", help="random_gradients.py's programs")
    parser.add_argument("--level", default="x86-64-v3", help="the CPU level of the code")
    parser.add_argument("--prepared", action="store_true", help="prepare the calls")
    parser.add_argument("--guard", type=int, default=0, help="1: memory ends, 2: begins at a page without access, 3: both")
    parser.add_argument("--saved", action="store_const", const=".program", default="", help="export each program to a file and compile that")
    parser.add_argument("--archive", dest="saved", action="store_const", const=".pt2", help="the same through an archive of torch.export")
    parser.add_argument("--exec", action="store_true", help="as scripts, line by line")
    parser.add_argument("--option", action="append", default=[], help="of compile, such as --option=--no-fusion")
    parser.add_argument("--keep")
    options = parser.parse_args()
    import torch

    kinds = {random_gradients: options.gradients, random_layouts: options.layouts, random_mixtures: options.mixtures, random_operators: options.operators}
    make = next((kind for kind, asked in kinds.items() if asked), random_programs).make
    torch.set_num_threads(1)
    kept, outcomes = [], {}
    with tempfile.TemporaryDirectory() as folder:
        ours = programs.Scripts(options.program, folder, options.option) if options.exec else \
            programs.Ours(options.program, folder, options.saved, options.level, options.prepared, options.guard)
        made, begin = 0, time.monotonic()
        for at in range(options.seed, options.seed + options.count, options.batch):
            if options.seconds and time.monotonic() - begin > options.seconds:
                break
            batch = [dict(make(seed), seed=seed) for seed in range(at, min(at + options.batch, options.seed + options.count))]
            batch = [program for program in batch if "runs" in program]
            made += len(batch)
            for program, problem in programs.check(ours, batch, options.option, outcomes):
                print(f"--- seed {program['seed']} is wrong", flush=True)
                small = shrink(ours, program, options.option)
                kept.append(small)
                print(f"{problem[:600]}\n{small['inputs']}\n{programs.text_of('small', small)}", flush=True)
                found = programs.check(ours, [small], options.option)
                print(f"    {found[0][1][:1500] if found else 'right when alone'}", flush=True)
            for path in pathlib.Path(folder).iterdir():
                path.unlink()
            if len(kept) >= options.stop:
                break
    if options.refusals:
        lines = {}
        for program, error in outcomes.get("refusals", []):
            raised = error.startswith("Traceback")
            key = error.split("\n")[-1 if raised else 0].split(": error: ")[-1][:140]
            lines.setdefault(key, [0, program, error])[0] += 1
        for key, (count, program, error) in sorted(lines.items(), key=lambda entry: -entry[1][0]):
            print(f"refused {count}: {key}")
            print("\n".join(error.split("\n")[-4:] if error.startswith("Traceback") else error.split("\n")[:3]))
    if options.keep:
        pathlib.Path(options.keep).write_text(json.dumps(kept))
    print(f"{outcomes.get('right', 0)} right, {outcomes.get('refused', 0)} refused, {len(kept)} wrong of {made}")
    return 1 if kept else 0


if __name__ == "__main__":
    sys.exit(main())
