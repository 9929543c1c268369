# SPDX-License-Identifier: Apache-2.0
import _programs
import torch
import torch.nn

_backends = ("inductor", "pellucid", "eager", "aot_eager", "cudagraphs")
_modes = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


class OptimizedModule(torch.nn.Module):
    """What torch.compile gives for a module: the module, whose calls are compiled."""

    def __init__(self, module, fullgraph, dynamic):
        super().__init__()
        self._orig_mod = module
        self._compiled_call = _programs.compiled(module, fullgraph, dynamic)

    def __call__(self, *args, **kwargs):
        return self._compiled_call(*args, **kwargs)

    def forward(self, *args, **kwargs):
        return self._compiled_call(*args, **kwargs)

    def __getattr__(self, name):
        if name in ("_orig_mod", "_compiled_call"):
            raise AttributeError(name)
        return getattr(self._orig_mod, name)

    def train(self, mode=True):
        self._orig_mod.train(mode)
        return self

    def eval(self):
        return self.train(False)


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    if mode not in _modes:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: default, reduce-overhead, max-autotune, max-autotune-no-cudagraphs")
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if options:
        raise NotImplementedError(f"torch.compile: options ({', '.join(options)}) are not supported; leave them out")
    if not isinstance(backend, str) or backend not in _backends:
        from torch._dynamo.exc import InvalidBackend

        raise InvalidBackend(f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available backends.")
    if model is None:
        return lambda model: compile(model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable)
    if not callable(model):
        raise RuntimeError("torch.compile: model must be callable")
    if disable or backend == "eager":
        return model
    if isinstance(model, torch.nn.Module):
        return OptimizedModule(model, bool(fullgraph), dynamic)
    return _programs.compiled(model, bool(fullgraph), dynamic)
