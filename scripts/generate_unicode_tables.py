#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/syntax/UnicodeTables.inc from the Unicode data of the Python 3.11 that runs it."""
import pathlib
import sys


def ranges(belongs, first):
    out = []
    for code_point in range(first, 0x110000):
        if belongs(chr(code_point)):
            if out and out[-1][1] == code_point - 1:
                out[-1][1] = code_point
            else:
                out.append([code_point, code_point])
    return out


def table(name, pairs):
    cells = ["{0x%x, 0x%x}" % tuple(pair) for pair in pairs]
    rows = ["    " + ", ".join(cells[i : i + 5]) + "," for i in range(0, len(cells), 5)]
    return "constexpr CodePointRange %s[] = {\n%s\n};\n" % (name, "\n".join(rows))


def main():
    if sys.version_info[:2] != (3, 11):
        sys.exit("run this with Python 3.11: the tables must match its str.isprintable()")
    text = "// SPDX-License-Identifier: Apache-2.0\n"
    text += "// Written by scripts/generate_unicode_tables.py; do not edit.\n"
    text += "// clang-format off\n"
    text += table("NonPrintable", ranges(lambda c: not c.isprintable(), 0x7F))
    text += table("IdentifierStart", ranges(str.isidentifier, 0x80))
    text += table("IdentifierContinue", ranges(lambda c: ("a" + c).isidentifier(), 0x80))
    text += "// clang-format on\n"
    root = pathlib.Path(__file__).resolve().parent.parent
    (root / "src/syntax/UnicodeTables.inc").write_text(text)


main()
