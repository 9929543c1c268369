#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data/<name>.pt2, small archives of torch.export.save, and data/<name>.npz with the inputs and results of some
calls ("0.in.0", "0.out.0", …). Needs torch 2.15; what it writes is committed.

make_archives.py [FOLDER]
make_archives.py --here         torch_VERSION.pt2 alone, as the PyTorch that is here writes it: 2.6, 2.8 and 2.10 did
"""
import io
import pathlib
import sys
import zipfile

import numpy as np
import torch
from torch import nn
from torch.export import Dim, export
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent


def bare(program):
    """Without stack traces, which are most of the bytes."""
    for module in program.graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", ()):
            for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
                node.meta.pop(key, None)
    return program


class Tensors(nn.Module):
    """Weights that are tied, transposed, a part of a larger one, spread by a stride of 0, with gaps, empty, constant."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 4)
        self.tied = self.first.weight
        whole = torch.randn(5, 4)
        self.register_buffer("part", whole[2:4])
        self.register_buffer("transposed", torch.randn(4, 3).t())
        self.register_buffer("spread", torch.randn(1, 4).expand(3, 4))
        self.register_buffer("gaps", torch.randn(4, 8)[:, ::2])
        self.register_buffer("empty", torch.zeros(0, 4))
        self.register_buffer("mask", torch.tensor([True, False, True, True]), persistent=False)

    def forward(self, x):
        y = self.first(x) @ (self.tied @ self.tied.t())
        z = (self.transposed @ self.gaps + self.spread) * self.mask
        return torch.cat((y, z, self.part, self.empty)) + torch.tensor([1.0, 2.0, 3.0, 4.0])


class Nested(nn.Module):
    """Inputs and results in dicts and tuples, an option, a None, a keyword, a constant."""

    def forward(self, batch, pair, scale, *, shift=None, extra=None):
        a, b = pair
        total = batch["x"] * a + batch["y"] * scale
        return {"total": total + shift, "rows": (b.sum(0), None, total.shape[0] + b)}


class InPlace(nn.Module):
    """Writes to what it made, through views; the input keeps its values."""

    def forward(self, x):
        y = x.clone()
        y[1:].mul_(2.0)
        y.add_(1).relu_()
        z = torch.zeros(x.shape[0], 3)
        z[:, 1].copy_(y[:, 0])
        z.masked_fill_(z > 2.0, -1.0)
        return y, z


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.small, self.large = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.large(x).relu(), lambda x: self.small(x) - 1.0, (x,))


class Sizes(nn.Module):
    """Sizes in expressions: halves, products, remainders; a guard ties two inputs."""

    def forward(self, x, y):
        n, m = x.shape
        half = x.reshape(2, n // 2, m)[0]
        rows = torch.arange(m - m % 2, dtype=torch.float32)
        return half + y, rows * (n / 2), torch.arange(n * 2 + 1) + m


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.calls.add_(1)
        self.mean.mul_(0.9).add_(0.1 * x.mean(0))
        return x - self.mean, self.calls.clone()


@torch.library.custom_op("example::twice", mutates_args=())
def twice(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * 2 + n


@twice.register_fake
def _(x, n):
    return torch.empty_like(x)


class Missing(nn.Module):
    def forward(self, x):
        return twice(x, 3), torch.nonzero(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 4)
        self.batch = nn.BatchNorm1d(4)
        self.batch.running_mean.normal_(), self.batch.running_var.uniform_(0.5, 1.5)

    def forward(self, x):
        return F.log_softmax(self.batch(self.b(F.gelu(self.norm(self.a(x))))), -1)


class Mixed(nn.Module):
    """Something of everything, for the archives of older versions."""

    def __init__(self):
        super().__init__()
        self.tokens, self.linear, self.conv = nn.Embedding(10, 4), nn.Linear(4, 4), nn.Conv1d(4, 4, 3, padding=1)
        self.out = nn.Linear(4, 10, bias=False)
        self.out.weight = self.tokens.weight
        self.register_buffer("turned", torch.randn(4, 4).t(), persistent=False)
        self.batch, self.norm = nn.BatchNorm1d(4), nn.LayerNorm(4)

    def forward(self, ids, d, *, k=None):
        x = self.tokens(ids)
        q = F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], is_causal=True)[:, 0]
        h = self.norm(self.linear(q).relu() @ self.turned) + torch.tensor([1.0, 2.0, 3.0, 4.0])
        h = self.batch(self.conv(h.transpose(1, 2))).transpose(1, 2)
        return {"a": self.out(h), "b": (d["x"][0] * d["y"], h.shape[0] + h.sum(0), h[:, :1])}


