#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the kernels of whole checkouts with `pellucid kernels FILE --path ROOT --json`, untouched, and counts.

    python3 bench/repositories.py --pellucid build/release/bin/pellucid DIR... [--json LISTING.json] [--summary RESULT.json]
    python3 bench/repositories.py --from LISTING.json... [--summary RESULT.json]     # counts again what was listed

Prints one row per checkout (jit functions in the text, listed, accepted, accepted unchecked, files that took long),
then the reasons of refusals, most frequent first. A jit function is a `def` below a decorator `jit`, or an alias that the file gives it.
"""
import argparse
import ast
import collections
import concurrent.futures
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg")
SOURCES = ("src", "python", "torch-ext")


def package_root(path, checkout):
    """The folder that the project's own absolute imports start from."""
    folder = os.path.dirname(path)
    while os.path.exists(os.path.join(folder, "__init__.py")) and folder != checkout:
        folder = os.path.dirname(folder)
    while folder != checkout:
        parent = os.path.dirname(folder)
        if os.path.basename(folder) in SOURCES or any(os.path.exists(os.path.join(folder, m)) for m in MARKERS):
            return folder
        folder = parent
    for source in SOURCES:
        if os.path.isdir(os.path.join(checkout, source)):
            return os.path.join(checkout, source)
    return checkout


