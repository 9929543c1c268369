#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice a wrong compiler? Makes mutants of the sources and runs the tests on each.

    cmake --preset release -DPELLUCID_MUTANTS=60 -DPELLUCID_MUTANTS_SEED=7 && cmake --build --preset release --target mutants
    mutate.py run [--build FOLDER] [--jobs J] [--only K…]

The build writes copies of the sources with that many mutants into mutants/src (`mutate.py write`), and links the programs and tests
with them in mutants/bin and mutants/test; the sources stay as they are. At each site the program asks the environment variable
PELLUCID_MUTANT whether it is the one: a mutant negates a condition, makes it false or true, swaps an operator (< and <=, == and !=,
&& and ||, + and -), moves an integer by one, or turns a result of true or false around. Sites are drawn from all of src/fusion, src/tt,
src/passes and src/trace.

`run` first runs every test once without a mutant, to see which mutants it comes to, and then for each mutant the tests that come to
it, the quick first. The first one that fails, crashes, or needs far more time or memory than without the mutant notices it. Survivors
are printed; survivors.md lists those that are known, and the equivalent ones among them are not drawn again.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src/fusion", "src/tt", "src/passes", "src/trace")
# Tests of the sources' form, and those that a mutant cannot reach or that a run of all does not show anything with.
LEFT_OUT = r"^(format|names|layers|python|figures|install|demo|fuzz_.*|judge.*|syntax_.*)$|_cuda"
MEMORY = 8 << 30  # a mutant may fill memory; this much of it, and the machine stays usable
SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ", " || ": " && ",
         " + ": " - ", " - ": " + "}
