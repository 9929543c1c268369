#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/host/CaseTables.inc: what Python's str methods know of each code point, from the answers of the Python that runs it.

    scripts/generate_case_tables.py > src/host/CaseTables.inc
"""
import sys
import unicodedata


def ignorable(c):
    """Case_Ignorable, which the last sigma of a word looks over."""
    return unicodedata.category(c) in ("Mn", "Me", "Cf", "Lm", "Sk") or c in "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a"


def flags(point):
    c = chr(point)
    title = unicodedata.category(c) == "Lt"
    answers = [c.isalpha(), c.isdecimal(), c.isdigit(), c.isnumeric(), c.isspace(), c.isupper(), c.islower(), title, ignorable(c)]
    return sum(bool(answer) << i for i, answer in enumerate(answers))


def rows(values):
    """Runs of [first, last, step, value]: neighbours with one value, or every second one."""
    out = []
    for point, value in values:
        if out and out[-1][3] == value:
            first, last, step, _ = out[-1]
            if point - last in (1, 2) and step in (0, point - last):
                out[-1] = [first, point, point - last, value]
                continue
        out.append([point, point, 0, value])
    return [[first, last, step or 1, value] for first, last, step, value in out]


def table(name, kind, entries):
    print(f"constexpr {kind} {name}[] = {{")
    entries = [e.replace(", ", ",") for e in entries]
    line = "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 100:
            print(line)
            line = "   "
        line += f" {entry},"
    print(line)
    print("};\n")


def main():
    print("// SPDX-License-Identifier: Apache-2.0\n// clang-format off")
    print(f"// Written by scripts/generate_case_tables.py: Unicode {unicodedata.unidata_version} as Python's str methods see it.\n")
    points = [p for p in range(0x80, 0x110000) if not 0xD800 <= p < 0xE000]
    runs = []
    for point in range(0x80, 0x110000):
        value = flags(point) if not 0xD800 <= point < 0xE000 else 0
        # Capitals and small letters that take turns are one row.
        if runs and len(runs[-1][1]) == 2 and point == runs[-1][2] + 1 and runs[-1][1][(point - runs[-1][0]) % 2] == value:
            runs[-1][2] = point
        elif runs and runs[-1][1] == [value]:
            runs[-1][2] = point
        elif runs and len(runs[-1][1]) == 1 and runs[-1][2] == runs[-1][0]:
            runs[-1] = [runs[-1][0], [runs[-1][1][0], value], point]
        else:
            runs.append([point, [value], point])
    print("/// From here to the next row's begin: bits of Letter, those of every second code point by themselves.")
    table("kinds", "KindRow", [f"{{{p:#x}, {v[0]:#x}, {v[-1]:#x}}}" for p, v, _ in runs])
    changes = {"lower": str.lower, "upper": str.upper, "title": str.title, "fold": str.casefold}
    long = []
    for name, change in changes.items():
        single = []
        for point in points:
            made = change(chr(point))
            if len(made) == 1 and ord(made) != point:
                single.append((point, ord(made) - point))
            elif len(made) > 1:
                text = "".join(f"\\x{byte:02x}" for byte in made.encode())
                long.append(f"{{{point:#x}, Case::{name.capitalize()}, \"{text}\"}}")
        print(f"/// Code points that `{name}` moves by a distance, every or every second one of a range.")
        table(f"{name}Moves", "Move", [f"{{{a:#x}, {b:#x}, {s}, {v}}}" for a, b, s, v in rows(single)])
    print("/// Those that become several.")
    table("longCases", "LongCase", long)


if __name__ == "__main__":
    sys.exit(main())
