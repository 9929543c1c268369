#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.npz: what PyTorch returns for the calls of cases.py, and what the models hold after each. Needs torch;
run it when a model or a case changes."""
import pathlib

import numpy as np
import torch
from torch._higher_order_ops import utils

import models
from cases import CASES

HERE = pathlib.Path(__file__).parent


def in_python(pred, yes, no, operands=()):
    return (yes if pred else no)(*operands)


def main():
    arrays = {}
    # PyTorch's own loops over the functions as they are: it would compile each for every size first.
    utils._hop_compile_and_call = lambda fn, args, kwargs=None: fn(*args, **(kwargs or {}))
    torch.cond = in_python
    for name, (_, calls, train) in CASES.items():
        model = getattr(models, name)().train(train)
        for i, call in enumerate(calls):
            with torch.no_grad():
                results = model(*map(torch.from_numpy, call))
            for j, result in enumerate(results if isinstance(results, tuple) else (results,)):
                arrays[f"{name}.{i}.result.{j}"] = result.numpy().copy()
            for key, value in [*model.named_buffers(), *model.named_parameters()]:
                arrays[f"{name}.{i}.state.{key}"] = value.detach().numpy().copy()
    np.savez_compressed(HERE / "expected.npz", **arrays)
    print(f"{len(arrays)} arrays")


if __name__ == "__main__":
    main()
