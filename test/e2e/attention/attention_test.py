#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs calls of attention, and compares with float64.

    attention_test.py PROGRAM [TEXT…]            all cases, or those whose call has one of the texts
    attention_test.py PROGRAM --target cuda      on a device
    attention_test.py --torch                    the same of PyTorch: what the cases expect is what it gives

Exit code 77 where numpy is missing.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

TEST = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TEST), str(TEST / "judge"), str(pathlib.Path(__file__).parent)]
from bfloat16 import to_bf16  # noqa: E402
from cases import CASES, arrays_of, body_of, bound_of, expected  # noqa: E402
from judge import problem  # noqa: E402
from levels import runnable, skipped  # noqa: E402

STORED = {"f64": np.float64, "f32": np.float32, "f16": np.float16}


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{command[1]}: exit {done.returncode} " + "\n".join(done.stderr.splitlines()[:4]))
    return done.stdout


def declared(case, dtype):
    """`--input` of every operand."""
    words, seen = [], False
    for name, kind, dims in re.findall(r"(\w+)=([b+]?):?([\w,]+)", case.inputs):
        sizes = []
        for d in dims.split(","):
            sizes.append(f"l={case.lengths[-1]}:0..2000" if d == "l" and not seen else d)
            seen |= d == "l"
        words += ["--input", f"{name}={'bool' if kind == 'b' else dtype}[{','.join(sizes)}]"]
    return words


def check(program, targets, case, dtype, folder):
    (folder / "model.py").write_text(body_of(case))
    package = folder / "p.plc"
    made = ",".join(targets) if targets != ["cuda"] else "cuda:sm_90"
    run(program, "compile", "--verify-each", folder / "model.py:f", "--target", made, "-o", package, *declared(case, dtype))
    for length in case.lengths if "l" in re.split(r"[=,: ]", case.inputs) else (None,):
        arrays = arrays_of(case, dtype, length, seed=CASES.index(case))
        words = []
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array if array.dtype == bool else to_bf16(array.astype(np.float32)) if dtype == "bf16" else array.astype(STORED[dtype]))
            words += ["--input", f"{name}=@{folder / name}.npy" + (":bf16" if dtype == "bf16" and array.dtype != bool else "")]
        want, of_single, of_own, sums = expected(case, arrays)
        for k in range(1 + case.sums):
            words += ["--output", folder / f"out{k}.npy"]
        for target in targets:
            guard = ("--guard", "end") if target.startswith("cpu") else ()
            report = json.loads(run(program, "run", package, "--json", "--target", target, *guard, *words))["outputs"]
            got = np.load(folder / "out0.npy")
            if text := problem(got, want, bound_of(dtype, want, of_single, of_own), dtype, signed_zeros=False):
                return f"length {length} on {target}: {text}"
            if case.sums:
                wide = report[1]["dtype"]
                if text := problem(np.load(folder / "out1.npy"), sums, 1e-5 * (1 + np.abs(sums)), wide, signed_zeros=False):
                    return f"logarithms of sums on {target}: {text}"
    return None


def check_torch(case, dtype):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
    kind = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    for length in case.lengths if "l" in re.split(r"[=,: ]", case.inputs) else (None,):
        arrays = arrays_of(case, dtype, length, seed=CASES.index(case))
        names = {"torch": torch, "F": F}
        for name, array in arrays.items():
            tensor = torch.tensor(array) if array.dtype == bool else torch.tensor(array).to(kind)
            names[name] = tensor.transpose(1, 2) if name in case.turned else tensor
        # Its flash kernels take NaN for nothing to attend to; its reference does not.
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            got = eval(case.text, names)
        want, of_single, of_own, sums = expected(case, arrays)
        got = got if isinstance(got, tuple) else (got,)
        # It rounds more often than once.
        bound = 8 * bound_of(dtype, want, of_single, 4 * of_own)
        if text := problem(got[0].double().numpy(), want, bound, "f64", signed_zeros=False):
            return f"length {length}: {text}"
        if case.sums and (text := problem(got[1].double().numpy(), sums, 1e-1 * (1 + np.abs(sums)), "f64", signed_zeros=False)):
            return f"logarithms of sums: {text}"
    return None


def main():
    program, words = sys.argv[1], sys.argv[2:]
    targets = runnable()
    if words[:1] == ["--target"]:
        targets, words = [words[1]], words[2:]
    if program == "--torch":
        try:
            import torch  # noqa: F401
        except ImportError:
            print("skipped: this Python has no torch")
            return 77
    jobs = [(case, dtype) for case in CASES if not words or any(w in case.text + " " + case.inputs for w in words) for dtype in case.dtypes]

    def one(job):
        if program == "--torch":
            return check_torch(*job)
        with tempfile.TemporaryDirectory() as folder:
            try:
                return check(program, targets, *job, pathlib.Path(folder))
            except AssertionError as error:
                return str(error)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(1 if program == "--torch" else min(16, os.cpu_count() or 1)) as pool:
        for (case, dtype), text in zip(jobs, pool.map(one, jobs)):
            if text:
                failed += 1
                print(f"FAILED {dtype} {case.text}   with {case.inputs}\n    {text}", flush=True)
    print(f"{len(jobs) - failed} of {len(jobs)} calls are right" + ("" if program == "--torch" else f" on {' and '.join(targets)}{skipped(len(jobs)) if targets != ['cuda'] else ''}"))
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
