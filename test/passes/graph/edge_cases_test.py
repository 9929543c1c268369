#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every operator on tensors that are easily forgotten, compared with what PyTorch said (edge_cases.txt).

    edge_cases_test.py PROGRAM [--all] [--file F] [--bound B] [--guard end|begin] [--level x86-64-v4] [TEXT…]

`--all`: every call instead of every operator with a sample of them. `--bound`: of float64, relative, instead of 1e-14.

Where PyTorch gives values, so must we, of the same dtype and shape, -0 and NaN in the same places; or the call is one of
those that edge_cases_refused.txt lists with the words of its refusal. Where PyTorch raises, a sentence must refuse the call,
while tracing, compiling or running. No call may end a process in another way. Exit code 77 where numpy is missing.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from bfloat16 import from_bf16, to_bf16  # noqa: E402
from edge_case_tensors import FLOATS, INTEGERS, PLACES, spelled_out  # noqa: E402

HERE = pathlib.Path(__file__).parent
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i64": np.int64, "i32": np.int32,
          "i8": np.int8, "u8": np.uint8, "bool": np.bool_}
# Of the larger of 1 and the value: some units in the last place, for functions that are not rounded correctly.
TOLERANCE = {"f64": 1e-14, "f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}
BATCH = 60
# Tensors end, or begin, at a page without access; and the code is of this CPU level.
GUARD, LEVEL = "end", "x86-64-v3"
# Whether the larger of 0 and -0 is -0 depends in PyTorch on where the element lies in a vector; and sqrt(-0) on the dtype.
ANY_ZERO = ("maximum", "minimum", "clamp", "amax", "amin", "max", "min", "pow")


def input_array(name):
    """What `x_f32` stands for, as record_edge_cases.py has it."""
    letter, kind = name.split("_")
    whole = np.array(PLACES if kind == "at" else FLOATS if "f" in kind else INTEGERS)
    whole = np.abs(whole) if kind == "u8" else whole > 1 if kind == "bool" else whole
    if kind != "bf16":
        whole = whole.astype(DTYPES["i64" if kind == "at" else kind])
    array = {"x": whole, "s": whole[0, 3], "e": whole[:0], "z": whole[:, :0], "o": whole[0, :1], "v": whole[:, 0], "l": whole[1],
             "w": whole.T, "q": np.broadcast_to(whole, (2, 3, 4)), "r": np.broadcast_to(whole.T, (2, 4, 3))}[letter]
    return to_bf16(np.asarray(array, np.float32)) if kind == "bf16" else np.ascontiguousarray(array).reshape(np.shape(array))


def input_type(name):
    kind = name.split("_")[1]
    return f"{'i64' if kind == 'at' else kind}[{','.join(map(str, input_array(name).shape))}]"


class Call:
    def __init__(self, line):
        text, answer = line.split("\t")
        self.text = spelled_out(text)
        self.raises = answer == "raises"
        self.results = [] if self.raises or not answer else [self.result(part) for part in answer.split("; ")]
        self.names = sorted(set(re.findall(r"\b[a-z]_(?:" + "|".join([*DTYPES, "at"]) + r")\b", self.text)))

    @staticmethod
    def result(part):
        head, values = part.split(":", 1)
        dtype, shape = head.split(" ")
        shape = tuple(int(d) for d in shape.split(",") if d)
        if not values and 0 not in shape:
            return dtype, shape, None  # uninitialised
        kind = np.float64 if dtype in TOLERANCE else np.int64
        return dtype, shape, np.array([kind(v) for v in values.split()], kind).reshape(shape)


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def said(done):
    """The sentence of a refusal, or None where a process ended otherwise."""
    lines = [line for line in done.stderr.splitlines() if ": error: " in line or re.match(r"^[^ ].*: ", line)]
    return lines[0] if done.returncode == 1 and lines else None


class Module:
    """Calls that are one function, one line each."""

    def __init__(self, program, folder, calls):
        self.program, self.folder, self.calls = program, folder, calls
        self.names = sorted({name for call in calls for name in call.names})
        lines = ["import torch", "", "", f"def f({', '.join(self.names)}):", "    return ("]
        self.first = len(lines) + 1
        lines += [f"        {call.text}," for call in calls] + ["    )", ""]
        (folder / "model.py").write_text("\n".join(lines))

    def compile(self):
        words = [word for name in self.names for word in ("--input", f"{name}={input_type(name)}")]
        return run(self.program, "compile", self.folder / "model.py:f", "--target", f"cpu:{LEVEL}", "--verify-each", "-o", self.folder / "p.plc",
                   *words)

    def refused_call(self, done):
        """The call whose line a diagnostic names."""
        for place in re.findall(r"model\.py:(\d+):", done.stderr):
            if 0 <= int(place) - self.first < len(self.calls):
                return self.calls[int(place) - self.first]
        return None

    def execute(self):
        words = []
        for name in self.names:
            np.save(self.folder / f"{name}.npy", input_array(name))
            words += ["--input", f"{name}=@{self.folder / name}.npy" + (":bf16" if name.endswith("bf16") else "")]
        for k in range(sum(len(call.results) for call in self.calls)):
            words += ["--output", self.folder / f"out{k}.npy"]
        done = run(self.program, "run", self.folder / "p.plc", "--json", "--guard", GUARD, *words)
        if "values decide" in done.stderr:  # sizes that no guard knows beforehand
            done = run(self.program, "run", self.folder / "p.plc", "--json", *words)
        return done

    def compare(self, done):
        report = json.loads(done.stdout)["outputs"]
        k = 0
        for call in self.calls:
            for dtype, shape, want in call.results:
                if k >= len(report):
                    yield call, "gives fewer results"
                    return
                zeros = call.text.startswith(tuple(f"torch.ops.aten.{name}." for name in ANY_ZERO))
                problem = compare(np.load(self.folder / f"out{k}.npy"), report[k]["dtype"], dtype, shape, want, zeros)
                if problem:
                    yield call, problem
                k += 1
        if k != len(report):
            yield self.calls[-1], f"{len(report)} results, expected {k}"


def compare(got, got_dtype, dtype, shape, want, any_zero):
    if got_dtype != dtype:
        return f"gives {got_dtype}, expected {dtype}"
    if got.shape != shape:
        return f"gives shape {got.shape}, expected {shape}"
    if want is None:
        return None
    if dtype == "bf16":
        got = from_bf16(got.view(np.uint16))
    if dtype not in TOLERANCE:
        return None if np.array_equal(got.astype(np.int64), want) else f"gives {got.ravel().tolist()}, expected {want.ravel().tolist()}"
    got = got.astype(np.float64)
    special = ~np.isfinite(want) | ~np.isfinite(got)
    with np.errstate(invalid="ignore"):
        wrong = np.where(special, ~((got == want) | (np.isnan(got) & np.isnan(want))),
                         np.abs(got - want) > TOLERANCE[dtype] * np.maximum(1.0, np.abs(want)))
    wrong |= (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want)) & (not any_zero)
    return f"gives {got.ravel().tolist()}, expected {want.ravel().tolist()}" if wrong.any() else None


