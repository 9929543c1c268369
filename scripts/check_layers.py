#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every #include under src/, tools/ and include/ against the order of the layers.

A folder of src/ is one layer with one rank and may include its own headers and those of lower ranks only. MLIR and LLVM
stay out of the layers marked so, and the public headers include nothing but each other and the standard library.
Prints each violation as FILE:LINE and exits 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder under src/ -> (rank, may include MLIR/LLVM)
LAYERS = {
    "support": (0, False),
    "symbolic": (1, False),
    "syntax": (1, False),
    "package": (1, False),
    "archive": (2, False),
    "runtime": (2, False),
    "tt": (2, True),
    "graph": (2, False),
    "host": (2, False),
    "autograd": (3, False),
    "frontend": (3, True),
    "reference": (3, True),
    "passes/tt": (3, True),
    "passes/graph": (3, False),
    "trace": (4, True),
    "fusion": (4, True),
    "codegen/common": (4, True),
    "codegen/cpu": (5, True),
    "codegen/gpu": (5, True),
    "codegen/cuda": (6, True),
    "driver": (7, True),
    "eager": (8, False),
    "api": (9, False),
    "exec": (9, True),
}
TOOLS_RANK = 10
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
COMPILER = ("mlir/", "llvm/", "llvm-c/", "lld/", "mlir-c/")
LOW_LEVEL_DIALECTS = ("mlir/Dialect/LLVMIR/", "mlir/Target/LLVMIR/")


def layer_of(path: str):
    """The layer that the src-relative path belongs to, longest folder name first."""
    for name in sorted(LAYERS, key=len, reverse=True):
        if path == name or path.startswith(name + "/"):
            return name
    return None


def check(file: pathlib.Path, own: str | None):
    rank, may_mlir = (TOOLS_RANK, True) if own is None else LAYERS[own]
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(2)
        where = f"{file.relative_to(ROOT)}:{number}"
        if target.startswith(COMPILER):
            if not may_mlir:
                yield f"{where}: {own} must not include {target}: this layer is free of MLIR and LLVM"
            if target.startswith(LOW_LEVEL_DIALECTS) and not (own or "").startswith("codegen"):
                yield f"{where}: {target} belongs to src/codegen only"
            continue
        other = layer_of(target)
        if other is None or other == own:
            continue
        if own is not None and LAYERS[other][0] >= rank:
            yield f"{where}: {own} (rank {rank}) includes {target} of {other} (rank {LAYERS[other][0]})"


def check_table():
    """docs/architecture.md has a row for each layer, with its rank; `tools` stands above them all."""
    written = {}
    for ranks, names in re.findall(r"^\| ([\d, ]+) \| ((?:`[\w/]+`(?:, )?)+) \|", (ROOT / "docs/architecture.md").read_text(), re.M):
        ranks, names = [int(rank) for rank in ranks.split(",")], re.findall(r"`([\w/]+)`", names)
        written |= dict(zip(names, ranks if len(ranks) == len(names) else ranks * len(names), strict=True))
    meant = {name: rank for name, (rank, _) in LAYERS.items()} | {"tools": TOOLS_RANK}
    for name in sorted(written.keys() | meant.keys()):
        if written.get(name) != meant.get(name):
            yield f"docs/architecture.md: rank {written.get(name)} of {name}, here {meant.get(name)}"
    for name in LAYERS:
        if not (ROOT / "src" / name).is_dir():
            yield f"src/{name}: a layer without a folder"


def check_public(file: pathlib.Path):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match and match.group(1) == '"' and not match.group(2).startswith("pellucid/"):
            yield f"{file.relative_to(ROOT)}:{number}: a public header includes {match.group(2)}"
        if match and match.group(2).startswith(COMPILER):
            yield f"{file.relative_to(ROOT)}:{number}: a public header includes {match.group(2)}"


def main():
    errors, count = [], 0
    for folder, public in (("src", False), ("tools", False), ("include", True)):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".h", ".hpp", ".cpp", ".c"):
                continue
            count += 1
            if public:
                errors += check_public(file)
                continue
            own = layer_of(str(file.relative_to(ROOT / "src"))) if folder == "src" else None
            if folder == "src" and own is None:
                errors.append(f"{file.relative_to(ROOT)}: no layer has this folder")
                continue
            errors += check(file, own)
    errors += check_table()
    for error in errors:
        print(error)
    if count < 10:
        print(f"only {count} files found under {ROOT}: wrong folder?")
        return 1
    print(f"{count} files, {len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
