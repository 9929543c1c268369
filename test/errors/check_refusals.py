# SPDX-License-Identifier: Apache-2.0
"""Every file of a folder holds a program that is refused, and says how:
    # error: LINE:COLUMN: the first diagnostic
A caret must stand below that column of that line. Further lines `# note: LINE:COLUMN: text` name notes that must follow, and
`# command: WORDS` says with which words the tool is called; {file} is the file, which alone is the default.
Usage: check_refusals.py FOLDER TOOL.
"""
import pathlib
import re
import subprocess
import sys


def check(tool, path):
    """What is wrong with the refusal of the file; empty when nothing is."""
    text = path.read_text()
    wanted = re.findall(r"^# (error|note): (\d+):(\d+): (.*)$", text, re.M)
    if not wanted or wanted[0][0] != "error":
        return ["the file does not say what is expected"]
    command = re.search(r"^# command: (.*)$", text, re.M)
    words = (command.group(1) if command else "{file}").replace("{file}", str(path)).split()
    result = subprocess.run([tool, *words], capture_output=True, text=True, timeout=900)
    lines = result.stderr.splitlines() + ["", "", ""]
    problems = [] if result.returncode == 1 else [f"exit status {result.returncode} instead of 1"]
    for i, (severity, line, column, message) in enumerate(wanted):
        expected = f"{path}:{line}:{column}: {severity}: {message}"
        if i > 0 and expected not in lines:
            problems.append(f"no line {expected}")
        if i == 0 and lines[0] != expected:
            problems += [f"expected {expected}", f"got      {lines[0]}"]
    source, column = text.splitlines()[int(wanted[0][1]) - 1], int(wanted[0][2])
    if lines[1] != source or lines[2].find("^") != column - 1:
        problems += [f"no caret below column {column}:", *lines[1:3]]
    return problems


def main():
    folder, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    files = sorted(folder.glob("*.py"))
    failed = 0
    for path in files:
        problems = check(tool, path)
        failed += bool(problems)
        for problem in problems:
            print(f"{path.name}: {problem}")
    print(f"{len(files) - failed} refused as expected, {failed} not")
    sys.exit(1 if failed or not files else 0)


if __name__ == "__main__":
    main()
