#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random regular expressions match what CPython's `re` matches.

    random_patterns_test.py PROGRAM [--first SEED] [--count PATTERNS]

Without --first: the same seeds every time, and as many new ones, named by the day. Standard library only.
"""
import argparse
import datetime
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

TOGETHER = 400
CHECK = '''
def attempt(action):
    try:
        return repr(action())
    except re.error:
        return "error"


def f(x):
    for number, pattern, flags, text, repl, wanted in CASES:
        def spans(m):
            return m and [m.span(i) for i in range(m.re.groups + 1)] + [m.lastindex]
        got = [
            attempt(lambda: spans(re.match(pattern, text, flags))),
            attempt(lambda: spans(re.search(pattern, text, flags))),
            attempt(lambda: spans(re.fullmatch(pattern, text, flags))),
            attempt(lambda: re.findall(pattern, text, flags)),
            attempt(lambda: [m.span() for m in re.finditer(pattern, text, flags)]),
            attempt(lambda: re.split(pattern, text, 0, flags)),
            attempt(lambda: re.split(pattern, text, 2, flags)),
            attempt(lambda: re.subn(pattern, repl, text, 0, flags)),
            attempt(lambda: re.sub(pattern, lambda m: "<" + m.group() + ">", text, 2, flags)),
        ]
        if got != wanted:
            raise ValueError(f"seed {number}: {pattern!r} on {text!r}, flags {flags}, {repl!r}: {got} instead of {wanted}")
    return x
'''


class Generator:
    def __init__(self, seed):
        self.choice = random.Random(seed)
        self.groups = 0

    def atom(self, depth):
        kind = self.choice.randrange(14 if depth else 9)
        if kind < 4:
            return self.choice.choice("abcAB01 _-")
        if kind == 4:
            return self.choice.choice([".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\.", r"\n", r"\x61", r"\-"])
        if kind == 5:
            return "[" + self.choice.choice(["", "^"]) + "".join(self.choice.choice(["a-c", "b", "0-9", r"\d", r"\w", "_", "-", "A-B", r"\]"]) for _ in range(self.choice.randrange(1, 4))) + "]"
        if kind == 6:
            return self.choice.choice(["^", "$", r"\b", r"\B", r"\A", r"\Z"])
        if kind == 7 and self.groups:
            return f"\\{self.choice.randrange(1, self.groups + 2)}"
        if kind in (7, 8):
            return self.choice.choice(["ab", "a|b", "b?"])
        if kind < 11:
            self.groups += 1
            return "(" + self.choice.choice(["", f"?P<g{self.groups}>"]) + self.alternation(depth - 1) + ")"
        if kind == 11:
            return "(?" + self.choice.choice([":", ":", "i:", "s-i:", ">"]) + self.alternation(depth - 1) + ")"
        if kind == 12:
            return "(?" + self.choice.choice(["=", "!"]) + self.alternation(depth - 1) + ")"
        return "(?" + self.choice.choice(["<=", "<!"]) + self.choice.choice(["a", "ab|ba", "[ab]", r"\b", r"\d\w"]) + ")"

    def item(self, depth):
        text = self.atom(depth)
        if self.choice.random() < 0.4:
            text += self.choice.choice(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "{x}"]) + self.choice.choice(["", "", "", "?", "+"])
        return text

    def alternation(self, depth):
        branches = ["".join(self.item(depth) for _ in range(self.choice.randrange(1, 4))) for _ in range(self.choice.choice([1, 1, 1, 2, 3]))]
        return "|".join(branches)

    def case(self):
        pattern = self.alternation(2)
        flags = sum(self.choice.choice([0, 0, 0, f]) for f in (re.I, re.M, re.S, re.A))
        text = "".join(self.choice.choice("aabbcAB01 _-\n.") for _ in range(self.choice.randrange(1, 12)))
        repl = self.choice.choice(["x", r"[\g<0>]", r"\1", r"<\n>", r"\\", ""])
        return pattern, int(flags), text, repl


def wanted_of(case):
    names = {"re": re}
    exec(compile("import re\n" + CHECK, "check", "exec"), names)
    captured = []
    names["CASES"] = [(0, *case, Probe(captured))]
    names["f"](None)
    return captured[0]


class Probe:
    """What the results are compared with, to get at them."""

    def __init__(self, captured):
        self.captured = captured

    def __ne__(self, other):
        self.captured.append(other)
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--first", type=int)
    parser.add_argument("--count", type=int, default=TOGETHER)
    arguments = parser.parse_args()
    today = int(datetime.date.today().strftime("%Y%m%d")) * 100_000
    seeds = range(arguments.first, arguments.first + arguments.count) if arguments.first is not None else [*range(arguments.count), *range(today, today + arguments.count)]
    warnings.simplefilter("ignore")
    cases = []
    for seed in seeds:
        case = Generator(seed).case()
        cases.append((seed, *case, wanted_of(case)))
    with tempfile.TemporaryDirectory() as folder:
        text = "import re\n\nCASES = [\n" + "".join(f"    {case!r},\n" for case in cases) + "]\n" + CHECK
        (pathlib.Path(folder) / "host.py").write_text(text)
        done = subprocess.run([arguments.program, "export", "host.py:f", "--input", "x=f32[2]"], cwd=folder, capture_output=True, text=True, timeout=900)
    if done.returncode:
        print(f"exit code {done.returncode}: " + "\n".join(done.stderr.strip().splitlines()[:4]))
        return 1
    print(f"{len(cases)} patterns agree, seeds {seeds[0]} to {seeds[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
