#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes gradients.expected: PyTorch's gradients of the expressions of derivative_cases.txt in float64, where they have
corners and ties: inputs are small multiples of a half, zeros among them.

    record_gradients.py        (a Python with PyTorch and numpy)
"""
import math
import pathlib
import re

import numpy as np
import torch
import torch.nn.functional as F  # noqa: F401, for the expressions

HERE = pathlib.Path(__file__).resolve().parent


def cases():
    for line in (HERE / "derivative_cases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            target, expression, inputs, *options = [part.strip() for part in line.split("|")]
            yield target, expression, inputs, options


def drawn(text, low, high, random):
    name, _, kind = text.partition("=")
    match = re.fullmatch(r"(int64|bool)\[([\d,]*)\](?::(\d+)\.\.(\d+))?", kind)
    if not match:
        points = [p for p in np.arange(-4, 9) / 2 if low <= p <= high] or list(np.linspace(low, high, 3))
        shape = [int(n) for n in kind.split(",") if n]
        return name, torch.from_numpy(random.choice(points, shape).astype(np.float64).reshape(shape))
    shape = [int(n) for n in match[2].split(",") if n]
    if match[1] == "bool":
        return name, torch.from_numpy(random.integers(0, 2, shape).astype(bool))
    return name, torch.from_numpy(random.integers(int(match[3]), int(match[4]) + 1, shape))


def weights(x, k):
    return torch.cos(torch.arange(x.numel(), dtype=torch.float64) * 1.3 + k).reshape(x.shape)


def flat(x):
    return [x] if isinstance(x, torch.Tensor) else [one for part in x for one in flat(part)]


def number(value):
    return "nan" if math.isnan(value) else repr(float(value))


def main():
    lines, left = [], []
    for index, (target, expression, inputs, options) in enumerate(cases()):
        # PyTorch 2.15 gives the place that was written a gradient, and the rest none: it is the other way round.
        if "drawn" in options or target == "aten.as_strided_scatter.default":
            continue
        random = np.random.default_rng(index)
        low, high = next(([float(n) for n in o.split("..")] for o in options if ".." in o), (-2.0, 2.0))
        given = dict(drawn(text, low, high, random) for text in inputs.split())
        scope = {k: v.requires_grad_() if v.is_floating_point() else v for k, v in given.items()}
        try:
            outputs = [o for o in flat(eval(expression, {"torch": torch, "F": F, "math": math}, scope)) if o.is_floating_point()]
            loss = sum((o * weights(o, 0.7 + i)).sum() for i, o in enumerate(outputs))
            wanted = [v for v in scope.values() if v.is_floating_point()]
            found = torch.autograd.grad(loss, wanted, materialize_grads=True)
        except Exception as error:  # noqa: BLE001, an operator of ours, or one that torch does not have there
            left.append(f"{target}: {expression}: {str(error).splitlines()[0]}")
            continue
        values = ";".join(",".join(number(n) for n in v.detach().double().flatten()) for v in scope.values())
        gradients = ";".join(",".join(number(n) for n in g.flatten()) for g in found)
        lines.append(f"{index}|{expression}|{values}|{gradients}")
    (HERE / "gradients.expected").write_text("\n".join(lines) + "\n")
    print(len(lines), "cases; not in PyTorch:", *left, sep="\n  ")


if __name__ == "__main__":
    main()
