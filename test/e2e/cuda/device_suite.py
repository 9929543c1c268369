#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every model and every launch case of the CPU's suites on a CUDA device.

    device_suite.py PROGRAM [--out FILE.json] [NAME…]

Models are compiled for the CPU and the device into one package; its two results are compared with each other and with
numpy in float64. Kernels that the CUDA code generator refuses are counted, with its reasons. Without a device the models
are compiled, and the exit code is 77; so it is where numpy is missing.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

E2E = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(E2E), str(E2E / "models")]

import launch_test  # noqa: E402
from launch_case import ENGINES  # noqa: E402
from check_models import Failure, arguments, compare  # noqa: E402
from model_cases import CASES  # noqa: E402

# All that may be refused on a device, by name, and the sentence; any other refusal is a failure, and so is one that is gone.
REFUSALS = {("launch", "table of addresses"): "a table of addresses is not copied to a device"}
# Quotients and exponentials of f32 have 2 and 3 ulp on the device.
SLACK = 4


class Refused(Exception):
    pass


def call(program, *words):
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, timeout=900)
    if done.returncode == 0:
        return done.stdout
    first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip())
    if done.returncode == 1 and any(sentence in first for sentence in REFUSALS.values()):
        raise Refused(first)
    raise Failure(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr.strip()[:600]}")


def compile_model(program, case, folder, targets, rng):
    weights = {k: make(rng) for k, make in case.weights.items()}
    file = folder / "weights.npz" if weights else None
    if weights:
        np.savez(file, **weights)
    package = folder / "model.plc"
    made = {"cpu": package, "cuda": package}
    try:
        call(program, "compile", *arguments(case, file), "--no-tf32", "-o", package, "--target", targets)
    except Failure as failure:
        # An operator of the model has kernels of its own for a device.
        if "compile a package for each" not in str(failure):
            raise
        for target in targets.split(","):
            made[target.split(":")[0]] = folder / f"{target.split(':')[0]}.plc"
            call(program, "compile", *arguments(case, file), "--no-tf32", "-o", made[target.split(":")[0]], "--target", target)
    return made, weights


def run_model(program, case, packages, weights, batch, rng, folder):
    values = {k: make(rng, batch) for k, make in case.values.items()}
    words = []
    for name, value in values.items():
        np.save(folder / f"{name}.npy", value)
        words += ["--input", f"{name}=@{folder / name}.npy"]
    wide = {k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in {**values, **weights}.items()}
    expected = case.reference(**{k: wide[k] for k in values}, w=wide)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for target in ("cpu", "cuda"):
        outputs = [w for i in range(len(expected)) for w in ("--output", folder / f"{target}{i}.npy")]
        call(program, "run", packages[target], *words, "--target", target, *outputs)
    worst = 0.0
    for i, want in enumerate(expected):
        cpu, cuda = (np.load(folder / f"{target}{i}.npy") for target in ("cpu", "cuda"))
        compare(f"batch {batch} output {i} against numpy", cuda, want, SLACK * case.tolerance)
        worst = max(worst, compare(f"batch {batch} output {i} against the CPU", cuda, cpu, SLACK * case.tolerance))
    return worst


def check_model(program, case, targets, on_device):
    rng = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packages, weights = compile_model(program, case, folder, targets, rng)
        batches = case.batches if on_device else ()
        return max((run_model(program, case, packages, weights, batch, rng, folder) for batch in batches), default=0.0)


def check_launch(program, case):
    case.tolerance *= SLACK
    problem = launch_test.run(program, case, ["--target", "cuda"])
    # The driver prints a failed assertion, with its file and line, and the launch ends with an error.
    if case.refusal and "Assertion" in problem and case.refusal.split(".*")[-1].split(": ")[-1] in problem:
        return 0.0
    if any(sentence in problem for sentence in REFUSALS.values()):
        raise Refused(problem.split("error: ", 1)[-1].split("\n")[0])
    if problem:
        raise Failure(problem)
    return 0.0


def outcome(job, on_device):
    kind, name, run = job
    allowed = REFUSALS.get((kind, name))
    try:
        result = run()
        return (kind, name, "failed", "is on the list of refusals and passes", 0.0) if allowed and on_device else (kind, name, "passed", "", result)
    except Refused as refusal:
        return kind, name, "refused" if allowed and allowed in str(refusal) else "failed", str(refusal), 0.0
    except (Failure, subprocess.TimeoutExpired) as failure:
        return kind, name, "failed", str(failure), 0.0


def jobs_for(program, sm, wanted):
    targets = f"cpu:x86-64-v3,cuda:sm_{sm}" if sm else "cuda:sm_80,cuda:sm_90"
    for case in CASES:
        yield "model", case.label, lambda case=case: check_model(program, case, targets, sm is not None)
    for case in launch_test.cases() if sm else ():
        if case.engines is ENGINES:
            yield "launch", case.name, lambda case=case: check_launch(program, case)


def reason_of(text):
    """The construct of a refusal, without place and numbers."""
    return re.sub(r"\d+", "N", re.sub(r"^.*?error: ", "", text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    cuda = json.loads(call(options.program, "doctor", "--json"))["cuda"]
    device = cuda["devices"][0] if cuda["available"] and cuda["devices"] else None
    sm = None if not device else 90 if device["sm"] >= 90 else 80
    jobs = [j for j in jobs_for(options.program, sm, options.names) if not options.names or any(w in j[1] for w in options.names)]
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda job: outcome(job, device is not None), jobs))
    counts = collections.defaultdict(collections.Counter)
    refusals = collections.Counter()
    for kind, name, state, text, _ in results:
        counts[kind][state] += 1
        if state == "failed":
            print(f"FAILED {kind} {name}: {text}")
        elif state == "refused":
            refusals[reason_of(text)] += 1
            print(f"refused {kind} {name}: {text}")
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": device and device["name"],
        "target": f"cuda:sm_{sm}" if sm else None,
        "counts": counts,
        "refusals": refusals,
        "largest_difference_from_the_cpu": {name: worst for kind, name, state, _, worst in results if kind == "model" and state == "passed"},
    }
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    print("; ".join(f"{kind}s: " + ", ".join(f"{n} {state}" for state, n in sorted(c.items())) for kind, c in counts.items()))
    if any(c["failed"] for c in counts.values()):
        return 1
    if not device:
        print(f"skipped: compiled for cuda:sm_80 and cuda:sm_90, not run: {cuda.get('reason', 'no device')}")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
