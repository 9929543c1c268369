#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weights as checkpoints hold them and dims that are multiples, from files to numbers, against numpy.

    weights_test.py PROGRAM

Shards behind an index, files that are cast as they are loaded, compressed and plain archives: all give the same results. A compiler
never has more than pieces of the weights in memory. Exit code 77 where numpy is missing.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

MODEL = """
import torch
import triton
import triton.language as tl


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 5)
        self.second = torch.nn.Linear(5, 3, bias=False)
        self.register_buffer("shift", torch.zeros(3))

    def forward(self, x):
        return self.second(torch.relu(self.first(x))) + self.shift


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4096, 4096, bias=False) for _ in range(4))
        self.table = torch.nn.Parameter(torch.empty(4096, 4096))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x @ self.table


def halves(x):
    n = x.shape[0] // 64
    return x.view(64, n).sum(0), x.view(n, 64).sum(1) / n


@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 64})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def double_kernel(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) * (2 if EVEN else 3), i < n)


def undecorated(x):
    y = torch.empty_like(x)
    bare = double_kernel.fn.fn
    bare[(triton.cdiv(x.numel(), 32),)](x, y, x.numel(), BLOCK=32, EVEN=False)
    heuristic = double_kernel.fn
    z = torch.empty_like(x)
    heuristic[(triton.cdiv(x.numel(), 32),)](x, z, x.numel(), BLOCK=32)
    return y, z
"""
NAMES = {"f16": "F16", "f32": "F32", "f64": "F64"}


