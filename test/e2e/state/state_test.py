#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""State from call to call, through the command line: what the models of models.py return and hold after each call, compared with
what PyTorch does (expected.npz, written by record.py); files of state that do not fit.

    state_test.py PROGRAM [CASE…]

Exit code 77 without numpy.
"""
import json
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent), str(HERE.parent.parent / "judge")]
from cases import CASES  # noqa: E402
from judge import bound_of, name_of, problem  # noqa: E402
from safetensors_file import read_safetensors, write_safetensors  # noqa: E402
from tool import pellucid  # noqa: E402

EXPECTED = dict(np.load(HERE / "expected.npz"))


def compile_case(folder, name, *words):
    inputs, _, train = CASES[name]
    package = folder / f"{name}.plc"
    pellucid("compile", f"{HERE / 'models.py'}:{name}", *[w for i in inputs for w in ("--input", i)], *(["--train"] if train else []),
             "--target", "cpu:x86-64-v3", "--verify-each", "-o", package, *words)
    return package


def call(folder, package, name, i, *words, fails=False):
    """The results of call number i."""
    inputs, calls, _ = CASES[name]
    given, results = [], []
    for text, array in zip(inputs, calls[i], strict=True):
        file = folder / f"in.{text.split('=')[0]}.npy"
        np.save(file, array)
        given += ["--input", f"{text.split('=')[0]}=@{file}"]
    while f"{name}.{i}.result.{len(results)}" in EXPECTED:
        results.append(folder / f"out.{len(results)}.npy")
    said = pellucid("run", package, *given, *words, *[w for r in results for w in ("--output", r)], fails=fails)
    return said if fails else [np.load(r) for r in results]


def check_one(what, got, want):
    size = np.abs(want.astype(np.float64)) if want.dtype.kind == "f" else 0
    bound = bound_of(name_of(want), want, roundings=6, terms=64, size=np.maximum(size, 8.0)) if want.dtype.kind == "f" else 0.0
    found = problem(got, want, bound, name_of(want), signed_zeros=False)
    assert not found, f"{what}: {found}"


def check_case(folder, name):
    """Each call by a process of its own, which goes on where the one before it ended."""
    package, state = compile_case(folder, name), folder / f"{name}.safetensors"
    described = json.loads(pellucid("inspect", package, "--json"))["state"]
    for i in range(len(CASES[name][1])):
        for j, got in enumerate(call(folder, package, name, i, "--state", state)):
            check_one(f"{name}, call {i}, result {j}", got, EXPECTED[f"{name}.{i}.result.{j}"])
        kept = read_safetensors(state)
        assert sorted(kept) == sorted(entry["name"] for entry in described), (name, kept.keys(), described)
        prefix = f"{name}.{i}.state."
        for key, want in EXPECTED.items():
            key = key.removeprefix(prefix) if key.startswith(prefix) else None
            if key in kept:
                check_one(f"{name} after call {i}, {key}", kept[key], want)
            elif key and i > 0:  # what is no state stays what it was
                check_one(f"{name}, {key}", want, EXPECTED[f"{name}.0.state.{key}"])
    return len(described)


def check_files(folder):
    """A call whose file does not fit changes nothing; without a file the state begins anew."""
    package, state = compile_case(folder, "Counter"), folder / "c.safetensors"
    first = call(folder, package, "Counter", 0)
    assert first[1] == 1 and call(folder, package, "Counter", 0)[1] == 1, "without --state each run begins anew"
    call(folder, package, "Counter", 0, "--state", state)
    good = read_safetensors(state)
    for change, why in (
        (lambda a: a.pop("total"), "it lacks 'total'"),
        (lambda a: a.update(more=np.zeros(2, np.float32)), "it holds 'more', which the package does not have"),
        (lambda a: a.update(calls=np.zeros((), np.int32)), "'calls' is i32[], must be i64[]"),
        (lambda a: a.update(total=np.zeros(5, np.float32)), "'total' is f32[5], must be f32[4]"),
    ):
        arrays = dict(good)
        change(arrays)
        write_safetensors(state, arrays, {"pellucid.package": "other.py:Model"})
        before = state.read_bytes()
        said = call(folder, package, "Counter", 1, "--state", state, fails=True)
        assert f"it is not the state of package 'models.py:Counter' but of 'other.py:Model': {why}" in said, said
        assert state.read_bytes() == before
    write_safetensors(state, good)
    whole = state.read_bytes()
    for size in (0, 7, 100, len(whole) - 1):
        state.write_bytes(whole[:size])
        said = call(folder, package, "Counter", 1, "--state", state, fails=True)
        assert "error:" in said and said.count("\n") <= 2 and state.read_bytes() == whole[:size], said
    state.write_bytes(whole)
    assert call(folder, package, "Counter", 1, "--state", state)[1] == 2
    # A call that is refused writes nothing.
    before = state.read_bytes()
    np.save(folder / "wide.npy", np.zeros((20, 4), np.float32))
    said = pellucid("run", package, "--input", f"x=@{folder / 'wide.npy'}", "--state", state, fails=True)
    assert "must be in 1..9" in said and state.read_bytes() == before, said
    for words, why in (
        (("--state", folder), "is a folder; the state of an instance is one .safetensors file"),
        (("--state", folder / "no" / "s.safetensors"), "cannot be written"),
        (("--state", package), "would overwrite"),
        (("--state", folder / "out.0.npy"), "not a safetensors file"),
    ):
        said = call(folder, package, "Counter", 1, *words, fails=True)
        assert why in said, said
    plain = folder / "plain.py"
    plain.write_text("def twice(x):\n    return x * 2\n")
    pellucid("compile", f"{plain}:twice", "--input", "x=f32[4]", "--target", "cpu:x86-64-v3", "-o", folder / "plain.plc")
    np.save(folder / "x.npy", np.zeros(4, np.float32))
    said = pellucid("run", folder / "plain.plc", "--input", f"x=@{folder / 'x.npy'}", "--state", state, fails=True)
    assert "the package has no state: its calls change nothing" in said, said


def check_inspect(folder):
    package = compile_case(folder, "Cache")
    shown = pellucid("inspect", package)
    assert "state   k " in shown and "f32[2, 3, 10, 4]  960 bytes" in shown and "1.88 KiB of state in each instance" in shown, shown
    assert "copy" not in shown, f"a step of a decoder copies no cache\n{shown}"
    report = json.loads(pellucid("inspect", package, "--json"))
    assert report["state"][0] == {"name": "k", "dtype": "f32", "shape": [2, 3, 10, 4], "bytes": 960}, report["state"]
    assert [i["name"] for i in report["inputs"]] == ["q", "k", "v", "pos"], report["inputs"]
    pellucid("inspect", package, "--verify")
    inputs = []
    for text, array in zip(*CASES["Cache"][:2][0:1], CASES["Cache"][1][0]):
        np.save(folder / f"b.{text[0]}.npy", array)
        inputs += ["--input", f"{text.split('=')[0]}=@{folder / f'b.{text[0]}.npy'}"]
    pellucid("bench", package, *inputs, "--seconds", "0.02")


def check_as_inputs(folder):
    """The other way: the caller holds what changes."""
    package = compile_case(folder, "Counter", "--state-as-inputs", "--state", folder)
    report = json.loads(pellucid("inspect", package, "--json"))
    assert report["state"] == [] and {i["name"]: i["mutated"] for i in report["inputs"]} == {"x": False, "calls": True, "total": True, "largest": True}
    assert (np.load(folder / "total.npy") == np.arange(4)).all()
    for i in range(3):
        for j, got in enumerate(call(folder, package, "Counter", i, "--state", folder)):
            check_one(f"as inputs, call {i}, result {j}", got, EXPECTED[f"Counter.{i}.result.{j}"])
        assert np.load(folder / "calls.npy") == i + 1
    said = call(folder, package, "Counter", 0, "--state", folder / "x.safetensors", fails=True)
    assert "is not a folder; the package has no state of its own" in said, said
    said = pellucid("compile", f"{HERE / 'models.py'}:Cache", *[w for i in CASES["Cache"][0] for w in ("--input", i)], "--state-as-inputs", "-o", package, fails=True)
    assert "is the name of an input and of a buffer that the model changes" in said, said
    said = pellucid("compile", f"{HERE / 'models.py'}:Counter", "--input", "x=f32[2,4]", "--state", folder, "-o", package, fails=True)
    assert "--state-as-inputs" in said, said


def main():
    names = sys.argv[2:] or list(CASES)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in names:
            print(f"{name}: {check_case(folder, name)} tensors of state")
        if sys.argv[2:]:
            return
        check_files(folder)
        check_inspect(folder)
        check_as_inputs(folder)
    print("files of state, inspect, state as inputs")


if __name__ == "__main__":
    main()