def check(program, calls, folder):
    """Yields (call, problem); what a batch stumbles over is looked at alone."""
    while calls:
        module = Module(program, folder, calls)
        done = module.compile()
        if done.returncode == 1 and len(calls) > 1 and (refused := module.refused_call(done)):
            yield refused, "is refused: " + said(done)
            calls = [call for call in calls if call is not refused]
            continue
        if done.returncode == 0:
            done = module.execute()
            if done.returncode == 0:
                yield from module.compare(done)
                return
        if len(calls) == 1:
            sentence = said(done)
            yield calls[0], f"is refused: {sentence}" if sentence else f"ends with {done.returncode}: {done.stderr[:300]}"
            return
        half = len(calls) // 2
        yield from check(program, calls[:half], folder)
        calls = calls[half:]


def check_refusal(program, call, folder):
    module = Module(program, folder, [call])
    done = module.compile()
    if done.returncode == 0:
        done = module.execute()
        if done.returncode == 0:
            return "gives values where PyTorch raises"
    return None if said(done) else f"ends with {done.returncode}: {done.stderr[:300]}"


def chosen(calls, everything, words):
    if words:
        return [call for call in calls if any(word in call.text for word in words)]
    if everything:
        return calls
    sample, seen = [], set()
    for call in calls:
        operator = call.text.split("(")[0]
        if not operator.startswith("torch.ops.aten.") or operator not in seen or zlib.crc32(call.text.encode()) % 6 == 0:
            sample.append(call)
        seen.add(operator)
    return sample


def main():
    global GUARD, LEVEL
    words = sys.argv[2:]
    if "--guard" in words:
        at = words.index("--guard")
        GUARD = words[at + 1]
        del words[at:at + 2]
    if "--level" in words:
        at = words.index("--level")
        LEVEL = words[at + 1]
        del words[at:at + 2]
    file = HERE / "edge_cases.txt"
    if "--bound" in words:
        at = words.index("--bound")
        TOLERANCE["f64"] = float(words[at + 1])
        del words[at:at + 2]
    if "--file" in words:
        at = words.index("--file")
        file = pathlib.Path(words[at + 1])
        del words[at:at + 2]
    everything = "--all" in words
    calls = chosen([Call(line) for line in file.read_text().splitlines()], everything, [w for w in words if w != "--all"])
    allowed = [line.split("\t") for line in (HERE / "edge_cases_refused.txt").read_text().splitlines() if line and line[0] != "#"]
    program, failed, used = sys.argv[1], 0, set()

    def is_allowed(call, problem):
        for operator, reason in allowed:
            if call.text.startswith((f"torch.ops.aten.{operator}(", operator)) and reason in problem and problem.startswith("is refused"):
                used.add((operator, reason))
                return True
        return False

    def batch(part):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if part[0].raises:
                return [(call, problem) for call in part if (problem := check_refusal(program, call, folder))]
            return list(check(program, part, folder))

    good, bad = [c for c in calls if not c.raises], [c for c in calls if c.raises]
    batches = [part[i:i + BATCH] for part in (good, bad) for i in range(0, len(part), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for problems in pool.map(batch, batches):
            for call, problem in problems:
                if not is_allowed(call, problem):
                    failed += 1
                    print(f"FAILED {call.text}\n    {problem}")
    print(f"{len(calls) - failed} of {len(calls)} calls as PyTorch has them ({len(bad)} of them refused)")
    return 1 if failed or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
