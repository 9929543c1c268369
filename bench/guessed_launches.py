#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches the kernels of whole checkouts, untouched, with guessed arguments: Pellucid's CPU code against Triton's own interpreter.

    python3 bench/guessed_launches.py --pellucid build/release/bin/pellucid --triton PYTHON [--triton PYTHON2] DIR... [--json RESULT.json]

`kernels` says what each parameter is. Tensors are filled with random numbers, sizes are odd, and those launches whose accesses
`launch --sanitize` finds inside of their tensors are run with one thread for both ISA levels and by the interpreter of the Triton that PYTHON has
(with PyTorch, without a device; what it cannot run, PYTHON2's is asked for: releases differ in what they have). A launch that takes the interpreter
too long is drawn again with one program and small sizes. Every tensor of the launch is compared. With --device both sides run on one, where Triton compiles; files that ask
for it while they are read have an oracle there. What a project imports and is not installed is a stub there.
"""
import argparse
import ast
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import select
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np

from repositories import files_of, package_root

ELEMENTS = 1 << 16
TYPES = {"fp16": "float16", "bf16": "int16", "fp32": "float32", "fp64": "float64", "int8": "int8", "i8": "int8", "u8": "uint8", "uint8": "uint8",
         "i16": "int16", "int16": "int16", "u16": "uint16", "uint16": "uint16", "i32": "int32", "int32": "int32", "u32": "uint32", "uint32": "uint32",
         "i64": "int64", "int64": "int64", "u64": "uint64", "uint64": "uint64", "i1": "bool", "int1": "bool", "bool": "bool"}
LEVELS = ["cpu:x86-64-v3"] + ["cpu:x86-64-v4"] * ("avx512bw" in pathlib.Path("/proc/cpuinfo").read_text())  # that this machine runs
IMPORTS = 180  # seconds for a file and all that it imports
TAKES_LONG = "the interpreter takes too long"
FOREIGN = "is assembly for another processor"
UNDEFINED = "lanes that a masked load without 'other' leaves undefined"
BOUNDS = {"fp16": 4e-3, "bf16": 2e-2, "fp32": 2e-4, "fp64": 1e-9}
FRACTIONS = ("eps", "scale", "alpha", "beta", "gamma", "lr", "momentum", "slope", "prob", "temperature", "softcap", "theta", "factor", "weight")


def tensor_of(dtype, generator):
    if dtype == "bf16":
        bits = generator.standard_normal(ELEMENTS, dtype=np.float32).view(np.uint32)
        return (bits >> 16).astype(np.uint16).view(np.int16)
    kind = np.dtype(TYPES[dtype])
    if kind.kind == "f":
        return generator.standard_normal(ELEMENTS).astype(kind)
    return generator.integers(0, 2 if kind == bool else 5, ELEMENTS).astype(kind)


def strides_of(kernel):
    """Strides that keep rows apart, by the parameters' names: those of one tensor have one prefix, the innermost comes last."""
    groups = collections.defaultdict(list)
    for p in kernel["parameters"]:
        if p["kind"] == "scalar" and "stride" in p["name"].lower():
            groups[p["name"].rsplit("_", 1)[0]].append(p["name"])
    return {name: 512 if len(names) == 1 else (1, 64, 1024, 4096)[min(place, 3)] for names in groups.values() for place, name in enumerate(reversed(names))}


def scalar_of(name, guess, choice, small=False):
    """A size or a stride by its name; every attempt takes others."""
    low = name.lower()
    if guess.startswith(("fp", "bf")) or any(word in low for word in FRACTIONS):
        return choice.choice([0.5, 0.125, 1.5]) if guess.startswith(("fp", "bf")) else choice.choice([1, 2])
    if guess in ("i1", "int1", "bool"):
        return choice.random() < 0.5
    if "stride" in low:
        return choice.choice([64, 128, 256, 1024, 37, 1])
    return choice.choice([1, 2, 3, 5] if small else [1, 3, 7, 17, 33, 37, 64])


class Launch:
    """One set of arguments for one kernel."""

    def __init__(self, kernel, attempt, small=False):
        seed = zlib.crc32(f"{kernel['name']} {attempt}".encode())
        choice, generator = random.Random(seed), np.random.default_rng(seed)
        self.grid = (1,) if small else choice.choice([(1,), (2,), (3,), (2, 2), (2, 3, 2)])
        self.tensors, self.types, self.values = {}, {}, {}
        strides = strides_of(kernel) if attempt % 2 == 0 else {}
        for p in kernel["parameters"]:
            name, guess = p["name"], p["guess"]
            if p["kind"] == "pointer":
                if guess not in TYPES:
                    raise ValueError(f"pointer to {guess}")
                self.tensors[name], self.types[name] = tensor_of(guess, generator), guess
            elif p["kind"] == "none":
                self.values[name] = None
            elif p["kind"] == "constexpr":
                self.values[name] = self.constant(guess, choice, attempt)
            elif p["kind"] == "scalar":
                self.values[name] = strides.get(name, scalar_of(name, guess, choice, small))
            else:
                raise ValueError(f"{p['kind']} {guess}")

    @staticmethod
    def constant(guess, choice, attempt):
        try:
            value = ast.literal_eval(guess)
        except (ValueError, SyntaxError):
            if guess in TYPES or guess.startswith("fp8"):
                return {"dtype": guess}
            raise ValueError(f"constant {guess}") from None
        if isinstance(value, bool) and attempt:
            return choice.random() < 0.5
        return value

    def words(self, folder):
        out = ["--grid", ",".join(map(str, self.grid))]
        for name in self.tensors:
            out += ["--arg", f"{name}=@{folder / name}.npy" + (":bf16" if self.types[name] == "bf16" else "")]
        for name, value in self.values.items():
            if isinstance(value, dict):
                text = "tl." + {"fp": "float", "bf": "bfloat", "in": "int", "ui": "uint"}.get(value["dtype"][:2], "") + value["dtype"].lstrip("fpbinut")
            elif isinstance(value, str):
                text = json.dumps(value)
            else:
                text = {None: "none", True: "true", False: "false"}.get(value, repr(value)) if value is None or isinstance(value, bool) else repr(value)
            out += ["--arg", f"{name}={text}"]
        return out


def difference(dtype, got, want):
    """The worst of an output relative to its magnitude; inf where NaNs, infinities or shapes differ."""
    if got.shape != want.shape:
        return float("inf")
    if dtype == "bf16":
        got, want = ((a.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for a in (got, want))
    if got.dtype.kind != "f":
        return float((got != want).sum())
    a, b = got.astype(np.float64), want.astype(np.float64)
    if (np.isnan(a) != np.isnan(b)).any() or (a[np.isinf(a) | np.isinf(b)] != b[np.isinf(a) | np.isinf(b)]).any():
        return float("inf")
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        return 0.0
    a, b = a[finite], b[finite]
    largest = max(1e-30, float(np.abs(b).max()))  # whose square may be infinite, beside which nothing is far
    changed = max(1e-30, largest * float(np.sqrt(np.mean((b / largest) ** 2))))
    return float((np.abs(a - b) / (np.abs(b) + changed)).max())


def run_pellucid(arguments, path, root, kernel, launch, folder, extra):
    words = [arguments.pellucid, "launch", f"{path}:{kernel['name']}", "--path", root, "--threads", "1", *extra, *launch.words(folder)]
    outs = {}
    for p in kernel["parameters"]:
        if p["name"] in launch.tensors and "--sanitize" not in extra:
            outs[p["name"]] = folder / f"{p['name']}.out.npy"
            words += ["--out", f"{p['name']}={outs[p['name']]}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=arguments.timeout)
    # Both sides read 0 in lanes that a masked load leaves undefined: what depends on them is compared all the same.
    if done.returncode and UNDEFINED not in done.stderr:
        lines = done.stderr.strip().split("\n")
        raise RuntimeError(next((line for line in lines if " error: " in line), lines[0])[:300] or f"exit {done.returncode}")
    return {n: np.load(f) for n, f in outs.items()}


def prepared(arguments, path, root, kernel, folder, small=False):
    """The first attempt that stays inside its tensors, or why there is none."""
    reason = ""
    for attempt in range(arguments.attempts):
        try:
            launch = Launch(kernel, attempt, small)
            for name, array in launch.tensors.items():
                np.save(folder / f"{name}.npy", array)
            run_pellucid(arguments, path, root, kernel, launch, folder, ["--sanitize"])
            return launch, ""
        except (ValueError, RuntimeError, subprocess.TimeoutExpired) as error:
            reason = str(error)[:300]
    return None, reason


def one_kernel(arguments, path, root, kernel, oracles):
    row = {"path": path, "kernel": kernel["name"], "line": kernel["line"]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for small in (False, True):
            launch, reason = prepared(arguments, path, root, kernel, folder, small)
            if not launch:
                return {**row, "status": "no launch", "reason": reason}
            want = asked(oracles, kernel["name"], launch, folder)
            if not isinstance(want, str) or TAKES_LONG not in want:
                break
        row["grid"], row["values"], row["types"] = launch.grid, launch.values, launch.types
        if isinstance(want, str):
            return {**row, "status": "no oracle", "reason": want}
        if all(np.array_equal(want[n], launch.tensors[n], equal_nan=want[n].dtype.kind == "f") for n in want):
            row["writes"] = False
        row["worst"], row["status"] = {}, "agrees"
        for level in ("cuda",) if arguments.device else LEVELS:
            try:
                got = run_pellucid(arguments, path, root, kernel, launch, folder, ["--target", level])
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                return {**row, "status": "no launch" if FOREIGN in str(error) else "refused", "reason": str(error)[:300]}
            for n, array in got.items():
                worst = difference(launch.types[n], array, want[n])
                row["worst"][n] = max(worst, row["worst"].get(n, 0))
                if not worst <= BOUNDS.get(launch.types[n], 0):
                    row["status"], row["reason"] = "differs", f"{n} by {worst:.3g} on {level}"
        return row


def asked(oracles, name, launch, folder):
    """What the first interpreter that runs the launch leaves in its tensors, or why none does."""
    reasons = []
    for oracle in oracles:
        want = oracle.run(name, launch, folder)
        if not isinstance(want, str):
            return want
        reasons.append(want)
    return "; ".join(reasons)


class Oracle:
    """Processes with Triton's interpreter that hold one file's kernels; a launch that takes too long ends one."""

    def __init__(self, arguments, triton, path, root):
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        if not arguments.device:
            self.environment |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
        self.timeout, self.process = arguments.timeout, None
        self.command = [triton, str(pathlib.Path(__file__).resolve().parent / "triton_interpreter.py"), path, root, str(arguments.timeout)]

    def answer(self, seconds):
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            self.process.kill()
            self.process.wait()
            return TAKES_LONG
        return self.process.stdout.readline().strip() or "the interpreter's process ended"

    def run(self, name, launch, folder):
        if not self.process or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.environment)
            self.answer(IMPORTS)  # whether the file could be imported each launch says
        job = {"name": name, "grid": launch.grid, "folder": str(folder), "types": launch.types, "values": launch.values}
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            answer = self.answer(self.timeout + 5)
        except BrokenPipeError:
            answer = "the interpreter's process ended"
        return answer if answer != "ok" else {n: np.load(folder / f"{n}.want.npy") for n in launch.tensors}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def one_file(job):
    arguments, path, root = job
    if time.monotonic() > arguments.until:
        return []
    done = subprocess.run([arguments.pellucid, "kernels", path, "--path", root, "--json"], capture_output=True, text=True)
    try:
        kernels = json.loads(done.stdout)["kernels"]
    except ValueError:
        return []
    kernels = [k for k in kernels if k["status"] == "ok" and not k["helper"] and not k["stopped_at"] and k["parameters"] and "." not in k["name"]]
    if not kernels:
        return []
    oracles = [Oracle(arguments, triton, path, root) for triton in arguments.triton or [sys.executable]]
    rows = [one_kernel(arguments, path, root, kernel, oracles) for kernel in kernels]
    for oracle in oracles:
        oracle.close()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", metavar="DIR")
    parser.add_argument("--pellucid", default="build/release/bin/pellucid")
    parser.add_argument("--triton", action="append", metavar="PYTHON", help="a Python with Triton and PyTorch; given again, one to ask when the first has no answer")
    parser.add_argument("--device", action="store_true", help="both sides on this machine's device, Triton compiling")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--attempts", type=int, default=6, help="sets of arguments that are tried for a kernel")
    parser.add_argument("--timeout", type=int, default=60, help="seconds a launch, and its interpretation")
    parser.add_argument("--only", help="files whose path has this in it")
    parser.add_argument("--sample", type=int, help="so many files of all, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no file is begun after so long")
    arguments = parser.parse_args()
    arguments.pellucid = os.path.abspath(arguments.pellucid)
    jobs = []
    for checkout in map(os.path.abspath, arguments.checkouts):
        jobs += [(arguments, path, package_root(path, checkout)) for path, _ in files_of(checkout) if not arguments.only or arguments.only in path]
    if arguments.sample is not None and arguments.sample < len(jobs):
        jobs = random.Random(arguments.seed).sample(jobs, arguments.sample)
    arguments.until = time.monotonic() + arguments.seconds
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows = []
        for some in pool.map(one_file, jobs):
            rows += some
            for row in some:
                if row["status"] in ("differs", "refused"):
                    print(f"{row['status']}: {row['path']}:{row['line']} {row['kernel']}: {row['reason']}", flush=True)
            if arguments.json:
                with open(arguments.json, "w", encoding="utf-8") as file:
                    json.dump(rows, file, indent=1)
    counts = collections.Counter(r["status"] for r in rows)
    print(dict(counts), f"{sum(r.get('writes') is False for r in rows)} of them write nothing")
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
