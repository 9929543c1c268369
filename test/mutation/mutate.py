#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice a wrong compiler? Makes mutants of the sources and runs the tests on each.

    cmake --preset release -DPELLUCID_MUTANTS=60 -DPELLUCID_MUTANTS_SEED=7 && cmake --build --preset release --target mutants
    mutate.py run [--build FOLDER] [--jobs J] [--only K…] [--state FILE] [--seconds S] [--tests FILE]

The build writes copies of the sources with that many mutants into mutants/src (`mutate.py write`), and links the programs and tests
with them in mutants/bin and mutants/test; the sources stay as they are. At each site the program asks the environment variable
PELLUCID_MUTANT whether it is the one: a mutant negates a condition, makes it false or true, swaps an operator (< and <=, == and !=,
&& and ||, + and -), moves an integer by one, turns a result of true or false around, or swaps an operator in the text of a kernel that
is written. Sites are drawn from all of src/fusion, src/tt, src/passes and src/trace. What survivors.md wants a test for comes in
addition, and with -DPELLUCID_MUTANTS_AT="src/tt/AxisInfo.cpp:36;…" every mutant of those lines. With
-DPELLUCID_MUTANTS_OF="src/codegen/gpu/LayoutChoice.cpp;…" as many again are drawn from those files, wherever they lie: what is new.
-DPELLUCID_MUTANTS_FILES=12 draws them from that many files, and these by their size: 100 mutants of 70 files take an hour of a core to build.

`run` tries for each mutant the tests that come to it, those of its own folder first. Which mutants a test comes to is seen in one run without
a mutant, when the test is first asked for. A test comes to a condition's mutant only where the condition would have been another one: what
no test decides survives without a run. The first test that fails, crashes, or needs far more time or memory than without the mutant
notices it. `--state` keeps what was seen, after each step: a run that was ended, after `--seconds` or otherwise, goes on with it, on another
machine too (`--tests` is then what `ctest --show-only=json-v1` printed). Survivors are printed; survivors.md lists those that are known, and the equivalent ones among them
are not drawn again.
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
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src/fusion", "src/tt", "src/passes", "src/trace")
# Tests of the sources' form, and those that a mutant cannot reach or that a run of all does not show anything with.
LEFT_OUT = r"^(format|names|layers|python|figures|unused|install|demo|fuzz_.*|judge.*|syntax_.*)$|_cuda(?!_ptx)"
MEMORY = 8 << 30  # a mutant may fill memory; this much of it, and the machine stays usable
SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ", " || ": " && ",
         " + ": " - ", " - ": " + "}
