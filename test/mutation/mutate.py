#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice a wrong compiler? Makes mutants of the sources and runs the tests on each.

    mutate.py apply [--sample N] [--seed S] [FILE…]   writes N mutants into the sources, chosen at random, and lists them
    mutate.py run [--build FOLDER] [--only K…]        runs the tests on each mutant of a build made after `apply`
    mutate.py restore                                 takes them out again

All mutants are in one build: at each site the program asks the environment variable PELLUCID_MUTANT whether it is the one.
A mutant negates a condition, makes it false or true, swaps an operator (< and <=, == and !=, && and ||, + and -), moves an integer
by one, or turns a result of true or false around. Without FILE, sites are drawn from all of src/fusion, src/tt, src/passes and
src/trace. `run` prints the survivors and adds nothing anywhere; survivors.md is the list of those that are known, with reasons.
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src/fusion", "src/tt", "src/passes", "src/trace")
STATE = ROOT / "build/mutants.json"
# By folder: what is run, the quick first. The first test that fails kills the mutant.
TESTS = {
    "src/fusion": ["fusion_store_coverage_test", "fusion", "fusion_random", "e2e_models", "operators"],
    "src/tt": ["tt_", "lit", "codegen_differential_test", "e2e_launch", "fusion_store_coverage_test", "fusion", "errors"],
    "src/passes/tt": ["lit", "reference_tt_passes_test", "codegen_differential_test", "e2e_launch", "e2e_models"],
    "src/passes/graph": ["passes_graph_test", "e2e_products", "operators", "e2e_models", "fusion", "cli_reports"],
    "src/trace": ["trace_", "errors", "e2e_node_tables", "e2e_models", "operators", "host_"],
}
SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ", " || ": " && ",
         " + ": " - ", " - ": " + "}
ASK = '''#include <cstdlib>
/// For test/mutation/mutate.py.
[[maybe_unused]] static bool isMutant(int number) {
  static const char *chosen = std::getenv("PELLUCID_MUTANT");
  return chosen && std::atoi(chosen) == number;
}
'''


def closing(text, start):
    """The place of the parenthesis that closes the one before `start`."""
    depth, i = 1, start
    while i < len(text):
        if text[i] in "\"'" and not (text[i] == "'" and text[i - 1].isdigit()):
            quote, i = text[i], i + 1
            while i < len(text) and text[i] != quote:
                i += 2 if text[i] == "\\" else 1
        depth += (text[i : i + 1] == "(") - (text[i : i + 1] == ")")
        if depth == 0:
            return i
        i += 1
    return len(text)


def is_plain(condition):
    """No declaration, no second statement, no comment, no lambda."""
    return not re.search(r"[^=!<>]=[^=]|;|//|\[[&=\]]|\bauto\b|\bco_|^\s*$", condition)


def variants(expression, boolean):
    """What an expression could be by mistake, with a word for it."""
    if boolean:
        yield "negated", f"!({expression})"
        yield "false", f"(({expression}), false)" if False else "false"
        yield "true", "true"
    spans = [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'', expression)]
    outside = lambda place: not any(a <= place < b for a, b in spans)  # noqa: E731
    for old, new in SWAPS.items():
        for found in re.finditer(re.escape(old), expression):
            if outside(found.start()):
                yield f"'{old.strip()}' is '{new.strip()}'", expression[: found.start()] + new + expression[found.end():]
    for found in re.finditer(r"(?<![\w.\"'<])(\d+)(?![\w.\"'>])", expression):
        if outside(found.start()):
            for moved in (int(found[1]) + 1, int(found[1]) - 1):
                if moved >= 0:
                    yield f"{found[1]} is {moved}", expression[: found.start()] + str(moved) + expression[found.end():]


