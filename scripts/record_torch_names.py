#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/trace/torch/names.txt: the public names of PyTorch's modules, a line for each module. usage: record_torch_names.py > src/trace/torch/names.txt

A name that is not in it is no name of PyTorch: reading it is an AttributeError. One that is and has nothing behind it here is refused by
name where it is used."""
import importlib

import torch

MODULES = """torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.prune torch.nn.utils.parametrize
torch.nn.utils.parametrizations torch.nn.attention torch.nn.parallel torch.nn.parameter torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.linalg
torch.fft torch.special torch.random torch.autograd torch.autograd.functional torch.autograd.graph torch.autograd.profiler torch.utils torch.utils.data
torch.utils.checkpoint torch.utils.benchmark torch.utils.flop_counter torch.distributions torch.distributions.constraints torch.cuda torch.cuda.amp torch.amp
torch.cpu torch.mps torch.backends torch.backends.cudnn torch.backends.cuda torch.backends.mkldnn torch.func torch.export torch.compiler torch.library
torch.profiler torch.testing torch.overrides torch.types torch.jit torch.sparse torch.masked torch.nested torch.signal.windows torch.hub torch.version
torch.accelerator torch.return_types torch.package torch.quantization torch.futures torch.monitor torch.mtia torch.xpu""".split()

print(f"# torch {torch.__version__.split('+')[0]}")
for name in MODULES:
    module = importlib.import_module(name)
    names = sorted({n for n in dir(module) if not n.startswith("_")})
    if name == "torch":
        names = sorted({*names, "distributed", "fx", "hub", "onnx", "quasirandom", "sparse", "storage", "utils", "ao", "classes", "ops", "export"})
    print(f"{name}: {' '.join(names)}")
print("torch.Tensor:", " ".join(sorted(n for n in dir(torch.Tensor) if not n.startswith("_"))))
