#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random host programs mean what CPython says.

    random_host_test.py PROGRAM [--first SEED] [--count PROGRAMS] [--keep FOLDER]

Without --first: the same seeds every time, and as many new ones, named by the day. Standard library only.
"""
import argparse
import datetime
import pathlib
import subprocess
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from random_programs import Program  # noqa: E402

TOGETHER = 20
CHECK = '''
def compare(number, got, wanted):
    if len(got) != len(wanted):
        raise ValueError(f"seed {number}: {got} instead of {wanted}")
    for i, (value, text) in enumerate(zip(got, wanted)):
        if repr(value) != text:
            raise ValueError(f"seed {number}, value {i}: {value!r} instead of {text}")


def f(x):
    for number, case, wanted in CASES:
        compare(number, case(), wanted)
    return x
'''


def results(source, name):
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile("import math\n" + source, name, "exec"), names)  # noqa: S102 - of our own generator
    return [repr(value) for value in names[name]()]


def module_of(seeds):
    text, cases = "import math\n\n\n", []
    for seed in seeds:
        source = Program(seed).source(f"case_{seed}")
        text += source + "\n\n"
        cases.append(f"    ({seed}, case_{seed}, {results(source, f'case_{seed}')!r}),")
    return text + "CASES = [\n" + "\n".join(cases) + "\n]\n" + CHECK


def run(program, seeds, folder):
    """What the compiler says of the programs of these seeds; nothing when all agree."""
    (folder / "host.py").write_text(module_of(seeds))
    done = subprocess.run([program, "export", "host.py:f", "--input", "x=f32[2]"], cwd=folder, capture_output=True, text=True, timeout=900)
    return "" if done.returncode == 0 else f"exit code {done.returncode}: " + "\n".join(done.stderr.strip().splitlines()[:4])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--first", type=int)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if options.first is not None:
        seeds = list(range(options.first, options.first + options.count))
    else:
        today = 1000 * (datetime.date.today() - datetime.date(2026, 1, 1)).days
        seeds = [*range(options.count), *range(10**6 + today, 10**6 + today + options.count)]
        print(f"seeds 0..{options.count - 1} and {seeds[options.count]}..{seeds[-1]}")
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for start in range(0, len(seeds), TOGETHER):
            group = seeds[start : start + TOGETHER]
            if not run(options.program.resolve(), group, folder):
                continue
            for seed in group:
                if problem := run(options.program.resolve(), [seed], folder):
                    failed += 1
                    print(f"FAILED seed {seed}: {problem}")
                    if options.keep:
                        options.keep.mkdir(exist_ok=True)
                        (options.keep / f"{seed}.py").write_text((folder / "host.py").read_text())
    print(f"{failed} of {len(seeds)} programs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
