#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports PyTorch's own sample calls of its operators (op_db), compiles the archives and compares; prints a table.

    op_db.py PROGRAM [--dtype float32] [--samples 4] [NAME…]

One archive per operator, which calls it with the first samples of its dtype. NAME: operators of op_db; none: all.
Needs torch and its testing packages. No test: it takes minutes.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import warnings

import numpy as np
import torch

# PyTorch's testing package derives a class from this one, which nothing here uses.
if "expecttest" not in sys.modules:
    sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase)
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class Samples(torch.nn.Module):
    """The calls of one operator; the tensors of all of them are the inputs."""

    def __init__(self, operator, samples):
        super().__init__()
        self.operator, self.tensors, self.calls = operator, [], []
        for sample in samples:
            leaves, tree = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
            places = []
            for leaf in leaves:
                isTensor = isinstance(leaf, torch.Tensor)
                places.append(len(self.tensors) if isTensor else ("constant", leaf))
                if isTensor:
                    self.tensors.append(leaf.detach().clone().contiguous())
            self.calls.append((places, tree))

    def forward(self, *tensors):
        results = []
        for places, tree in self.calls:
            leaves = [tensors[p] if isinstance(p, int) else p[1] for p in places]
            args, kwargs = pytree.tree_unflatten(leaves, tree)
            results.append(self.operator(*args, **kwargs))
        return tuple(t for t in pytree.tree_leaves(results) if isinstance(t, torch.Tensor))


def pellucid(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def close(got, expected, dtype):
    if got.shape != expected.shape:
        return False
    tolerance = {"float32": 2e-4, "bfloat16": 3e-2}.get(dtype, 0)
    return np.allclose(got.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance, equal_nan=True)


def as_numpy(value):
    value = value.detach()
    return value.view(torch.uint16).numpy() if value.dtype == torch.bfloat16 else value.numpy()


def widened(array):
    return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array


def check(program, op, dtype, count, folder):
    """(state, why): right, wrong, refused, not exported."""
    samples = []
    for sample in op.sample_inputs("cpu", getattr(torch, dtype)):
        samples.append(sample)
        if len(samples) == count:
            break
    if not samples:
        return "no samples", ""
    try:
        model = Samples(op.op, samples)
        with torch.no_grad():
            expected = model(*model.tensors)
        if not expected:
            return "no tensors", ""
        torch.export.save(torch.export.export(model, tuple(model.tensors)), folder / "op.pt2")
    except Exception as error:
        return "not exported", str(error).split("\n")[0][:150]
    status, _, said = pellucid(program, "compile", folder / "op.pt2", "-o", folder / "op.plc", "--target", "cpu:x86-64-v3")
    if status:
        return ("refused" if status == 1 else "crash"), " ".join(said.split(": error: ", 1)[-1].split("\n")[:2])[:250]
    names = [i["name"] for i in json.loads(pellucid(program, "inspect", folder / "op.plc", "--json")[1])["inputs"]]
    words = ["run", folder / "op.plc"]
    for name, value in zip(names, model.tensors, strict=True):
        np.save(folder / f"{name}.npy", as_numpy(value))
        words += ["--input", f"{name}=@{folder / name}.npy" + (":bf16" if value.dtype == torch.bfloat16 else "")]
    for i in range(len(expected)):
        words += ["--output", folder / f"out{i}.npy"]
    status, _, said = pellucid(program, *words)
    if status:
        return "run fails", said.strip().split("\n")[0][:250]
    for i, value in enumerate(expected):
        got, value = widened(np.load(folder / f"out{i}.npy")), value.detach()
        value = value.float().numpy() if value.dtype == torch.bfloat16 else value.numpy()
        undefined = op.name.startswith(("empty", "new_empty"))
        if not close(got, value, dtype) and not (undefined and got.shape == value.shape):
            same = got.shape == value.shape
            return "wrong", f"result {i}: {np.nanmax(np.abs(got.astype(float) - value.astype(float))) if same and value.size else (got.shape, value.shape)}"
    return "right", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--samples", type=int, default=4)
    arguments = parser.parse_args()
    counts = collections.Counter()
    for op in op_db:
        if (arguments.names and op.name not in arguments.names) or not op.supports_dtype(getattr(torch, arguments.dtype), "cpu"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                state, why = check(arguments.program, op, arguments.dtype, arguments.samples, pathlib.Path(folder))
            except subprocess.TimeoutExpired:
                state, why = "too slow", ""
        counts[state] += 1
        print(f"{op.formatted_name:50} {state:14} {why}", flush=True)
    print(", ".join(f"{count} {state}" for state, count in counts.most_common()))


main()