def safetensors(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        kind = {"float16": "F16", "float32": "F32", "float64": "F64"}[array.dtype.name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def sharded(folder, tensors, files):
    """The index of a checkpoint in several files: which tensor lies in which."""
    parts = {f"model-{i + 1:05d}-of-{files:05d}.safetensors": {} for i in range(files)}
    for (name, array), part in zip(tensors.items(), list(parts) * len(tensors)):
        parts[part][name] = array
    for part, held in parts.items():
        safetensors(folder / part, held)
    index = {"metadata": {"total_size": sum(a.nbytes for a in tensors.values())}, "weight_map": {n: part for part, held in parts.items() for n in held}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder / "model.safetensors.index.json"


class Checks:
    def __init__(self, program, folder):
        self.program, self.folder, self.failed = program, folder, 0

    def call(self, *words):
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stderr

    def results(self, name, inputs, count, *words):
        """The results of a function, compiled and run on these arrays."""
        code, said = self.call("compile", f"model.py:{name}", "-o", "model.plc", "--target", "cpu:x86-64-v3", *words)
        if code:
            return said
        given = []
        for key, array in inputs.items():
            np.save(self.folder / f"{key}.npy", array)
            given += ["--input", f"{key}=@{key}.npy"]
        outs = [word for i in range(count) for word in ("--output", f"out{i}.npy")]
        code, said = self.call("run", "model.plc", *given, *outs)
        return said if code else [np.load(self.folder / f"out{i}.npy") for i in range(count)]

    def equal(self, what, got, want, bound):
        good = not isinstance(got, str) and len(got) == len(want)
        good = good and all(g.shape == w.shape and np.isfinite(g).all() and (np.abs(g.astype(np.float64) - w) <= bound * np.maximum(1, np.abs(w))).all() for g, w in zip(got, want))
        self.failed += not good
        print("ok     " if good else "FAILED ", what, "" if good else f": {got}")

    def refused(self, what, got, words):
        good = isinstance(got, str) and words in got
        self.failed += not good
        print("ok     " if good else "FAILED ", what, "" if good else f": {got}")


def check_weights(checks, rng):
    shapes = {"first.weight": (5, 6), "first.bias": (5,), "second.weight": (3, 5), "shift": (3,)}
    # Numbers that float16 holds, so that no file rounds them.
    weights = {name: (rng.integers(-16, 16, shape) / 8).astype(np.float64) for name, shape in shapes.items()}
    x = rng.standard_normal((7, 6)).astype(np.float32)
    want = [np.maximum(x.astype(np.float64) @ weights["first.weight"].T + weights["first.bias"], 0) @ weights["second.weight"].T + weights["shift"]]
    inputs = ("--input", "x=f32[b:1..9,6]")
    for kind in (np.float16, np.float32, np.float64):
        held, cast = {n: a.astype(kind) for n, a in weights.items()}, () if kind == np.float32 else ("--dtype", "f32")
        for files in (1, 2, 4):
            where = sharded(checks.folder, held, files)
            checks.equal(f"{files} shards of {kind.__name__}", checks.results("Model", {"x": x}, 1, "--weights", where, *inputs, *cast), want, 1e-5)
        for save in (np.savez, np.savez_compressed):
            save(checks.folder / "weights.npz", **held)
            checks.equal(f"{save.__name__} of {kind.__name__}", checks.results("Model", {"x": x}, 1, "--weights", "weights.npz", *inputs, *cast), want, 1e-5)
    half = checks.results("Model", {"x": x.astype(np.float16)}, 1, "--weights", where, "--input", "x=f16[b:1..9,6]", "--dtype", "f16")
    checks.equal("float64 cast to float16", half, want, 2e-2)
    where = sharded(checks.folder, {n: a.astype(np.float32) for n, a in weights.items()}, 2)
    (checks.folder / "model-00002-of-00002.safetensors").unlink()
    checks.refused("a shard that is missing", checks.results("Model", {"x": x}, 1, "--weights", where, *inputs), "model-00002-of-00002.safetensors")
    del weights["shift"]
    where = sharded(checks.folder, {n: a.astype(np.float32) for n, a in weights.items()}, 2)
    checks.refused("a weight that no shard has", checks.results("Model", {"x": x}, 1, "--weights", where, *inputs), "shift")


def sparse_permutations(path, names, size, rng):
    """A file of permutation matrices, whose zeros take no room; and for each of them, the column of each row's one."""
    header = {name: {"dtype": "F32", "shape": [size, size], "data_offsets": [4 * size * size * i, 4 * size * size * (i + 1)]} for i, name in enumerate(names)}
    text, columns = json.dumps(header).encode(), {}
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        start = file.tell()
        file.truncate(start + 4 * size * size * len(names))
        for i, name in enumerate(names):
            columns[name] = rng.permutation(size)
            for row, column in enumerate(columns[name]):
                file.seek(start + 4 * ((i * size + row) * size + int(column)))
                file.write(struct.pack("<f", 1.0))
    return columns


def most_memory(words, folder):
    """The largest resident set of a program and what it started, in bytes."""
    process = subprocess.Popen(list(map(str, words)), cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return used.ru_maxrss * 1024


def check_memory(checks, rng):
    """320 MB of weights, of which 64 MB lie the other way round, pass through pieces of 4 MB."""
    names = [f"layers.{i}.weight" for i in range(4)] + ["table"]
    columns = sparse_permutations(checks.folder / "wide.safetensors", names, 4096, rng)
    words = lambda model, dims: [checks.program, "compile", f"model.py:{model}", "-o", "model.plc", "--target", "cpu:x86-64-v3", "--input", f"x=f32[{dims}]"]
    small = most_memory([*words("Model", "b:1..9,6"), "--seed", "1"], checks.folder)
    large = most_memory([*words("Wide", "2,4096"), "--weights", "wide.safetensors"], checks.folder)
    good = large - small < 128 << 20
    checks.failed += not good
    print("ok     " if good else "FAILED ", f"memory of the compiler: {large >> 20} MB, {small >> 20} MB without such weights")
    x = rng.standard_normal((2, 4096)).astype(np.float32)
    want = x
    for name in names[:-1]:
        want = want[:, columns[name]]
    inverse = np.argsort(columns["table"])
    checks.equal("weights in pieces", checks.results("Wide", {"x": x}, 1, "--input", "x=f32[2,4096]", "--weights", "wide.safetensors"), [want[:, inverse]], 0)
    (checks.folder / "model.plc").unlink()


def check_multiples(checks, rng):
    for n in (1, 3, 16):
        x = rng.standard_normal(64 * n).astype(np.float32)
        want = [x.astype(np.float64).reshape(64, n).sum(0), x.astype(np.float64).reshape(n, 64).sum(1) / n]
        checks.equal(f"64*n for n = {n}", checks.results("halves", {"x": x}, 2, "--input", "x=f32[64*n:1..16]"), want, 1e-5)
    short = checks.results("halves", {"x": np.zeros(65, np.float32)}, 2, "--input", "x=f32[64*n:1..16]")
    checks.refused("65 is no multiple of 64", short, "65")
    x = rng.standard_normal(77).astype(np.float32)
    checks.equal("fn of an autotuned kernel", checks.results("undecorated", {"x": x}, 2, "--input", "x=f32[n:1..99]"), [3.0 * x, 3.0 * x], 1e-6)


def main():
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.py").write_text(MODEL)
        checks = Checks(str(pathlib.Path(sys.argv[1]).resolve()), folder)
        check_weights(checks, rng)
        check_multiples(checks, rng)
        check_memory(checks, rng)
    print(f"{checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