ASK = '''#pragma clang optimize off
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
/// For test/mutation/mutate.py: with PELLUCID_MUTANTS_REACHED, that a test came to the mutant.
[[maybe_unused]] static void reachMutant(int number) {
  static const char *const reached = std::getenv("PELLUCID_MUTANTS_REACHED");
  static std::atomic<bool> seen[1000];
  if (reached && !seen[number % 1000].exchange(true))
    if (std::FILE *file = std::fopen(reached, "a")) {
      std::fprintf(file, "%d\\n", number);
      std::fclose(file);
    }
}
/// Whether the mutant was chosen.
[[maybe_unused]] static bool isMutant(int number, bool differs = true) {
  static const char *const word = std::getenv("PELLUCID_MUTANT");
  static const int chosen = word ? std::atoi(word) : 0;
  if (differs)
    reachMutant(number);
  return chosen == number;
}
/// A condition, or what the mutant makes of it.
[[maybe_unused]] static bool falseAt(int number, bool truth) { return !isMutant(number, truth) && truth; }
[[maybe_unused]] static bool trueAt(int number, bool truth) { return isMutant(number, !truth) || truth; }
[[maybe_unused]] static bool negatedAt(int number, bool truth) { return isMutant(number) != truth; }
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


def outside_literals(expression):
    spans = [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'', expression)]
    return lambda place: not any(a <= place < b for a, b in spans)


def variants(expression):
    """What an expression could be by mistake, with a word for it."""
    outside = outside_literals(expression)
    for old, new in SWAPS.items():
        for found in re.finditer(re.escape(old), expression):
            if outside(found.start()):
                yield f"'{old.strip()}' is '{new.strip()}'", expression[: found.start()] + new + expression[found.end():]
    for found in re.finditer(r"(?<![\w.\"'<])(\d+)(?![\w.\"'>])", expression):
        if outside(found.start()):
            for moved in (int(found[1]) + 1, int(found[1]) - 1):
                if moved >= 0:
                    yield f"{found[1]} is {moved}", expression[: found.start()] + str(moved) + expression[found.end():]


def conditions(text):
    """(offset, end, whether it is a for's) of the conditions of if, while and for, and of what is kept as a bool."""
    for found in re.finditer(r"\b(?:if|while|for) \(", text):
        end = closing(text, found.end())
        if found[0] == "for (":
            parts = text[found.end() : end].split(";")
            if len(parts) == 3 and parts[1].strip():
                yield found.end() + len(parts[0]) + 2, end - len(parts[2]) - 1, True
        else:
            yield found.end(), end, False
    for found in re.finditer(r"^ +(?:const )?bool \w+ = ([^;{}]+);", text, re.M):
        yield found.start(1), found.end(1), False


def sites(file):
    """(offset, end, wrap, what) of one file; `wrap` makes of a mutant's number and the text so far the text with the mutant."""
    text = (ROOT / file).read_text()
    for begin, end, loops in conditions(text):
        condition = text[begin:end]
        if is_plain(condition) and "constexpr" not in text[begin - 16 : begin]:
            said = " ".join(condition.split())
            # A loop that goes on is noticed by itself: what is asked is whether its rounds are missed.
            for what in ("false",) if loops else ("negated", "false", "true"):
                if what == said:
                    continue
                yield begin, end, lambda number, now, what=what: f"{what}At({number}, bool({now}))", f"condition {what}: {said}"
            for what, mutated in () if loops else variants(condition):
                yield begin, end, lambda number, now, mutated=mutated: f"isMutant({number}) ? bool({mutated}) : bool({now})", f"condition {what}: {said}"
    for found in re.finditer(r"\breturn ([^;{}\"]+);", text):
        value = found[1]
        if not is_plain(value + " ") or value.strip() in ("nullptr", "std::nullopt"):
            continue
        flips = {"true": "false", "false": "true"}
        for what, mutated in [("turned around", flips[value])] if value in flips else variants(value):
            yield found.start(1), found.end(1), lambda number, now, mutated=mutated: f"isMutant({number}) ? ({mutated}) : ({now})", f"result {what}: {' '.join(value.split())}"
    if file.startswith("src/passes/graph/"):
        yield from text_sites(text)


def text_sites(text):
    """Masks, bounds and sums of the kernels that are written as text."""
    for found in re.finditer(r'(?<=[(,+?:])\s*("(?:[^"\\\n]|\\.)*")(?=\s*[),+?:;])', text):
        line = text[text.rfind("\n", 0, found.start(1)) + 1 : found.end(1)]
        if re.search(r"//|\b(refuse|warn|note|Diagnostic|fail\w*|assert)\(", line):
            continue
        literal = found[1]
        for old, new in (SWAPS | {" & ": " | ", " | ": " & "}).items():
            for place in re.finditer(re.escape(old), literal):
                mutated = literal[: place.start()] + new + literal[place.end():]
                yield found.start(1), found.end(1), lambda number, now, mutated=mutated: f"std::string(isMutant({number}) ? {mutated} : {now})", f"text '{old.strip()}' is '{new.strip()}': {literal}"


def listed(heading):
    """What survivors.md lists there: its lines `* FILE: WHAT` with an indented reason."""
    text = (ROOT / "test/mutation/survivors.md").read_text()
    return set(re.findall(r"^\* `(src/.*)`$", text.partition(f"## {heading}")[2].partition("\n## ")[0], re.M))


def draw(options, found):
    """The samples, and what is wanted in addition. Of literals in a text one mutant each: the text is made a string."""
    random.Random(options.seed).shuffle(found)
    equivalent, wanted, texts, chosen, left = listed("Equivalent"), listed("Wanted"), set(), [], rooms(options, found)
    for site in found:
        file, begin, _, _, what, line = site
        asked, room = f"{file}: {what}" in wanted or f"{file}:{line}" in options.at, True if file in options.of else file if options.files else False
        if f"{file}: {what}" in equivalent or (not asked and not left.get(room)) or (what.startswith("text") and (file, begin) in texts):
            continue
        texts.add((file, begin))
        chosen.append((site, not asked))
        if not asked:
            left[room] -= 1
    return chosen


def rooms(options, found):
    """How many mutants are drawn: from the files of --of, from all others. With --files from so many of them, as many from each: a file
    is drawn as often as it has sites (the first that a random order of all sites names), so that every site has the same chance."""
    if not options.files:
        return {True: options.sample, False: options.sample}
    files = list(dict.fromkeys(site[0] for site in found if site[0].startswith(FOLDERS) and site[0] not in options.of))[: options.files]
    return {True: options.sample} | {file: -(-options.sample // len(files)) for file in files}


def write(options):
    """Copies with mutants, and mutants.json; prints the files' names, as CMake's lists are written."""
    wanted = {line.split(": ")[0] for line in listed("Wanted")} | {place.split(":")[0] for place in options.at}
    sampled = {str(p.relative_to(ROOT)) for folder in FOLDERS for p in (ROOT / folder).rglob("*.cpp")}
    files = sorted(sampled | set(options.of) | wanted)
    texts = {file: (ROOT / file).read_text() for file in files}
    found = [(file, *site, texts[file][: site[0]].count("\n") + 1) for file in files for site in sites(file)]
    found = [site for site in found if site[0] in sampled | set(options.of) or f"{site[0]}: {site[4]}" in listed("Wanted") or f"{site[0]}:{site[5]}" in options.at]
    mutants, changes = [], {}
    for number, ((file, begin, end, wrap, what, line), drawn) in enumerate(draw(options, found), 1):
        mutants.append({"number": number, "file": file, "line": line, "what": what, "drawn": drawn})
        changes.setdefault(file, {}).setdefault((begin, end), []).append((number, wrap))
    written = []
    for file, places in sorted(changes.items()):
        text = texts[file]
        for (begin, end), wraps in sorted(places.items(), reverse=True):
            now = text[begin:end]
            for number, wrap in wraps:
                now = wrap(number, now)
            text = text[:begin] + now + text[end:]
        path = options.into / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != ASK + text:  # what stays as it is is not compiled again
            path.write_text(ASK + text)
        written.append(str(path))
    (options.into / "mutants.json").write_text(json.dumps({"seed": options.seed, "sites": len(found), "mutants": mutants}, indent=1))
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
        if words and shutil.which(words[0]) and "/mutants/" in " ".join(words) and all(os.path.exists(word) for word in words if word.startswith(f"{build}/")) and not re.search(LEFT_OUT, test["name"]) \
                and re.search(options.match, test["name"]):
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
            code = process.wait(timeout=300 + 20 * usual)  # a busy machine is no mutant
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        said.seek(max(0, said.tell() - 2000))
        test["said"] = said.read().decode(errors="replace")
    return code == 0 or code == test["skip"], time.monotonic() - begin


class State:
    """What is known so far: the mutants that each test comes to, those that were noticed, the tests that each of the others passed. Kept in a
    file, so that a run goes on where another one, perhaps on another machine, was ended."""

    def __init__(self, options, tests):
        self.options, self.tests, self.end = options, tests, time.monotonic() + options.seconds
        self.lock, self.asking = threading.Lock(), {name: threading.Lock() for name in tests}
        known = json.loads(options.state.read_text()) if options.state and options.state.exists() else {}
        self.reached, self.noticed, self.passed = (known.get(key, {}) for key in ("reached", "noticed", "passed"))

    def late(self):
        return time.monotonic() > self.end

    def note(self, where, key, value):
        with self.lock:
            where[key] = value
            if self.options.state:
                text = json.dumps({"reached": self.reached, "noticed": self.noticed, "passed": self.passed}, indent=1)
                new = self.options.state.with_suffix(".new")
                new.write_text(text)
                new.replace(self.options.state)

    def reaches(self, name):
        """The mutants that a test comes to, which is asked once, without a mutant."""
        with self.asking[name]:
            if name not in self.reached and not self.late():
                with tempfile.NamedTemporaryFile() as log:
                    passed, cost = passes(self.tests[name], {"PELLUCID_MUTANTS_REACHED": log.name}, 3600)
                    reached = sorted({int(line) for line in log.read().split()}) if passed else []
                if not passed:
                    print(f"{name} fails without a mutant and is left out: {self.tests[name]['said'][-500:]}", flush=True)
                self.note(self.reached, name, {"cost": cost, "reaches": reached})
            return self.reached.get(name)


def distance(mutant, test):
    """Tests of the mutant's own folder come first, then the text files of all folders and the operators, then what runs whole programs."""
    own = mutant["file"].split("/")[1]
    folder = test["folder"].rsplit("/test/", 1)[-1].split("/")[0]
    return 0 if folder == own else 1 if folder in ("reference", "fusion", "passes", "trace", "graph") or test["folder"].endswith("/test") else 2


def kill(mutant, state):
    """The test that notices it, or nothing; how many came to it; and whether all tests were asked."""
    number, tests = str(mutant["number"]), state.tests
    if number in state.noticed:
        return mutant, state.noticed[number], 0, True
    count = 0
    usual = lambda name: state.reached[name]["cost"] if name in state.reached else 0
    for name in sorted(tests, key=lambda name: (distance(mutant, tests[name]), usual(name), name)):
        known = state.reaches(name)
        if state.late():
            return mutant, "", count, False
        if mutant["number"] not in known["reaches"]:
            continue
        count += 1
        if name in state.passed.get(number, []):
            continue
        if not passes(dict(tests[name]), {"PELLUCID_MUTANT": number}, known["cost"])[0]:
            state.note(state.noticed, number, name)
            return mutant, name, count, True
        state.note(state.passed, number, state.passed.get(number, []) + [name])
    return mutant, "", count, True


def run(options):
    built, folders = json.loads((options.build / "mutants/built.json").read_text()), {}
    state = State(options, tests_of(options))
    mutants = [mutant for mutant in built["mutants"] if not options.only or mutant["number"] in options.only]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(kill, mutant, state) for mutant in mutants]):
            mutant, by, count, decided = done.result()
            said = "noticed by " + by if by else f"SURVIVES {count} tests" if decided else f"undecided after {count} tests"
            print(f"{mutant['number']:4} {said}  {mutant['file']}:{mutant['line']} {mutant['what']}", flush=True)
            tally = folders.setdefault("/".join(mutant["file"].split("/")[:-1]) if mutant["drawn"] else "in addition", [0, 0, 0])
            tally[0 if by else 1 if decided else 2] += 1
    for folder, (noticed, survived, undecided) in sorted(folders.items()):
        print(f"{folder}: {noticed} noticed, {survived} survived, {undecided} undecided")
    drawn = [tally for folder, tally in folders.items() if folder != "in addition"]
    noticed, survived, undecided = (sum(tally[i] for tally in drawn) for i in range(3))
    print(f"{noticed} of {noticed + survived + undecided} mutants are noticed, {undecided} undecided (seed {built['seed']})")


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("write")
    verb.add_argument("into", type=pathlib.Path)
    verb.add_argument("--sample", type=int, default=60)
    verb.add_argument("--seed", type=int, default=1)
    verb.add_argument("--files", type=int, default=0, help="draw from so many files, drawn by their size: a sample that builds in minutes")
    verb.add_argument("--at", nargs="*", default=[], help="FILE:LINE…, all of whose mutants are made in addition")
    verb.add_argument("--of", nargs="*", default=[], help="FILE…, from which as many are drawn again")
    verb = verbs.add_parser("run")
    verb.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    verb.add_argument("--tests", type=pathlib.Path, help="what ctest --show-only=json-v1 printed, where there is no ctest")
    verb.add_argument("--state", type=pathlib.Path, help="what is known so far: a run begins with it, and keeps it up to date")
    verb.add_argument("--seconds", type=float, default=1e9, help="no further test after these")
    verb.add_argument("--match", default="", help="only tests whose name this pattern finds")
    verb.add_argument("--jobs", type=int, default=os.cpu_count())
    verb.add_argument("--only", type=int, nargs="*")
    options = parser.parse_args()
    {"write": write, "run": run}[options.verb](options)


if __name__ == "__main__":
    main()
