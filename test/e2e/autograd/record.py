#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes results.npz: what PyTorch computes in float64 for the programs of programs.py, and their inputs.

    record.py        (a Python with PyTorch, Triton and numpy)
"""
import pathlib

import numpy as np
import torch

from programs import PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent


def drawn(spec, random):
    name, _, kind = spec.partition("=")
    shape = [int(n) for n in kind[kind.index("[") + 1:kind.index("]")].split(",")]
    if kind.startswith("i64"):
        return name, random.integers(0, int(kind.partition("<")[2]), shape)
    return name, random.uniform(-1, 1, shape).astype(np.float32)


def main():
    random, kept = np.random.default_rng(7), {}
    for name, (specs, function) in PROGRAMS.items():
        inputs = dict(drawn(spec, random) for spec in specs)
        for key, value in inputs.items():
            kept[f"{name}.in.{key}"] = value
        tensors = [torch.from_numpy(v).double() if v.dtype == np.float32 else torch.from_numpy(v) for v in inputs.values()]
        results = function(*tensors)
        for i, one in enumerate([results] if isinstance(results, torch.Tensor) else results):
            kept[f"{name}.out.{i}"] = one.detach().numpy()
    np.savez_compressed(HERE / "results.npz", **kept)
    print(len(PROGRAMS), "programs")


if __name__ == "__main__":
    main()
