#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One closing line for ctest: what was skipped, and why.

    summarise_skips.py BUILD [MISSING]

Reads what ctest left in BUILD. MISSING is what install-test-oracles.sh could not install. With CI=true the exit code is 1 where an
oracle is missing that a registry offers.
"""
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

RESULTS = "Testing/results.xml"  # ctest --output-junit


def skipped(build):
    """Each test that ctest counts as skipped, with the sentence of its output that says why."""
    outputs = dict(re.findall(r"^\d+/\d+ Test: (\S+)\n.*?^Output:\n-+\n(.*?)^<end of output>", (build / "Testing/Temporary/LastTest.log").read_text(
        errors="replace"), re.M | re.S))
    for case in xml.etree.ElementTree.parse(build / RESULTS).iter("testcase"):
        if case.find("skipped") is not None:
            output = outputs.get(case.get("name"), "")
            why = re.search(r"^skipped: (.+)$", output, re.M) or re.search(r": Skipped\n(.+)$", output, re.M)
            yield case.get("name"), why[1].strip() if why else "it does not say why"


def main():
    build = pathlib.Path(sys.argv[1])
    missing = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    reasons = {}
    for name, why in skipped(build):
        reasons.setdefault(why, []).append(name)
    absent = missing.read_text().splitlines() if missing and missing.exists() else []
    parts = [f"{', '.join(names)} ({why})" for why, names in reasons.items()]
    parts += [f"without {line.split()[0]} ({line.split(' ', 1)[1]})" for line in absent]
    count = sum(map(len, reasons.values()))
    print(f"skipped: {count} tests" + ("; " + "; ".join(parts) if parts else ""))
    broken = [line for line in absent if " failed:" in line]
    if os.environ.get("CI") == "true" and broken:
        print("CI: an oracle that could be installed is missing: " + "; ".join(broken))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
