#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every operator, built-in of the kernel language, pass and verb can be found by its name: in its definition, in a test
and in the docs, and tests that tables and documents name exist. docs/operators.md is what the registry of a build says; `--fix` writes it anew with that of the last build."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def text_of(folder, *suffixes):
    files = sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return "\n".join(path.read_text(errors="replace") for path in files)


def operators():
    """Their names, from the page that graph_operators_page_test holds to the registry."""
    page = (ROOT / "docs/operators.md").read_text()
    return sorted(set(re.findall(r"^\w+::(\w+)[.(]", page, re.M)))


def write_operators():
    programs = sorted(ROOT.glob("build/*/test/graph_operators_page_test"), key=lambda path: path.stat().st_mtime)
    if not programs:
        sys.exit("no build has test/graph_operators_page_test, which writes docs/operators.md")
    subprocess.run([programs[-1], "--fix"], check=True)


def builtins():
    source = (ROOT / "src/frontend/Builtins.cpp").read_text()
    table = source[source.index("builtins[] = {") : source.index("\n};")]
    return [name for name in re.findall(r'^    \{"(\w+)",', table, re.M) if not name.startswith("_")]


def passes():
    return re.findall(r'def \w+\s*:\s*Pass<"([\w-]+)"', (ROOT / "src/passes/tt/Passes.td").read_text())


def missing_names(kind, names, places):
    """Sentences for the names that a place (its title, its text) lacks."""
    for name in names:
        for title, text in places:
            if not re.search(rf"(?<![a-zA-Z0-9]){re.escape(name)}(?!\w)", text):
                yield f"{kind} '{name}' does not appear in {title}"


def missing_tests():
    """Sentences for files of tests that tables of tests and documents name and that do not exist."""
    there = {path.name for path in (ROOT / "test").rglob("*.*")}
    for folder in ("test", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".txt", ".md") or path.name == "CMakeLists.txt":
                continue
            for name in sorted(set(re.findall(r"\b\w+(?:_test\.py|Test\.cpp)\b", path.read_text(errors="replace")))):
                if name not in there:
                    yield f"{path.relative_to(ROOT)} names '{name}', a test that there is not"


def main():
    if "--fix" in sys.argv[1:]:
        write_operators()
    problems = []
    tests = text_of("test", ".py", ".cpp", ".h", ".mlir", ".ttir")
    docs = text_of("docs", ".md")
    names = operators()
    models = (ROOT / "docs/models.md").read_text()
    refused = set(re.findall(r"`(\w+)`", models[models.index("## What is refused"):])) & set(names)
    problems += [f"docs/models.md refuses '{name}', which docs/operators.md lists" for name in sorted(refused)]
    # aten::_softmax is what torch.softmax leads to; descriptor_load is what `descriptor.load` leads to.
    problems += missing_names("operator", [name.removeprefix("_") for name in names], [("test/", tests)])
    spelled = [name.removeprefix("descriptor_") for name in builtins()]
    problems += missing_names("built-in", spelled, [("test/", tests), ("docs/", docs)])
    problems += missing_names("pass", passes(), [("test/passes", text_of("test/passes", ".mlir")), ("docs/", docs)])
    verbs = re.findall(r'^ *\{"(\w+)",', (ROOT / "tools/pellucid/main.cpp").read_text(), re.M)
    problems += missing_names("verb", verbs, [("test/", tests), ("README.md", (ROOT / "README.md").read_text())])
    problems += missing_tests()
    for problem in problems:
        print(problem)
    print(f"{len(names)} operators, {len(builtins())} built-ins, {len(passes())} passes, {len(verbs)} verbs")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
