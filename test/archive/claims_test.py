#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/archives.md: each test that it names is registered, each script is there, and each row has a state.

    claims_test.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def registered():
    """Names of tests, those of loops over names as patterns."""
    names = set()
    for path in [*ROOT.glob("test/**/CMakeLists.txt"), *ROOT.glob("test/**/*.cmake")]:
        names |= set(re.findall(r"(?:add_test\(\s*NAME|pellucid_test\(|pellucid_fuzz\w*\()\s*([\w${}.-]+)", path.read_text()))
    return [re.compile(re.sub(r"\\\$\\\{\w+\\\}", r"\\w+", re.escape(name)) + "$") for name in names]


def main():
    text = (ROOT / "docs/archives.md").read_text()
    rows = re.search(r"<!-- claims -->\n(.*?)<!-- end -->", text, re.S)[1].splitlines()[2:]
    tests, wrong = registered(), []
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) != 3 or not all(cells):
            wrong.append(f"not three cells: {row}")
            continue
        shown = re.findall(r"`([^`]+)`", cells[1])
        if not shown:
            wrong.append(f"nothing shows '{cells[0]}'")
        for name in shown:
            there = (ROOT / name).is_file() if "/" in name else any(test.match(name) for test in tests)
            if not there:
                wrong.append(f"'{name}', which shows '{cells[0]}', is not there")
    print("\n".join(wrong) or f"{len(rows)} rows, each with what shows it")
    sys.exit(bool(wrong))


main()
