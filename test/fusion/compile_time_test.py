#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the time from source to package, code generation apart, to grow linearly with the graph.

    compile_time_test.py PROGRAM

Four times the nodes may take 4 times as long; 8 leaves room for a busy machine, and a quadratic pass takes 16.
"""
import json
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
INPUTS = {"Views": "x=f32[64]", "Linears": "x=f32[n:1..64,16]"}


def seconds(program, folder, model, count):
    command = [program, "compile", f"{folder}/models.py:{model}", "--init", f"count={count}", "--json", "--target",
               "cpu:x86-64-v3", "--input", INPUTS.get(model, "x=f32[n:1..4000]"), "-o", folder / "model.plc"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return report["seconds"] - report["stages"]["generate code"]


def main():
    program = sys.argv[1]
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "models.py").write_text(MODELS)
        for model in ("Launches", "InPlace", "Sum", "Pointwise", "Views", "Linears"):
            small, large = (min(seconds(program, folder, model, count) for _ in range(2)) for count in (150, 600))
            # What takes no time cannot be told from noise.
            wrong = large > 8 * max(small, 0.03)
            failed |= wrong
            print(f"{'FAILED' if wrong else 'ok'} {model}: {small:.3f} s for 150 layers, {large:.3f} s for 600")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
