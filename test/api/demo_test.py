#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/demo.sh prints: twelve rows, each ok, and the README shows them as they are.

    demo_test.py DEMO PROGRAM CLIENT SOURCE WORK

The largest errors may differ by a fifth from the README's: another ISA level sums in another order.
"""
import pathlib
import re
import subprocess
import sys

DEMO, PROGRAM, CLIENT, SOURCE, WORK = sys.argv[1:6]
ROW = re.compile(r"(raw|triton_op|custom_op) +(strict|non-strict) +(compiled in C\+\+|package, plain C) +(.*)")


def rows(text):
    return {found.groups()[:3]: found[4].split() for found in ROW.finditer(text)}


def about(number, other):
    return abs(float(number) - float(other)) <= 0.2 * float(other)


def problems(text, page):
    found, shown = rows(text), rows(page)
    if len(found) != 12 or "12 of 12 rows ok" not in text:
        yield f"{len(found)} rows are printed"
    for name, words in found.items():
        if len(words) != 8 or words[4] != "refused" or words[6:] != ["%", "ok"]:
            yield f"{name}: {' '.join(words)}"
    if not shown or "12 of 12 rows ok" not in page:
        yield "README.md shows no rows"
    for name, words in shown.items():
        mine = found.get(name, [])
        if len(mine) != len(words) or not all(about(a, b) for a, b in zip(mine[:4] + mine[5:6], words[:4] + words[5:6])):
            yield f"README.md shows {name}: {' '.join(words)}, now it is {' '.join(mine)}"
    for line in text.splitlines():
        if line.startswith(("kernel ", " " * 30)) and line.rstrip() not in page:
            yield f"README.md lacks the line '{line.rstrip()}'"


def main():
    done = subprocess.run([DEMO, "--program", PROGRAM, "--client", CLIENT, "--model", f"{SOURCE}/examples/silu_model.py", "--work", WORK],
                          capture_output=True, text=True)
    found = list(problems(done.stdout, (pathlib.Path(SOURCE) / "README.md").read_text()))
    if done.returncode != 0 or done.stderr:
        found.append(f"exit code {done.returncode}: {done.stderr}")
    print(done.stdout)
    for problem in found:
        print("FAILED", problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
