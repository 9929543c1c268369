#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/trace/torch/places.txt: in which of PyTorch's files its public classes and functions are. usage: record_torch_places.py > src/trace/torch/places.txt

A line is a file's module, the package that has its names, and the names. Imports from the file find what the package has, classes say the file in their text, and
so do torch.nn's private bases, which isinstance() is asked about and users derive from."""
import importlib
import inspect

import torch

PACKAGES = """torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrize torch.nn.utils.prune torch.optim
torch.optim.lr_scheduler torch.optim.swa_utils torch.utils.data torch.distributions torch.autograd torch.amp torch.cuda.amp torch.func torch.export torch.testing
torch.library torch.nn.parallel""".split()


def defined(value):
    return inspect.isclass(value) or inspect.isfunction(value)


def hidden(module):
    """torch.nn.utils.weight_norm is the function, not the file that it is in; torch.optim takes its files' names away, and they can be imported."""
    parent, _, name = module.rpartition(".")
    found = getattr(importlib.import_module(parent), name, None)
    return found is not None and not inspect.ismodule(found)


def found_at(module, name, value):
    try:
        return getattr(importlib.import_module(module), name, None) is value
    except ImportError:
        return False


places, seen = {}, set()
for package in PACKAGES:
    whole = importlib.import_module(package)
    for name in sorted(dir(whole)):
        value = getattr(whole, name)
        if name.startswith("_") or not defined(value) or name != value.__name__:
            continue
        module = value.__module__
        listed = module.startswith("torch.") and "._C" not in module and not module.startswith(("torch._", package + "._"))
        if listed and module not in PACKAGES and (module, name) not in seen and found_at(module, name, value) and not hidden(module):
            seen.add((module, name))
            places.setdefault((module, package), []).append(name)
for module, package in list(places):
    if module.startswith("torch.nn.modules."):
        file = importlib.import_module(module)
        private = [name for name, value in vars(file).items() if name.startswith("_") and inspect.isclass(value) and value.__module__ == module]
        places[module, package] = sorted(places[module, package] + private)

print(f"# torch {torch.__version__.split('+')[0]}")
for (module, package), names in sorted(places.items()):
    print(f"{module} {package}: {' '.join(names)}")