def sites(file):
    """(offset, end, text, replacement with {} for the number, what) of one file."""
    text = (ROOT / file).read_text()
    for found in re.finditer(r"\b(?:if|while) \(", text):
        end = closing(text, found.end())
        condition = text[found.end() : end]
        if is_plain(condition) and "constexpr" not in text[found.start() - 12 : found.end()]:
            for what, mutated in variants(condition, True):
                yield found.end(), end, f"isMutant({{}}) ? bool({mutated}) : bool({condition})", f"condition {what}: {' '.join(condition.split())}"
    for found in re.finditer(r"\breturn ([^;{}\"]+);", text):
        value = found[1]
        if not is_plain(value + " ") or value.strip() in ("nullptr", "std::nullopt"):
            continue
        flips = {"true": "false", "false": "true"}
        choices = [("turned around", flips[value])] if value in flips else [v for v in variants(value, False)]
        for what, mutated in choices:
            yield found.start(1), found.end(1), f"isMutant({{}}) ? ({mutated}) : ({value})", f"result {what}: {' '.join(value.split())}"


def apply(options):
    if STATE.exists():
        sys.exit("mutants are in the sources: mutate.py restore")
    files = options.files or sorted(str(p.relative_to(ROOT)) for folder in FOLDERS for p in (ROOT / folder).rglob("*.cpp"))
    found = [(file, *site) for file in files for site in sites(file)]
    rng = random.Random(options.seed)
    rng.shuffle(found)
    chosen, taken = [], {}
    for file, begin, end, replacement, what in found:
        if len(chosen) == options.sample:
            break
        if all(end <= a or begin >= b for a, b, _ in taken.get(file, [])):
            number = len(chosen) + 1
            line = (ROOT / file).read_text()[:begin].count("\n") + 1
            taken.setdefault(file, []).append((begin, end, replacement.replace("{}", str(number), 1)))
            chosen.append({"number": number, "file": file, "line": line, "what": what})
    STATE.parent.mkdir(exist_ok=True)
    STATE.write_text(json.dumps({"seed": options.seed, "sites": len(found), "mutants": chosen}, indent=1))
    for file, changes in taken.items():
        text = (ROOT / file).read_text()
        for begin, end, replacement in sorted(changes, reverse=True):
            text = text[:begin] + replacement + text[end:]
        (ROOT / file).write_text(ASK + text)
    print(f"{len(chosen)} of {len(found)} mutants in {len(taken)} files, seed {options.seed}; build, then mutate.py run")


def tests_of(file):
    return next(tests for folder, tests in sorted(TESTS.items(), key=lambda item: -len(item[0])) if file.startswith(folder))


def kill(mutant, options):
    """The test that notices it, or nothing."""
    for test in tests_of(mutant["file"]):
        done = subprocess.run(["ctest", "--test-dir", str(options.build), "-R", f"^{test}", "-E", "_cuda", "-j1", "--timeout", str(options.timeout), "--stop-on-failure"],
                              env=os.environ | {"PELLUCID_MUTANT": str(mutant["number"])}, capture_output=True, text=True)
        if done.returncode != 0:
            return re.sub(r"^.*? - ", "", next((line for line in done.stdout.splitlines() if re.match(r"\s*\d+ - ", line)), test).strip())
    return ""


def run(options):
    state = json.loads(STATE.read_text())
    survivors = []
    for mutant in state["mutants"]:
        if options.only and mutant["number"] not in options.only:
            continue
        by = kill(mutant, options)
        print(f"{mutant['number']:4} {'killed by ' + by if by else 'SURVIVES'}  {mutant['file']}:{mutant['line']} {mutant['what']}", flush=True)
        if not by:
            survivors.append(mutant)
    count = len(options.only or state["mutants"])
    print(f"{count - len(survivors)} of {count} mutants are noticed (seed {state['seed']})")


def restore(options):
    state = json.loads(STATE.read_text())
    for file in sorted({mutant["file"] for mutant in state["mutants"]}):
        text = (ROOT / file).read_text()
        if text.startswith(ASK):
            subprocess.run(["git", "-C", str(ROOT), "checkout", "--", file], check=True)
    STATE.unlink()


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("apply")
    verb.add_argument("--sample", type=int, default=25)
    verb.add_argument("--seed", type=int, default=1)
    verb.add_argument("files", nargs="*")
    verb = verbs.add_parser("run")
    verb.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    verb.add_argument("--timeout", type=int, default=600)
    verb.add_argument("--only", type=int, nargs="*")
    verbs.add_parser("restore")
    options = parser.parse_args()
    {"apply": apply, "run": run, "restore": restore}[options.verb](options)


if __name__ == "__main__":
    main()
