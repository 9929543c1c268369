#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch computes for the calls of cases.py into results.npz ("model.call.result"), and the models' archives
into archives/. Needs torch 2.15; what it writes is committed.

    record.py [--results]      without archives
"""
import contextlib
import inspect
import pathlib
import re
import sys

import cases
import models
import numpy as np
import torch
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export, save

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "archive"))
from make_archives import bare  # noqa: E402

torch.set_num_threads(1)


class Wrapped(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def model(name):
    made = getattr(models, name)
    if not inspect.isclass(made):
        return Wrapped(made)
    net = made()
    net.load_state_dict({key: torch.from_numpy(value) for key, value in cases.weights().items()})
    return net.eval()


def dynamic(specs):
    """`f32[n:1..9,2]`"""
    shapes = []
    for spec in specs.values():
        dims = re.search(r"\[(.*)\]", spec).group(1).split(",")
        found = [re.fullmatch(r"(\w+):(\d+)\.\.(\d+)", dim) for dim in dims]
        shapes.append({d: Dim(m.group(1), min=max(2, int(m.group(2))), max=int(m.group(3))) for d, m in enumerate(found) if m})
    return tuple(shapes) if any(shapes) else None


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else result
    return [leaf for part in parts for leaf in flat(part)]


@contextlib.contextmanager
def eager():
    """PyTorch's own loops over the functions as they are: it would compile each for every size first, which takes seconds."""
    from torch._higher_order_ops import utils

    compiled, cond = utils._hop_compile_and_call, torch.cond
    utils._hop_compile_and_call = lambda fn, args, kwargs=None: fn(*args, **(kwargs or {}))
    # Its loop takes nested operands from the compiler only.
    torch.cond = lambda pred, true_fn, false_fn, operands=(): (true_fn if pred else false_fn)(*operands)
    try:
        yield
    finally:
        utils._hop_compile_and_call, torch.cond = compiled, cond


def turn_by_turn(goes_on, body, carried):
    while bool(goes_on(*carried)):
        carried = body(*carried)
    return carried


def main():
    folder = HERE
    (folder / "archives").mkdir(exist_ok=True)
    arrays = {}
    for name, (specs, calls) in cases.CASES.items():
        net = model(name)
        torch._dynamo.reset()
        for at, call in enumerate(calls):
            # Only the compiler opens what loops carry.
            differentiates = name == "gradient_of_a_loop"
            models.while_loop = turn_by_turn if differentiates else while_loop
            with contextlib.nullcontext() if name in ("loop_tree", "scan_backwards") else eager(), torch.set_grad_enabled(differentiates):
                results = flat(net(*(torch.from_numpy(np.asarray(call[key])) for key in specs)))
            for i, result in enumerate(results):
                arrays[f"{name}.{at}.{i}"] = result.detach().numpy()
        if name in cases.ARCHIVES and "--results" not in sys.argv:
            # An example of sizes that are none of the special ones.
            example = tuple(torch.from_numpy(np.asarray(calls[cases.ARCHIVES[name][0]][key])) for key in specs)
            wrapped = ({"inputs": dynamic(specs)} if isinstance(net, Wrapped) else dynamic(specs)) if dynamic(specs) else None
            program = export(net, example, dynamic_shapes=wrapped)
            save(bare(program), folder / "archives" / f"{name}.pt2")
        np.savez_compressed(folder / "results.npz", **arrays)
        print(name, flush=True)


if __name__ == "__main__":
    main()
