#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts of this folder, which check themselves and hold under PyTorch too: `ok` at the end, or the text that PyTorch prints
(NAME.txt).

    scripts_test.py PROGRAM [NAME…]
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "scripts"


def problem(name):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.argv[1], "exec", str(HERE / f"{name}.py"), folder], capture_output=True, text=True, timeout=600)
    expected = HERE / f"{name}.txt"
    wanted = expected.read_text() if expected.exists() else "ok\n"
    if done.returncode != 0:
        return f"exit status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    return "" if done.stdout == wanted else f"printed\n{done.stdout}instead of\n{wanted}"


def main():
    names = sys.argv[2:] or sorted(path.stem for path in HERE.glob("*.py"))
    failed = 0
    for name in names:
        if what := problem(name):
            failed += 1
            print(f"{name}: {what}")
    print(f"{len(names) - failed} as expected, {failed} not")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
