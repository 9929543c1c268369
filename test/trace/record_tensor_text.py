#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tensor_text.txt: how PyTorch prints random tensors. usage: record_tensor_text.py > tensor_text.txt"""
import random

import torch

random.seed(7)
torch.manual_seed(7)


def tensor():
    kind = random.choice(["float32"] * 5 + ["float64", "bfloat16", "float16", "int64", "int32", "uint8", "bool", "int8"])
    dtype = getattr(torch, kind)
    rank = random.choice([0, 1, 1, 1, 2, 2, 2, 3, 4])
    shape = [random.choice([0, 1, 2, 3, 5, 9, 14]) if random.random() < 0.9 else 30 for _ in range(rank)]
    while torch.Size(shape).numel() > 120:
        shape[random.randrange(rank)] = 2
    if dtype == torch.bool:
        return torch.rand(shape) > 0.5
    if not dtype.is_floating_point:
        low = 0 if kind == "uint8" else -100
        return torch.randint(low, 100, shape).to(dtype)
    x = torch.randn(shape) * random.choice([1, 1, 1e-5, 1e3, 1e9, 1e-3])
    if random.random() < 0.3:
        x = x.round()
    for special in (float("nan"), float("inf"), float("-inf"), 0.0, -0.0):
        if x.numel() and random.random() < 0.15:
            x.view(-1)[random.randrange(x.numel())] = special
    return x.to(dtype)


def bits(x):
    width = x.element_size()
    plain = x.contiguous().view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[width]) if x.dtype != torch.bool else x.to(torch.uint8)
    return ",".join(format(v & (1 << 8 * width) - 1, "x") for v in plain.reshape(-1).tolist())


for i in range(300):
    x = tensor()
    options = dict(precision=4, threshold=1000, edgeitems=3, linewidth=80, sci_mode=None)
    if random.random() < 0.4:
        options = dict(precision=random.choice([2, 4, 8]), threshold=random.choice([1000, 10, 30]), edgeitems=random.choice([1, 2, 3]), linewidth=random.choice([40, 80, 120]), sci_mode=random.choice([None, None, True, False]))
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**options)
    sci = {None: "-", True: "1", False: "0"}[options["sci_mode"]]
    print(str(x.dtype).partition(".")[2], "x".join(map(str, x.shape)) or "-", options["precision"], options["threshold"], options["edgeitems"], options["linewidth"], sci, bits(x) or "-", repr(x).replace("\n", "\\n"), sep="\t")
