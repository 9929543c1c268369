#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the tests that docs/pytorch-behaviours.md names are there, and every row names one.

The last column of a row names files or folders below test/ (or bench/) in backticks, a script of e2e/training/scripts without them, and the
cases of a file behind it: `trace/TraceModelTest.cpp` FourWays. In parentheses stand scripts of a folder; a name alone lies beside the one before it. A file must be
there and run by a test; a case must be a test of its file; a folder must have a CMakeLists.txt above it that adds tests. Rows that are
n/a may name none. Usage: check_behaviours.py [ROOT]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent


def registered(path):
    """Whether a CMakeLists.txt of its folder or one above it knows the file, or a script that it knows does."""
    name = path.name
    for folder in [path.parent, *path.parents]:
        listing = folder / "CMakeLists.txt"
        if listing.exists():
            text = listing.read_text()
            if name in text or path.stem in text:
                return True
            for test in folder.glob("**/*_test.py"):
                if test.name in text and (path.stem in test.read_text() or "glob(" in test.read_text()):
                    return True
            return path.parent.name in text or "GLOB" in text
        if folder == ROOT:
            break
    return False


def problems_of(cell, result):
    found = []
    cell_left = cell
    before = ROOT / "test"
    named = re.findall(r"`([^`]+)`", cell) + re.findall(r"(?<![\w`/])(\w+\.py)(?![\w`])", re.sub(r"`[^`]*`", "", cell))
    if not named and not result.startswith("n/a") and not result.startswith("refused"):
        return ["names no test"]
    for name in named:
        places = [ROOT / "test" / name, ROOT / name, before / name]
        if "/" not in name:
            folders = ["e2e/training/scripts", *[n for n in named if (ROOT / "test" / n).is_dir()]]
            places += [found_one for folder in folders for found_one in sorted((ROOT / "test" / folder).rglob(name))] + sorted((ROOT / "test/errors").glob("*/" + name))
        place = next((p for p in places if p.exists()), None)
        if place is None:
            found.append(f"there is no {name}")
            continue
        before = place.parent
        if place.is_file() and not registered(place):
            found.append(f"no test runs {name}")
        cell_left = cell_left.replace(f"`{name}`", "\0", 1) if f"`{name}`" in cell_left else cell_left.replace(name, "\0", 1)
        if place.is_file() and place.suffix in (".cpp", ".py"):
            behind = cell_left.split("\0")[-1].split("`")[0]
            text = place.read_text()
            for case in re.findall(r"\b([A-Za-z]\w*[a-z][A-Z]\w+)\b", behind):
                if case not in text:
                    found.append(f"{name} has no {case}")
    return found


def main():
    page = ROOT / "docs/pytorch-behaviours.md"
    failed = rows = 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| ") or len(cells) != 3 or cells[1] == "here":
            continue
        rows += 1
        for problem in problems_of(cells[2], cells[1]):
            print(f"docs/pytorch-behaviours.md:{number}: {problem}: {cells[0]}")
            failed += 1
    print(f"{rows} rows, {failed} problems")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
