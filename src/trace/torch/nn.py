# SPDX-License-Identifier: Apache-2.0
from collections.abc import MutableMapping as _MutableMapping

import torch
import torch.nn.functional as F


class _Held(_MutableMapping):
    """What a module holds of one kind, by name: `_parameters`, `_buffers` and `_modules`. The module's own attributes are the only record."""

    def __init__(self, module, kind, holds):
        self._module, self._kind, self._holds = module, kind, holds

    def _found(self):
        return {name: value for name, value in vars(self._module).items() if self._holds(self._module, name, value)}

    def __getitem__(self, name):
        found = self._found()
        if name not in found:
            raise KeyError(name)
        return found[name]

    def __setitem__(self, name, value):
        if self._kind == "buffer" and value is not None and name not in self:
            self._module.register_buffer(name, value)
        else:
            setattr(self._module, name, value)

    def __delitem__(self, name):
        if name not in self:
            raise KeyError(name)
        delattr(self._module, name)

    def __iter__(self):
        return iter(self._found())

    def __len__(self):
        return len(self._found())

    def __contains__(self, name):
        return name in self._found()

    def __repr__(self):
        return repr(self._found())


class Module(_Hooked, _Saved, _Named):
    training = True
    _version = 1
    dump_patches = False

    def __init__(self, *args, **kwargs):
        name = type(self).__name__
        if kwargs:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{list(kwargs)[0]}'")
        if args:
            raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")

    def forward(self, *input):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    @property
    def _parameters(self):
        return _Held(self, "parameter", lambda module, name, value: isinstance(value, Parameter))

    @property
    def _buffers(self):
        return _Held(self, "buffer", lambda module, name, value: not isinstance(value, Parameter) and _is_buffer(module, name, value))

    @property
    def _modules(self):
        return _Held(self, "module", lambda module, name, value: isinstance(value, Module))

    def _reset_if_own(self, owner):
        """A layer that begins with constants: they stand already, but for a subclass that begins otherwise."""
        if type(self).reset_parameters is not owner.reset_parameters:
            self.reset_parameters()

    def _convert(self, dtype, floating_only):
        """The module's parameters and buffers hold `dtype` from here on; plain attributes stay."""
        done = set()
        for module in self.modules():
            for name, value in vars(module).items():
                registered = isinstance(value, Parameter) or _is_buffer(module, name, value)
                if registered and (value.is_floating_point() or not floating_only) and value not in done:
                    done.add(value)
                    _convert_in_place(value, dtype)
        return self

    def _move(self, device):
        """The module's parameters and buffers lie on `device` from here on."""
        done = set()
        for module in self.modules():
            for name, value in vars(module).items():
                registered = isinstance(value, Parameter) or _is_buffer(module, name, value)
                if registered and value not in done:
                    done.add(value)
                    _move_in_place(value, device)
        return self

    def _placed(self, device):
        """As a constructor was asked."""
        if device is not None:
            self._move(device)

    def to(self, *args, **kwargs):
        dtype = _conversion(*args, **kwargs)
        device = kwargs.get("device")
        for value in (*args, kwargs.get("tensor")):
            if isinstance(value, torch.Tensor):
                device = value.device
            elif isinstance(value, (str, int, torch.device)) and not isinstance(value, bool):
                device = value
        if device is not None:
            self._move(torch.device(device) if isinstance(device, str) else device)
        if kwargs.get("memory_format") is not None:
            for tensor in (*self.parameters(), *self.buffers()):
                _lay_in_place(tensor, kwargs["memory_format"])
        if dtype is None:
            return self
        if not dtype.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        return self._convert(dtype, True)

    def type(self, dst_type):
        return self._convert(dst_type, False)

    def float(self):
        return self._convert(torch.float32, True)

    def double(self):
        return self._convert(torch.float64, True)

    def half(self):
        return self._convert(torch.float16, True)

    def bfloat16(self):
        return self._convert(torch.bfloat16, True)

    def cuda(self, device=None):
        return self._move("cuda" if device is None else device)

    def cpu(self):
        return self._move("cpu")

    def xpu(self, device=None):
        return self

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        """The whole program is compiled, with or without it."""

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if parameter.grad.grad_fn is not None:
                parameter.grad.detach_()
            else:
                parameter.grad.requires_grad_(False)
            parameter.grad.zero_()

    def register_buffer(self, name, tensor, persistent=True):
        if "." in name or name == "":
            raise KeyError(f"buffer name can't be empty or contain '.', got '{name}'")
        if "_registered_buffers" not in vars(self):
            self._registered_buffers = {}
        if hasattr(self, name) and name not in self._registered_buffers:
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            raise TypeError(f"cannot assign '{type(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._registered_buffers[name] = persistent
        setattr(self, name, tensor)

    def register_parameter(self, name, param):
        if "." in name or name == "":
            raise KeyError(f"parameter name can't be empty or contain '.', got '{name}'")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{type(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        setattr(self, name, param)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module)} is not a Module subclass")
        if "." in name or name == "":
            raise KeyError(f"module name can't be empty or contain '.', got '{name}'")
        setattr(self, name, module)

    def register_module(self, name, module):
        self.add_module(name, module)

    def named_children(self):
        found, memo = [], set()
        for name, value in vars(self).items():
            if isinstance(value, Module) and value not in memo:
                memo.add(value)
                found.append((name, value))
        return iter(found)

    def children(self):
        return iter([module for _, module in self.named_children()])

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        return iter(_named_modules(Module, self, memo, prefix, remove_duplicate))

    def modules(self):
        return iter([module for _, module in self.named_modules()])

    def _named_tensors(self, accepts, prefix, recurse, remove_duplicate):
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        return iter(_named_tensors(Parameter, modules, accepts, remove_duplicate))

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_tensors(None, prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        return iter([parameter for _, parameter in self.named_parameters("", recurse)])

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_tensors(_is_buffer, prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        return iter([buffer for _, buffer in self.named_buffers("", recurse)])

    def apply(self, fn):
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def extra_repr(self):
        return torch._pellucid_module_text.extra_text(self)

    def __repr__(self):
        return torch._pellucid_module_text.module_text(self)


def _is_buffer(module, name, value):
    if not isinstance(value, torch.Tensor):
        return False
    return hasattr(value, "_buffer_persistent") or "_registered_buffers" in vars(module) and name in module._registered_buffers