def write_here(folder):
    batch, length = Dim("batch", min=1, max=9), Dim("length", min=2, max=32)
    y = torch.randn(2)
    calls = [(torch.randint(0, 10, (rows, columns)), {"x": [torch.randn(rows, 2)], "y": y}) for rows, columns in ((3, 6), (2, 7))]
    shapes = {"ids": {0: batch, 1: length}, "d": {"x": [{0: batch}], "y": None}, "k": None}
    version = "_".join(torch.__version__.split(".")[:2])
    write(folder, f"torch_{version}", Mixed(), calls, shapes, keywords=[{"k": None}] * 2)


def old_layout(program, path):
    """As torch 2.6 and 2.7 wrote it."""
    from torch._export.serde.serialize import serialize

    artifact = serialize(program)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("serialized_exported_program.json", artifact.exported_program)
        archive.writestr("serialized_state_dict.pt", artifact.state_dict)
        archive.writestr("serialized_constants.pt", artifact.constants)
        archive.writestr("serialized_example_inputs.pt", artifact.example_inputs)
        archive.writestr("version", "8.2")


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    return [t for part in value for t in tensors_of(part)] if isinstance(value, (list, tuple)) or hasattr(value, "__iter__") and not isinstance(value, str) else []


def write(folder, name, model, cases, dynamic=None, functional=False, old=False, keywords=()):
    model = model.eval()
    keywords = keywords or [{}] * len(cases)
    program = export(model, cases[0], keywords[0], dynamic_shapes=dynamic)
    if functional:
        program = program.run_decompositions()
    path = folder / f"{name}.pt2"
    program = bare(program)
    old_layout(program, path) if old else torch.export.save(program, path)
    arrays = {}
    for i, (case, named) in enumerate(zip(cases, keywords)):
        with torch.no_grad():
            results = model(*case, **named)
        for part, values in (("in", tensors_of([case, named])), ("out", tensors_of(results))):
            for j, value in enumerate(values):
                arrays[f"{i}.{part}.{j}"] = value.numpy()
    np.savez(folder / f"{name}.npz", **arrays)
    print(name, path.stat().st_size)


def main(folder):
    folder.mkdir(exist_ok=True)
    torch.manual_seed(0)
    batch = Dim("batch", min=1, max=64)
    floats = lambda *shapes: [(torch.randn(*shape),) for shape in shapes]
    write(folder, "tensors", Tensors(), floats((3, 6)))
    x, y, b = torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 2)
    shift, small = torch.randn(3), torch.randn(2, 3)
    write(folder, "nested", Nested(), [({"x": x, "y": y}, (y, b), 0.5), ({"x": small, "y": small}, (small, b[:2]), 0.5)],
          {"batch": {"x": {0: batch}, "y": {0: batch}}, "pair": ({0: batch}, {0: batch}), "scale": None, "shift": None},
          keywords=[{"shift": shift}, {"shift": shift}])
    write(folder, "in_place", InPlace(), floats((4, 2), (3, 2)), ({0: Dim("rows", min=3, max=64)},))
    write(folder, "in_place_functional", InPlace(), floats((4, 2), (3, 2)), ({0: Dim("rows", min=3, max=64)},), functional=True)
    u, v = torch.rand(3, 4), -torch.rand(5, 4)
    write(folder, "branch", Branch(), [(u,), (v,)], ({0: batch},))
    half, columns = Dim("half", min=2, max=32), Dim("columns", min=3, max=16)
    write(folder, "sizes", Sizes(), [(torch.randn(8, 6), torch.randn(4, 6)), (torch.randn(4, 7), torch.randn(2, 7))],
          ({0: 2 * half, 1: columns}, {0: half, 1: columns}))
    write(folder, "counter", Counter(), floats((4, 3), (4, 3), (2, 3)), ({0: batch},))
    torch.export.save(bare(export(Missing(), floats((4, 3))[0])), folder / "missing.pt2")
    write(folder, "net", Net(), floats((3, 8), (1, 8)), ({0: batch},))
    write(folder, "net_functional", Net(), floats((3, 8), (1, 8)), ({0: batch},), functional=True)
    write(folder, "net_old", Net(), floats((3, 8), (1, 8)), ({0: batch},), old=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--here"]:
        torch.manual_seed(0)
        write_here(HERE / "data")
        sys.exit()
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "data")