def jit_functions(text):
    """The names of the jit functions in a file's text, or None where it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    aliases = {"jit"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "triton":
            aliases |= {a.asname for a in node.names if a.name == "jit" and a.asname}

    def is_jit(decorator):
        if isinstance(decorator, ast.Call):
            decorator = decorator.func
        if isinstance(decorator, ast.Attribute):
            return decorator.attr == "jit" and isinstance(decorator.value, ast.Name) and "triton" in decorator.value.id
        return isinstance(decorator, ast.Name) and decorator.id in aliases and "triton" in text

    return [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and any(map(is_jit, n.decorator_list))]


def files_of(checkout):
    for folder, _, names in os.walk(checkout):
        if "/.git" in folder:
            continue
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.endswith(".py") or os.path.islink(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            functions = jit_functions(text) if "jit" in text else []
            if functions:
                yield path, functions


def cpu_seconds(process):
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def read(job):
    path, functions, root, arguments = job
    command = [arguments.pellucid, "kernels", path, "--path", root, "--json"]
    out_path = os.path.join(arguments.scratch, f"{os.getpid()}-{abs(hash(path))}")
    with open(out_path + ".out", "w+b") as out, open(out_path + ".err", "w+b") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=lambda: limit(arguments.timeout))
        seconds = cpu_seconds(process)
        out.seek(0), err.seek(0)
        text, errors = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    os.remove(out_path + ".out"), os.remove(out_path + ".err")
    result = {"path": path, "functions": functions, "seconds": round(seconds, 2), "code": process.returncode}
    try:
        listed = json.loads(text)
    except ValueError:
        listed = {"kernels": []}
    result["kernels"] = [{k: e.get(k) for k in ("name", "line", "status", "reason", "helper", "needs", "stopped_at")} for e in listed["kernels"]]
    result["errors"] = errors
    if process.returncode not in (0, 1):
        timed_out = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        result["crash"] = "more than the time limit" if timed_out else errors.strip()[-300:] or f"exit {process.returncode}"
    return result


def reason_class(reason):
    """The reason without the names, numbers and types in it."""
    text = re.sub(r"'[^']*'", "'…'", reason)
    text = re.sub(r"\b\d+\b", "N", text)
    return text[:110]


# Three kinds of refusals; what is neither of the first two is "ours". For what the file itself lacks, or what Triton refuses too: names that a test puts into the text, libraries that are not
# beside it, kernels that only a call makes, globals that are no constexprs.
LACKING = re.compile(r"' is not defined|of a library that is not here|is a global of the module and not a constexpr|' is made when '|nothing of '[^']*' is supported|could not be evaluated"
                     r"|no 'tl\.[A-Z_]+'|^expects|^(Type|Attribute|Assertion|Name|Value|Index|Key|Runtime|Compilation)\w*Error")
# … and for another compiler than Triton's: functions written against its internals, of a vendor's language, or gone since Triton 3.3.
OTHER_COMPILER = re.compile(r"is written against Triton's own compiler|no 'tl\.extra\.(?!cuda|libdevice)|'with' is not part|_experimental_descriptor|inherits from '")


def reason_kind(reason):
    return "lacking" if LACKING.search(reason) else "other_compiler" if OTHER_COMPILER.search(reason) else "ours"


def row_of(results):
    functions = sum(len(r["functions"]) for r in results)
    listed = found = accepted = needs = 0
    for r in results:
        names = collections.Counter(r["functions"])
        got = collections.Counter()
        for kernel in r["kernels"]:
            got[kernel["name"].split(".")[-1]] += 1
        found += sum(min(names[n], max(got[n], 0)) for n in names)
        listed += len(r["kernels"])
        accepted += sum(k["status"] == "ok" for k in r["kernels"])
        needs += sum(bool(k["stopped_at"]) for k in r["kernels"])
    return functions, found, listed, accepted, needs


def report(checkout_results, slow_after):
    head = f"{'checkout':32s} {'files':>5s} {'jit':>5s} {'found':>5s} {'listed':>6s} {'ok':>5s} {'needs':>5s} {'slow':>4s} {'crash':>5s} {'cpu s':>7s}"
    print(head)
    everything = []
    for checkout, results in checkout_results.items():
        everything += results
        print_row(checkout, results, slow_after)
    if len(checkout_results) > 1:
        print_row("all", everything, slow_after)
    classes, unchecked = collections.defaultdict(list), collections.defaultdict(list)
    for r in everything:
        for kernel in r["kernels"]:
            if kernel["stopped_at"]:
                unchecked[reason_class(kernel["stopped_at"].split(": ", 1)[1])].append((r["path"], kernel))
            if kernel["status"] != "ok":
                classes[reason_class(kernel["reason"])].append((r["path"], kernel))
    print("\nrefused")
    for name, entries in sorted(classes.items(), key=lambda item: -len(item[1])):
        path, kernel = entries[0]
        print(f"{len(entries):5d}  {name}\n         {path}:{kernel['line']} {kernel['name']}: {kernel['reason'][:160]}")
    print("\nok, and unchecked: no arguments were guessed that compile")
    for name, entries in sorted(unchecked.items(), key=lambda item: -len(item[1])):
        path, kernel = entries[0]
        print(f"{len(entries):5d}  {name}\n         {path}:{kernel['line']} {kernel['name']}")
    for r in everything:
        if r["seconds"] > slow_after or "crash" in r:
            print(f"slow or crashed: {r['path']} {r['seconds']} s, {len(r['functions'])} functions {r.get('crash', '')}")
    for r in everything:
        if not r["kernels"]:
            first = next((l for l in r["errors"].splitlines() if "error" in l), "")
            print(f"nothing listed: {r['path']} ({len(r['functions'])}): {first[:200]}")


def print_row(name, results, slow_after):
    functions, found, listed, accepted, needs = row_of(results)
    slow = sum(r["seconds"] > slow_after for r in results)
    crashed = sum("crash" in r for r in results)
    seconds = sum(r["seconds"] for r in results)
    print(f"{os.path.basename(name):32s} {len(results):5d} {functions:5d} {found:5d} {listed:6d} {accepted:5d} {needs:5d} {slow:4d} {crashed:5d} {seconds:7.1f}")


def version_of(checkout):
    """The commit of a checkout, or what a file `VERSION.txt` that was put into it says."""
    noted = os.path.join(checkout, "VERSION.txt")
    if os.path.exists(noted):
        with open(noted, encoding="utf-8") as file:
            return file.read().strip()
    done = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def summary(by_checkout, arguments):
    """What is kept of a run: counts, versions and reasons; nothing of the files."""
    rows, classes = [], collections.Counter()
    for checkout, results in by_checkout.items():
        functions, found, listed, accepted, needs = row_of(results)
        rows.append({"repository": os.path.basename(checkout).replace("+", "/"), "version": version_of(checkout), "files": len(results), "jit_functions": functions, "found": found, "listed": listed,
                     "accepted": accepted, "accepted_unchecked": needs, "slow_files": sum(r["seconds"] > arguments.slow for r in results), "crashes": sum("crash" in r for r in results),
                     "slowest_file_s": max((r["seconds"] for r in results), default=0), "cpu_s": round(sum(r["seconds"] for r in results), 1)})
        refused = [k["reason"] for r in results for k in r["kernels"] if k["status"] != "ok"]
        rows[-1]["refused"] = collections.Counter(map(reason_kind, refused))
        classes.update(map(reason_class, refused))
    total = {key: sum(row[key] for row in rows) for key in ("files", "jit_functions", "found", "listed", "accepted", "accepted_unchecked", "slow_files", "crashes", "cpu_s")}
    total["refused"] = sum((row["refused"] for row in rows), collections.Counter())
    total["cpu_s"] = round(total["cpu_s"], 1)
    return {"date": time.strftime("%Y-%m-%d"), "command": "bench/repositories.py DIR... --summary FILE", "pellucid": arguments.commit, "all": total, "repositories": rows,
            "refused": dict(classes.most_common())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", metavar="DIR")
    parser.add_argument("--from", dest="listings", nargs="+", metavar="FILE", help="what --json wrote before")
    parser.add_argument("--summary", metavar="FILE", help="writes counts, versions and reasons")
    parser.add_argument("--commit", default="unknown", help="Pellucid's own commit, for the summary")
    parser.add_argument("--pellucid", default="build/release/bin/pellucid")
    parser.add_argument("--json", metavar="FILE", help="writes every file's listing")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=60, help="CPU seconds a file")
    parser.add_argument("--slow", type=float, default=20, help="CPU seconds from which a file is named as slow")
    parser.add_argument("--only", help="files whose path has this in it")
    arguments = parser.parse_args()
    arguments.scratch = os.environ.get("TMPDIR", "/tmp")
    begin = time.time()
    jobs, of = [], []
    for checkout in arguments.checkouts:
        checkout = os.path.abspath(checkout)
        for path, functions in files_of(checkout):
            if not arguments.only or arguments.only in path:
                jobs.append((path, functions, package_root(path, checkout), arguments))
                of.append(checkout)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(read, jobs))
    by_checkout = {}
    for listing in arguments.listings or []:
        with open(listing, encoding="utf-8") as file:
            by_checkout.update(json.load(file))
    for checkout, result in zip(of, results):
        by_checkout.setdefault(checkout, []).append(result)
    results = [r for some in by_checkout.values() for r in some]
    report(by_checkout, arguments.slow)
    print(f"\n{time.time() - begin:.0f} s with {arguments.jobs} jobs")
    if arguments.summary:
        with open(arguments.summary, "w", encoding="utf-8") as file:
            json.dump(summary(by_checkout, arguments), file, indent=1)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(by_checkout, file, indent=1)
    return 1 if any("crash" in r for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
