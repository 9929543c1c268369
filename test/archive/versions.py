#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports what the tests of archives have with the PyTorch that runs this, of any version from 2.6, in both dialects, strict and
not, and compares: modules_test.py's modules and functions, the rows of fresh_archives_test.py, and the control flow of
test/e2e/control_flow. What this PyTorch has not or does not export itself is counted.

    versions.py PROGRAM [--strict] [--together] [--part I/N] [GROUP…]

With --together a group is one archive, and where that is not right its halves are, down to the rows.

No test: it needs a PyTorch of the version. Exit code 1 where something differs or is refused.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e/control_flow")]
strict = "--strict" in sys.argv
together = "--together" in sys.argv
part, parts = map(int, sys.argv[sys.argv.index("--part") + 1].split("/")) if "--part" in sys.argv else (1, 1)
wanted = [word for word in sys.argv[2:] if not word.startswith("--") and "/" not in word]
import fresh_archives_test as fresh  # noqa: E402
import modules_test as modules  # noqa: E402

torch.set_num_threads(1)


def pellucid(*words):
    done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{words[0]} gives {done.returncode}: {done.stderr.strip()[:500]}")
    return done.stdout


def flat(value):
    if value is None or isinstance(value, (int, float)):
        return []
    return [value] if isinstance(value, torch.Tensor) else [t for part in (value.values() if isinstance(value, dict) else value) for t in flat(part)]


class Row(torch.nn.Module):
    def __init__(self, call, module=None):
        super().__init__()
        self.call, self.module = call, module

    def forward(self, *inputs):
        return tuple(flat(self.call(self.module, *inputs)))


def rows():
    """(group, name, module, inputs)"""
    for group, (inputs, made, expressions) in modules.GROUPS.items():
        torch.manual_seed(5)
        names = list(inputs)
        scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "Q": torch.ops.quantized_decomposed}
        values = [torch.randn(given) if isinstance(given, tuple) else eval(given, scope) for given in inputs.values()]
        for text, words in made:
            try:
                call = eval(f"lambda module, {', '.join(names)}: module({words})", scope)
                yield group, text, Row(call, eval(text, scope)), values
            except (AttributeError, TypeError):
                yield group, text, None, None
        for text in expressions:
            yield group, text, Row(eval(f"lambda module, {', '.join(names)}: {text}", scope)), values
    for group, make in fresh.SUITES.items():
        torch.manual_seed(3)
        try:
            made, inputs = make()
        except AttributeError:
            yield "fresh-" + group, group, None, None
            continue
        if isinstance(made, torch.nn.Module):
            yield "fresh-" + group, group, made, inputs
            continue
        for number, one in enumerate(made):
            yield "fresh-" + group, f"row {number}", Row(lambda module, *values, one=one: one(*values)), inputs
    yield from control_rows()


def control_rows():
    try:
        import cases
        import models
    except ImportError as missing:
        yield "control", str(missing), None, None
        return
    for name, (_, calls) in cases.CASES.items():
        if name in cases.ARCHIVES and not isinstance(getattr(models, name), type):
            function = getattr(models, name)
            yield "control", name, Row(lambda module, *values, function=function: function(*values)), [torch.from_numpy(np.array(v)) for v in calls[cases.ARCHIVES[name][0]].values()]


def compare(folder, values, expected):
    package = folder / "model.plc"
    pellucid("compile", folder / "model.pt2", "-o", package, "--target", "cpu:x86-64-v3")
    names = [i["name"] for i in json.loads(pellucid("inspect", package, "--json"))["inputs"]]
    words = ["run", package]
    for name, value in zip(names, values, strict=True):
        np.save(folder / f"{name}.npy", value.numpy())
        words += ["--input", f"{name}=@{folder / name}.npy"]
    pellucid(*words, *[word for i in range(len(expected)) for word in ("--output", folder / f"out{i}.npy")])
    for i, want in enumerate(expected):
        got, want = np.load(folder / f"out{i}.npy"), want.detach().numpy()
        assert got.dtype == want.dtype and got.shape == want.shape, f"result {i} is {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


class Group(torch.nn.Module):
    """The rows of a group as one model; each has the group's inputs."""

    def __init__(self, rows):
        super().__init__()
        self.rows = torch.nn.ModuleList(rows)

    def forward(self, *inputs):
        return tuple(t for row in self.rows for t in row(*[value.clone() for value in inputs]))


def attempt(model, values, count, say):
    """Both dialects of one model: whether all is right; what is not is said and counted."""
    try:
        model = model.eval()
        with torch.no_grad():
            torch.manual_seed(1)
            flat(model(*[v.clone() for v in values]))
        program = torch.export.export(model, tuple(values), strict=strict)
        programs = {"training": program, "core": program.run_decompositions()}
    except Exception as error:
        count["not exported"] += 1
        say(f"not exported: {str(error).strip().splitlines()[0][:120] if str(error).strip() else type(error).__name__}")
        return False
    for dialect, one in programs.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            try:
                try:
                    torch.export.save(one, folder / "model.pt2")
                except ValueError as error:
                    count["not saved"] += 1
                    say(f"({dialect}): PyTorch does not save it: {error}")
                    continue
                # Some decompositions of older versions compute something else than the operator.
                with torch.no_grad():
                    torch.manual_seed(1)
                    own = flat(one.module()(*[v.clone() for v in values]))
                compare(folder, values, own)
                count["right"] += 1
            except Exception as error:
                count["WRONG"] += 1
                say(f"({dialect}): {type(error).__name__}: {str(error)[:400]}")
    return not count["WRONG"]


def check(group, found, together, count):
    if len(found) == 1 or not together:
        for name, model, values in found:
            attempt(model, values, count, lambda text, name=name: print(f"{group}: {name}: {text}", flush=True))
    elif attempt(Group([model for _, model, _ in found]), found[0][2], collections.Counter(), lambda text: None):
        count["right"] += 2 * len(found)
    else:
        check(group, found[: len(found) // 2], together, count)
        check(group, found[len(found) // 2 :], together, count)


def main():
    count, groups = collections.Counter(), {}
    for group, name, model, values in rows():
        if wanted and group not in wanted:
            continue
        if model is None:
            count["not there"] += 1
            continue
        groups.setdefault(group, []).append((name, model, values))
    for number, (group, found) in enumerate(groups.items()):
        if number % parts != part - 1:
            continue
        # Rows of control flow have inputs of their own.
        check(group, found, together and group != "control", count)
        print(f"{group}: {len(found)} rows done, {dict(count)}", file=sys.stderr, flush=True)
    print(f"torch {torch.__version__}: " + ", ".join(f"{n} {state}" for state, n in count.most_common()))
    sys.exit(count["WRONG"] > 0)


main()
