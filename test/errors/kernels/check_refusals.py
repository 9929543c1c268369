# SPDX-License-Identifier: Apache-2.0
"""Every file beside this one holds a kernel that is refused. Its second line says how:
    # error: LINE:COLUMN: the first diagnostic
and further lines `# note: LINE:COLUMN: text` name notes that must follow. Usage: check_refusals.py EMIT_KERNEL.
"""
import pathlib
import re
import subprocess
import sys


def check(tool, path):
    """What is wrong with the refusal of the file; empty when nothing is."""
    wanted = re.findall(r"^# (error|note): (\d+:\d+): (.*)$", path.read_text(), re.M)
    if not wanted or wanted[0][0] != "error":
        return ["the file does not say what is expected"]
    result = subprocess.run([tool, str(path)], capture_output=True, text=True)
    lines = result.stderr.splitlines() or [""]
    problems = [] if result.returncode == 1 else [f"exit status {result.returncode} instead of 1"]
    for i, (severity, place, text) in enumerate(wanted):
        line = f"{path}:{place}: {severity}: {text}"
        if i == 0 and lines[0] != line:
            problems += [f"expected {line}", f"got      {lines[0]}"]
        if i > 0 and line not in lines:
            problems.append(f"no line {line}")
    return problems


def main():
    files = sorted(p for p in pathlib.Path(__file__).parent.glob("*.py") if p.name != pathlib.Path(__file__).name)
    failed = 0
    for path in files:
        problems = check(sys.argv[1], path)
        failed += bool(problems)
        for problem in problems:
            print(f"{path.name}: {problem}")
    print(f"{len(files) - failed} refused as expected, {failed} not")
    sys.exit(1 if failed or not files else 0)


if __name__ == "__main__":
    main()
