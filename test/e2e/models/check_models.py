#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports, compiles and runs models as PyTorch's users write them, and compares with numpy in float64.

    check_models.py PROGRAM [--cases MODULE] [NAME…]

Every case goes through export (strict and non-strict), the saved program, compile and run, for each of its batch sizes.
Exit code 77 where numpy is missing.
"""
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "judge")]
from judge import judge, name_of  # noqa: E402
from levels import LEVELS, runnable, skipped  # noqa: E402


class Failure(Exception):
    pass


def call(program, *words):
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr.strip()[:600]}")
    return done.stdout


def compare(name, got, want, tolerance):
    """Floats may be off by `tolerance`, relative where it is above 1, and are f32 unless `want` is narrower; all else is exact."""
    want = np.asarray(want)
    floating = want.dtype.kind == "f"
    with np.errstate(invalid="ignore"):
        bound = tolerance * np.maximum(1.0, np.abs(want.astype(np.float64))) if floating else 0.0
    dtype = name_of(want) if not floating else "f32" if want.dtype == np.float64 else name_of(want)
    verdict = judge(got, want, bound, dtype, signed_zeros=False)
    if verdict.problem:
        raise Failure(f"{name}: {verdict.problem}")
    return verdict.largest


def arguments(case, weights):
    words = [f"{HERE / 'cases' / case.file}:{case.name}"]
    if case.init:
        words += ["--init", case.init]
    if case.root:
        words += ["--path", str(HERE / "cases")]
    for name, spec in case.inputs.items():
        words += ["--input", f"{name}={spec}"]
    if weights:
        words += ["--weights", str(weights)]
    return words


def check_program(program, case, mode, weights, folder):
    """Exports, saves, reloads; gives the package that the saved program compiles to."""
    base = arguments(case, weights)
    saved, again = folder / f"{mode}.program", folder / f"{mode}.again"
    table = json.loads(call(program, "export", *base, f"--{mode}", "-o", saved, "--json"))
    for target, count in case.nodes.items():
        found = sum(node["target"].endswith(target) for node in table["nodes"])
        if found != count:
            raise Failure(f"{found} nodes of target {target}, expected {count}")
    call(program, "export", saved, "-o", again)
    if saved.read_bytes() != again.read_bytes():
        raise Failure("the program that was read and written again has other bytes")
    package = folder / f"{mode}.plc"
    call(program, "compile", saved, "--verify-each", "-o", package, "--target", ",".join(LEVELS))
    return package


def check_numbers(program, case, package, values, weights, folder):
    words, worst = [], 0.0
    for name, value in values.items():
        np.save(folder / f"{name}.npy", value)
        words += ["--input", f"{name}=@{folder / name}.npy"]
    wide = {k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in {**values, **weights}.items()}
    expected = case.reference(**{k: wide[k] for k in values}, w=wide)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for i in range(len(expected)):
        words += ["--output", str(folder / f"out{i}.npy")]
    for level in runnable():
        call(program, "run", package, *words, "--target", level, "--guard", "end")
        for i, want in enumerate(expected):
            worst = max(worst, compare(f"output {i} on {level}", np.load(folder / f"out{i}.npy"), want, case.tolerance))
    return worst


def check(program, case):
    rng = np.random.default_rng(7)
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        weights = {k: make(rng) for k, make in case.weights.items()}
        file = folder / "weights.npz" if weights else None
        if weights:
            np.savez(file, **weights)
        for mode in case.modes:
            package = check_program(program, case, mode, file, folder)
            for batch in case.batches:
                values = {k: make(rng, batch) for k, make in case.values.items()}
                worst = max(worst, check_numbers(program, case, package, values, weights, folder))
    return worst


def check_branches(program):
    """Non-strict follows the example and refuses sizes that branch otherwise; strict refuses the line."""
    file = HERE / "cases" / "branches.py"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for example, taken, refused, rule in ((4, (1, 10), (11, 100), "must be in 1..10"), (40, (11, 100), (1, 10), "must be in 11..100")):
            words = [f"{file}:small_or_large", "--input", f"x=f32[batch={example}:1..100,3]"]
            call(program, "compile", *words, "-o", folder / "b.plc", "--target", "cpu:x86-64-v3")
            for batch in (*taken, *refused):
                x = np.full((batch, 3), batch, np.float32)
                np.save(folder / "x.npy", x)
                run = ("run", folder / "b.plc", "--input", f"x=@{folder}/x.npy", "--output", folder / "y.npy")
                if batch in refused:
                    refuses(program, run, "'x'", rule)
                    continue
                call(program, *run)
                compare("small_or_large", np.load(folder / "y.npy"), x * 2 if batch > 10 else x + 1, 0)
            refuses(program, ("export", *words, "--strict"), "branches.py:6:8: error:", "1..100")
        refuses(program, ("export", f"{file}:same_rows", "--strict", "--input", "x=f32[a:1..9,3]", "--input", "y=f32[b:1..9,3]"),
                "branches.py:12:8: error:")


def check_decompositions(program):
    """export --run-decompositions opens a triton_op, keeps a custom_op, and computes the same."""
    file = HERE / "cases" / "two_outputs.py"
    x = np.random.default_rng(3).standard_normal((5, 33)).astype(np.float32)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.save(folder / "x.npy", x)
        for model, target, closed, opened in (("op", "two.max_and_exp.default", 0, 1), ("opaque", "two.max_and_exp_opaque.default", 1, 0)):
            words = ("export", f"{file}:{model}", "--input", "x=f32[rows:1..64,33]", "--run-decompositions", "-o", folder / "p", "--json")
            targets = [node["target"] for node in json.loads(call(program, *words))["nodes"]]
            if targets.count(target) != closed or sum("triton_kernel_wrapper_mutation" in t for t in targets) != opened:
                raise Failure(f"{model}: {targets}")
            call(program, "compile", folder / "p", "-o", folder / "p.plc", "--target", "cpu:x86-64-v3")
            call(program, "run", folder / "p.plc", "--input", f"x=@{folder}/x.npy", "--output", folder / "m.npy", "--output", folder / "s.npy")
            compare("maximum", np.load(folder / "m.npy"), x.max(-1), 0)
            e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
            compare("softmax", np.load(folder / "s.npy"), e / e.sum(-1, keepdims=True), 2e-5)


def refuses(program, words, *parts):
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, timeout=900)
    if done.returncode != 1:
        raise Failure(f"{words}: exit {done.returncode}, expected a refusal")
    for part in parts:
        if part not in done.stderr:
            raise Failure(f"{words}: the message lacks '{part}':\n{done.stderr[:400]}")


def main():
    program, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module = "model_cases"
    if wanted[:1] == ["--cases"]:
        module, wanted = wanted[1], wanted[2:]
    failed = 0
    checks = [(case.label, lambda case=case: check(program, case)) for case in importlib.import_module(module).CASES]
    if module == "model_cases":
        checks.append(("branches", lambda: check_branches(program) or 0.0))
        checks.append(("run-decompositions", lambda: check_decompositions(program) or 0.0))
    for label, run in checks:
        if wanted and not any(w in label for w in wanted):
            continue
        try:
            print(f"ok      {label}  largest error {run():.2g}", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAILED  {label}: {failure}", flush=True)
    print(f"{len(checks)} cases, {failed} failed" + skipped(len(checks)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
