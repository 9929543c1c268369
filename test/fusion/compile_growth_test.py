#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the work from source to package, code generation apart, to grow linearly with the graph.

    compile_growth_test.py PROGRAM COUNTER

COUNTER is what CountAllocations.c was built into. Four times the layers may allocate four times as often and as much; a pass
that is quadratic in its lists, texts or copies does sixteen times. No clock: the same on every machine.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

MODELS = '''
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 3.0, mask=mask)


def scale(x, out):
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


class Layers(torch.nn.Module):
    def __init__(self, count: int):
        super().__init__()
        self.count = count


class Launches(Layers):
    def forward(self, x):
        for _ in range(self.count):
            x = scale(x * 1.5 + 0.25, torch.empty_like(x)) * 0.5
        return x


class InPlace(Layers):
    def forward(self, x):
        x = x + 1.0
        for _ in range(self.count):
            scale(x, x)
        return x * 2.0


class Sum(Layers):
    def forward(self, x):
        total = x
        for _ in range(self.count):
            total = total + scale(x, torch.empty_like(x))
        return total


class Pointwise(Layers):
    def forward(self, x):
        for _ in range(self.count):
            x = torch.relu(x * 1.01) + 0.5
        return x


class Views(Layers):
    def forward(self, x):
        for _ in range(self.count):
            x = x + x.view(4, 16).t().reshape(64)
        return x


class Linears(torch.nn.Module):
    def __init__(self, count: int):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(16, 16) for _ in range(count)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x)) + x
        return x
'''
SMALL = 150
INPUTS = {"Views": "x=f32[64]", "Linears": "x=f32[n:1..64,16]"}


def allocations(program, counter, folder, model, count):
    """How often and how many bytes the compiler itself allocates; its workers are other processes."""
    command = [program, "compile", f"{folder}/models.py:{model}", "--init", f"count={count}", "--target", "cpu:x86-64-v3",
               "--input", INPUTS.get(model, "x=f32[n:1..4000]"), "-o", folder / "model.plc"]
    process = subprocess.Popen([str(part) for part in command], env=os.environ | {"LD_PRELOAD": counter, "COUNT_ALLOCATIONS": f"{folder}/count"},
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = process.communicate()[1]
    assert process.returncode == 0, error
    return [int(word) for word in (folder / f"count.{process.pid}").read_text().split()]


def main():
    program, counter = sys.argv[1:3]
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "models.py").write_text(MODELS)
        for model in ("Launches", "InPlace", "Sum", "Pointwise", "Views", "Linears"):
            small, large = (allocations(program, counter, folder, model, count) for count in (SMALL, 4 * SMALL))
            growth = [b / a for a, b in zip(small, large)]
            wrong = not all(1.2 < g < 6 for g in growth)  # what a process begins with is the same for both
            failed |= wrong
            print(f"{'FAILED' if wrong else 'ok'} {model}: {small[0]} allocations for {SMALL} layers, {growth[0]:.2f} times as many for "
                  f"{4 * SMALL}; {small[1]} bytes, {growth[1]:.2f} times")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
