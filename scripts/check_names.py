#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every operator, built-in of the kernel language, pass and verb can be found by its name: in its definition, in a test
and in the docs. docs/operators.md is written from the definitions; `--fix` writes it anew."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = {
    "Pointwise": "Arithmetic and elementary functions",
    "Comparison": "Comparison and selection",
    "Activations": "Activations",
    "Casts": "Casts",
    "Reductions": "Reductions",
    "Rows": "Rows: softmax and norms",
    "Gemm": "Products",
    "Views": "Views",
    "Copies": "Copies",
    "Factories": "New tensors",
    "Gathers": "Gathers",
    "Scatters": "Scatters",
    "Lines": "Lines: running sums and orders",
}


def text_of(folder, *suffixes):
    files = sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return "\n".join(path.read_text(errors="replace") for path in files)


def operators():
    """Schemas by family. A schema is a C++ string literal, perhaps broken into several."""
    found = {}
    for path in sorted((ROOT / "src/graph/ops").glob("*.cpp")):
        source = re.sub(r'"\s*\n\s*"', "", path.read_text())
        schemas = re.findall(r'"(\w+::[\w.]+\([^"]*\)\s*->\s*[^"]+)"', source)
        if schemas:
            found[path.stem] = sorted(set(schemas))
    return found


def operators_page(families):
    lines = [
        "# Operators",
        "",
        "What a graph may hold besides kernels and users' operators, as `scripts/check_names.py --fix` reads it from",
        "[`src/graph/ops`](../src/graph/ops). Names, overloads and schemas are PyTorch's; what decomposes is one record too.",
        "`torch.NAME`, `Tensor.NAME`, `torch.nn.functional.NAME` and `torch.nn` modules lead to them where PyTorch's do.",
        "",
    ]
    for stem, schemas in sorted(families.items(), key=lambda item: list(FAMILIES).index(item[0])):
        lines += [f"## {FAMILIES[stem]}", "", f"[`{stem}.cpp`](../src/graph/ops/{stem}.cpp)", "", "```"]
        lines += schemas + ["```", ""]
    return "\n".join(lines).rstrip() + "\n"


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


def main():
    families = operators()
    unknown = set(families) - set(FAMILIES)
    if unknown:
        sys.exit(f"scripts/check_names.py has no title for src/graph/ops/{sorted(unknown)[0]}.cpp")
    page, wanted = ROOT / "docs/operators.md", operators_page(families)
    if "--fix" in sys.argv[1:]:
        page.write_text(wanted)
    problems = []
    if not page.exists() or page.read_text() != wanted:
        problems.append("docs/operators.md is not what src/graph/ops says: run scripts/check_names.py --fix")

    tests = text_of("test", ".py", ".cpp", ".h", ".mlir", ".ttir")
    docs = text_of("docs", ".md")
    names = sorted({schema[schema.index("::") + 2 : re.search(r"[.(]", schema).start()]
                    for schemas in families.values() for schema in schemas})
    # aten::_softmax is what torch.softmax leads to; descriptor_load is what `descriptor.load` leads to.
    problems += missing_names("operator", [name.removeprefix("_") for name in names], [("test/", tests)])
    spelled = [name.removeprefix("descriptor_") for name in builtins()]
    problems += missing_names("built-in", spelled, [("test/", tests), ("docs/", docs)])
    problems += missing_names("pass", passes(), [("test/passes", text_of("test/passes", ".mlir")), ("docs/", docs)])
    verbs = re.findall(r'^ *\{"(\w+)",', (ROOT / "tools/pellucid/main.cpp").read_text(), re.M)
    problems += missing_names("verb", verbs, [("test/", tests), ("README.md", (ROOT / "README.md").read_text())])
    for problem in problems:
        print(problem)
    print(f"{len(names)} operators, {len(builtins())} built-ins, {len(passes())} passes, {len(verbs)} verbs")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
