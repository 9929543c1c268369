#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes parameters.expected: what torch gives for the rows of parameters.txt. Needs torch; run it when rows change.

A row that says that a parameter changes the result is held to it here: torch's result must not be that of its BASE.
"""
import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent


def inputs():
    def filled(shape, value, dtype=torch.float32):
        count = 1
        for size in shape:
            count *= size
        return torch.tensor([value(i) for i in range(count)], dtype=dtype).reshape(shape)

    return {
        "x": filled([2, 3, 4], lambda i: ((i * 37) % 101 - 50) / 16.0),
        "y": filled([2, 3, 4], lambda i: ((i * 53) % 97 - 48) / 16.0),
        "m": filled([4, 4], lambda i: ((i * 29) % 23 - 11) / 8.0),
        "w": filled([4, 4], lambda i: ((i * 31) % 19 - 9) / 8.0),
        "k": filled([2, 3, 4], lambda i: (i * 7) % 3, torch.int64),
        "b": filled([2, 3, 4], lambda i: (i * 5) % 3 == 0, torch.bool),
    }


def evaluate(expression):
    names = {"torch": torch, "nn": nn, "F": F, **inputs()}
    made, at, argument = expression.partition(" @ ")
    if not at:
        return eval(expression, names)
    module = eval(made, names).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(0.5)
        result = eval(f"module({argument})", {**names, "module": module})
    return result[0] if isinstance(result, tuple) else result


def line(key, result):
    result = result.detach()
    dtype = str(result.dtype).removeprefix("torch.")
    values = " ".join(repr(float(v)) for v in result.reshape(-1).tolist())
    return f"{key} | {dtype} | {','.join(map(str, result.shape))} | {values}"


def main():
    torch.set_num_threads(1)
    lines = []
    for number, row in enumerate((HERE / "parameters.txt").read_text().splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            continue
        cells = row.split(" | ")
        kind = cells[2]
        if kind not in ("changes", "same"):
            continue
        key = " | ".join(cells[:2])
        try:
            lines.append(line(key, evaluate(cells[3])))
            if kind == "changes" and line(key, evaluate(cells[4])) == lines[-1]:
                sys.exit(f"parameters.txt:{number}: torch gives the same for both expressions")
        except Exception as problem:
            sys.exit(f"parameters.txt:{number}: {row}\n{type(problem).__name__}: {problem}")
    (HERE / "parameters.expected").write_text("\n".join(lines) + "\n")


main()
