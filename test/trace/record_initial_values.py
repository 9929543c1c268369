# SPDX-License-Identifier: Apache-2.0
"""Writes initial_values.expected: what PyTorch's constructors and torch.nn.init make of initial_values.txt.

    OMP_NUM_THREADS=1 python test/trace/record_initial_values.py     # with PyTorch, on a processor with AVX2

A line is SEED | STATEMENTS. The statements are the body of a module's constructor; afterwards every parameter and
persistent buffer is written down by its name, dtype, shape, first element and the FNV-1a hash of its bytes.
"""
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F  # noqa: F401

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64", torch.int32: "i32", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool"}


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def model(statements):
    text = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    for line in statements.split("; "):
        text += f"        {line}\n"
    scope = {"torch": torch, "nn": nn}
    exec(text, scope)
    return scope["Net"]


def main():
    assert torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512"), "its transforms depend on the processor"
    torch.set_num_threads(1)
    out = [f"# torch {torch.__version__.split('+')[0]}"]
    for line in (HERE / "initial_values.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        seed, statements = line.split(" | ", 1)
        torch.manual_seed(int(seed))
        out.append(line)
        for name, value in model(statements)().state_dict().items():
            value = value.detach().contiguous()
            data = value.reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
            shape = "x".join(map(str, value.shape)) or "-"
            out.append(f"  {name} {NAMES[value.dtype]} {shape} {fnv(data):016x}")
    (HERE / "initial_values.expected").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