ASK = '''#pragma clang optimize off
#include <atomic>
#include <cstdio>
#include <cstdlib>
/// For test/mutation/mutate.py: whether the mutant was chosen; with PELLUCID_MUTANTS_REACHED, that it was reached.
[[maybe_unused]] static bool isMutant(int number) {
  static const char *const word = std::getenv("PELLUCID_MUTANT"), *const reached = std::getenv("PELLUCID_MUTANTS_REACHED");
  static const int chosen = word ? std::atoi(word) : 0;
  static std::atomic<bool> seen[1000];
  if (reached && !seen[number % 1000].exchange(true))
    if (std::FILE *file = std::fopen(reached, "a")) {
      std::fprintf(file, "%d\\n", number);
      std::fclose(file);
    }
  return chosen == number;
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
        yield "false", "false"
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


def known():
    """The equivalent ones of survivors.md: its lines `* FILE: WHAT` with an indented reason."""
    text = (ROOT / "test/mutation/survivors.md").read_text()
    return set(re.findall(r"^\* `(src/.*)`$", text.partition("## Equivalent")[2], re.M))


def write(options):
    """Copies with mutants, and mutants.json; prints the files' names, as CMake's lists are written."""
    files = sorted(str(p.relative_to(ROOT)) for folder in FOLDERS for p in (ROOT / folder).rglob("*.cpp"))
    found = [(file, *site) for file in files for site in sites(file)]
    random.Random(options.seed).shuffle(found)
    chosen, changes, equivalent = [], {}, known()
    for file, begin, end, replacement, what in found:
        if len(chosen) == options.sample:
            break
        taken = changes.setdefault(file, [])
        if f"{file}: {what}" not in equivalent and all(end <= a or begin >= b for a, b, _ in taken):
            number = len(chosen) + 1
            taken.append((begin, end, replacement.replace("{}", str(number), 1)))
            chosen.append({"number": number, "file": file, "line": (ROOT / file).read_text()[:begin].count("\n") + 1, "what": what})
    written = []
    for file, taken in sorted(changes.items()):
        text = (ROOT / file).read_text()
        for begin, end, replacement in sorted(taken, reverse=True):
            text = text[:begin] + replacement + text[end:]
        path = options.into / file
        if taken:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(ASK + text)
            written.append(str(path))
    (options.into / "mutants.json").write_text(json.dumps({"seed": options.seed, "sites": len(found), "mutants": chosen}, indent=1))
    print(";".join(written))


def tests_of(options):
    """name -> command, environment, folder; of the tests that run a program or test that is there with mutants."""
    listed = json.loads(options.tests.read_text()) if options.tests else \
        json.loads(subprocess.run(["ctest", "--test-dir", str(options.build), "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout)
    build, tests = str(options.build), {}
    for test in listed["tests"]:
        words = [word.replace(f"{build}/bin", f"{build}/mutants/bin") for word in test.get("command", [])]
        words = [mutated if (mutated := word.replace(f"{build}/test/", f"{build}/mutants/test/")) != word and os.path.isfile(mutated) else word for word in words]
        given = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        if words and shutil.which(words[0]) and "/mutants/" in " ".join(words) and all(os.path.exists(word) for word in words if word.startswith(f"{build}/")) and not re.search(LEFT_OUT, test["name"]):
            tests[test["name"]] = {"command": words, "environment": dict(one.split("=", 1) for one in given.get("ENVIRONMENT", [])),
                                   "folder": given.get("WORKING_DIRECTORY", build), "skip": given.get("SKIP_RETURN_CODE")}
    return tests


def passes(test, environment, usual):
    """Whether a test passes, with limits for what usually takes so many seconds; and how long it took."""
    seconds = int(20 + 5 * usual)  # of processor time, for each of its processes

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        os.setpgrp()

    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(test["command"], cwd=test["folder"], env=os.environ | test["environment"] | environment | {"TMPDIR": scratch},
                                   stdin=subprocess.DEVNULL, stdout=said, stderr=said, preexec_fn=limit)
        try:
            code = process.wait(timeout=60 + 10 * usual)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        said.seek(max(0, said.tell() - 2000))
        test["said"] = said.read().decode(errors="replace")
    return code == 0 or code == test["skip"], time.monotonic() - begin


def reach(options, tests, pool):
    """Asks every test, once, which mutants it comes to."""
    def one(name):
        with tempfile.NamedTemporaryFile() as log:
            passed, cost = passes(tests[name], {"PELLUCID_MUTANTS_REACHED": log.name}, 3600)
            reached = {int(line) for line in log.read().split()}
        if not passed:
            print(f"{name} fails without a mutant and is left out: {tests[name]['said'][-500:]}", flush=True)
        return name, {"cost": cost, "reaches": sorted(reached) if passed else []}

    found = dict(pool.map(one, sorted(tests, key=lambda name: name.startswith(("operators", "fusion", "e2e")), reverse=True)))
    print(f"{len(found)} tests, {sum(bool(entry['reaches']) for entry in found.values())} of them come to mutants", flush=True)
    return found


def kill(mutant, tests, found):
    """The test that notices it, or nothing; and how many came to it."""
    names = sorted((entry["cost"], name) for name, entry in found.items() if mutant["number"] in entry["reaches"])
    for cost, name in names:
        if not passes(dict(tests[name]), {"PELLUCID_MUTANT": str(mutant["number"])}, cost)[0]:
            return mutant, name, len(names)
    return mutant, "", len(names)


def run(options):
    state, tests, folders = json.loads((options.build / "mutants/built.json").read_text()), tests_of(options), {}
    mutants = [mutant for mutant in state["mutants"] if not options.only or mutant["number"] in options.only]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = reach(options, tests, pool)
        for done in concurrent.futures.as_completed([pool.submit(kill, mutant, tests, found) for mutant in mutants]):
            mutant, by, count = done.result()
            print(f"{mutant['number']:4} {'noticed by ' + by if by else f'SURVIVES {count} tests'}  {mutant['file']}:{mutant['line']} {mutant['what']}", flush=True)
            tally = folders.setdefault("/".join(mutant["file"].split("/")[:-1]), [0, 0])
            tally[0] += bool(by)
            tally[1] += 1
    for folder, (noticed, of) in sorted(folders.items()):
        print(f"{folder}: {noticed} of {of}")
    print(f"{sum(t[0] for t in folders.values())} of {sum(t[1] for t in folders.values())} mutants are noticed (seed {state['seed']})")


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("write")
    verb.add_argument("into", type=pathlib.Path)
    verb.add_argument("--sample", type=int, default=60)
    verb.add_argument("--seed", type=int, default=1)
    verb = verbs.add_parser("run")
    verb.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    verb.add_argument("--tests", type=pathlib.Path, help="what ctest --show-only=json-v1 printed, where there is no ctest")
    verb.add_argument("--jobs", type=int, default=os.cpu_count())
    verb.add_argument("--only", type=int, nargs="*")
    options = parser.parse_args()
    {"write": write, "run": run}[options.verb](options)


if __name__ == "__main__":
    main()
