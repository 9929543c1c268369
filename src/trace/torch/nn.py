# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F


class Module(_Hooked, _Saved, _Named):
    training = True

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


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_default_weight(torch.empty([out_features, in_features], dtype=dtype)))
        self.bias = Parameter(_default_bias(torch.empty([out_features], dtype=dtype), self.weight)) if bias else None
        self._placed(device)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)


class _Convolution(Module):
    """Its subclasses say `_spatial`, the number of spatial dims."""

    def __init__(self, transposed, in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, bias, padding_mode, dtype):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"padding_mode must be one of {{'zeros', 'reflect', 'replicate', 'circular'}}, but got padding_mode='{padding_mode}'")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = self._each(kernel_size)
        self.stride = self._each(stride)
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.dilation = self._each(dilation)
        self.transposed = transposed
        self.output_padding = self._each(output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        channels = [in_channels, out_channels // groups] if transposed else [out_channels, in_channels // groups]
        self.weight = Parameter(_default_weight(torch.empty([*channels, *self.kernel_size], dtype=dtype)))
        self.bias = Parameter(_default_bias(torch.empty([out_channels], dtype=dtype), self.weight)) if bias else None

    def _each(self, value):
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * self._spatial

    def _convolve(self, function, input):
        if self.padding_mode == "zeros":
            return function(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        sides = []
        for d in reversed(range(self._spatial)):
            if self.padding == "same":
                whole = self.dilation[d] * (self.kernel_size[d] - 1)
                sides += [whole // 2, whole - whole // 2]
            else:
                sides += [0, 0] if self.padding == "valid" else [self.padding[d], self.padding[d]]
        padded = F.pad(input, sides, mode=self.padding_mode)
        return function(padded, self.weight, self.bias, self.stride, (0,) * self._spatial, self.dilation, self.groups)

    def _spread(self, function, input, output_size):
        extra = self.output_padding
        if output_size is not None:
            wanted = list(output_size)[-self._spatial:]
            extra = []
            for d in range(self._spatial):
                least = (input.shape[d - self._spatial] - 1) * self.stride[d] - 2 * self.padding[d] + self.dilation[d] * (self.kernel_size[d] - 1) + 1
                if not least <= wanted[d] < least + self.stride[d]:
                    raise ValueError(f"requested an output size of {wanted}, but valid sizes of dim {d} range from {least} to {least + self.stride[d] - 1}")
                extra.append(wanted[d] - least)
        return function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class Conv1d(_Convolution):
    _spatial = 1

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__(False, in_channels, out_channels, kernel_size, stride, padding, 0, dilation, groups, bias, padding_mode, dtype)
        self._placed(device)

    def forward(self, input):
        return self._convolve(F.conv1d, input)


class Conv2d(_Convolution):
    _spatial = 2

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__(False, in_channels, out_channels, kernel_size, stride, padding, 0, dilation, groups, bias, padding_mode, dtype)
        self._placed(device)

    def forward(self, input):
        return self._convolve(F.conv2d, input)


class Conv3d(_Convolution):
    _spatial = 3

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__(False, in_channels, out_channels, kernel_size, stride, padding, 0, dilation, groups, bias, padding_mode, dtype)
        self._placed(device)

    def forward(self, input):
        return self._convolve(F.conv3d, input)


class ConvTranspose1d(_Convolution):
    _spatial = 1

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None
    ):
        super().__init__(True, in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, bias, padding_mode, dtype)
        self._placed(device)

    def forward(self, input, output_size=None):
        return self._spread(F.conv_transpose1d, input, output_size)


class ConvTranspose2d(_Convolution):
    _spatial = 2

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None
    ):
        super().__init__(True, in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, bias, padding_mode, dtype)
        self._placed(device)

    def forward(self, input, output_size=None):
        return self._spread(F.conv_transpose2d, input, output_size)


class ConvTranspose3d(_Convolution):
    _spatial = 3

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None
    ):
        super().__init__(True, in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, bias, padding_mode, dtype)
        self._placed(device)

    def forward(self, input, output_size=None):
        return self._spread(F.conv_transpose3d, input, output_size)


class Embedding(Module):
    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx if padding_idx is None or padding_idx >= 0 else num_embeddings + padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            self.weight = Parameter(_normal(torch.empty([num_embeddings, embedding_dim], dtype=dtype)))
            if padding_idx is not None:
                self.weight.data[self.padding_idx] = 0
        elif list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(_weight)
        if _freeze:
            self.weight.requires_grad_(False)
        self._placed(device)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.bias = Parameter(torch.zeros(self.normalized_shape, dtype=dtype)) if elementwise_affine and bias else None
        self._placed(device)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self._placed(device)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x):
        return torch.flatten(x, self.start_dim, self.end_dim)


class _OfChannels(Module):
    """What norms of channels hold: a factor and a summand for each, and running statistics."""

    def _keep(self, num_features, eps, momentum, affine, track_running_stats, dtype):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(torch.ones(num_features, dtype=dtype)) if affine else None
        self.bias = Parameter(torch.zeros(num_features, dtype=dtype)) if affine else None
        self.register_buffer("running_mean", torch.zeros(num_features, dtype=dtype) if track_running_stats else None)
        self.register_buffer("running_var", torch.ones(num_features, dtype=dtype) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.int64) if track_running_stats else None)

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()


class _BatchNorm(_OfChannels):
    """With the running statistics after eval(), else with the batch's, which the running ones follow."""

    # What torch's own loading does without, for files from before there was a count.
    _optional_keys = ("num_batches_tracked",)

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__()
        self._keep(num_features, eps, momentum, affine, track_running_stats, dtype)
        self._placed(device)

    def _check_input_dim(self, input):
        pass

    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a mean of all batches
                momentum = 1.0 / self.num_batches_tracked.item()
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        mean = self.running_mean if not self.training or self.track_running_stats else None
        variance = self.running_var if not self.training or self.track_running_stats else None
        return F.batch_norm(input, mean, variance, self.weight, self.bias, of_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    def _check_input_dim(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.weight = Parameter(torch.ones(num_channels, dtype=dtype)) if affine else None
        self.bias = Parameter(torch.zeros(num_channels, dtype=dtype)) if affine else None
        self._placed(device)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class Container(Module):
    """Modules or parameters by name, in order."""

    def __init__(self):
        super().__init__()
        self._names = []

    # A module that becomes an attribute, by add_module() too, is one of the container's.
    def __setattr__(self, name, value):
        if isinstance(value, Module) and name not in self._names:
            self._names.append(name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._names:
            self._names.remove(name)
        super().__delattr__(name)

    def _add(self, name, value):
        if not isinstance(self, (ParameterList, ParameterDict)) and isinstance(value, (int, float, str, list, tuple, dict, torch.Tensor)):
            raise TypeError(f"{type(value).__name__} is not a Module subclass")
        if name not in self._names:
            self._names.append(name)
        setattr(self, name, value)

    def _all(self):
        return [getattr(self, name) for name in self._names]

    def _drop(self, name):
        delattr(self, name)

    def _become(self, values):
        """`values` in the place of all that is here, numbered anew."""
        for name in list(self._names):
            self._drop(name)
        for i, value in enumerate(values):
            self._add(str(i), value)

    def __len__(self):
        return len(self._names)


class ListContainer(Container):
    def __init__(self, values=None):
        super().__init__()
        self.extend(values if values is not None else [])

    def append(self, value):
        self._add(str(len(self._names)), value)
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __iter__(self):
        return iter(self._all())

    def _name_at(self, index):
        size = len(self._names)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return self._names[index]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self._all()[index])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index, value):
        setattr(self, self._name_at(index), value)

    def __delitem__(self, index):
        values = self._all()
        del values[index]
        self._become(values)

    def insert(self, index, value):
        values = self._all()
        values.insert(index, value)
        self._become(values)

    def pop(self, index):
        value = self[index]
        del self[index]
        return value

    def __iadd__(self, values):
        return self.extend(values)


class ModuleList(ListContainer):
    def __add__(self, other):
        return ModuleList(self._all() + list(other))


def _parameter_of(value):
    return Parameter(value) if isinstance(value, torch.Tensor) and not isinstance(value, Parameter) else value


class ParameterList(ListContainer):
    def append(self, value):
        return super().append(_parameter_of(value))

    def __setitem__(self, index, value):
        super().__setitem__(index, _parameter_of(value))


class DictContainer(Container):
    def __init__(self, values=None):
        super().__init__()
        self.update(values if values is not None else {})

    def update(self, values):
        for name, value in values.items() if hasattr(values, "items") else values:
            self[name] = value

    def __setitem__(self, name, value):
        self._add(name, value)

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        return getattr(self, name)

    def __delitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        self._drop(name)

    def pop(self, name):
        value = self[name]
        self._drop(name)
        return value

    def clear(self):
        for name in list(self._names):
            self._drop(name)

    def __contains__(self, name):
        return name in self._names

    def __iter__(self):
        return iter(self._names)

    def keys(self):
        return self._names

    def values(self):
        return self._all()

    def items(self):
        return [(name, getattr(self, name)) for name in self._names]


class ModuleDict(DictContainer):
    pass


class ParameterDict(DictContainer):
    def __setitem__(self, name, value):
        self._add(str(name), _parameter_of(value))

    def get(self, name, default=None):
        return self[name] if name in self else default

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def popitem(self):
        name = self._names[-1]
        return name, self.pop(name)

    def copy(self):
        return ParameterDict({name: self[name] for name in self._names})

    def fromkeys(self, keys, default=None):
        return ParameterDict({name: default for name in keys})


class Sequential(ListContainer):
    def __init__(self, *modules):
        Container.__init__(self)
        if len(modules) == 1 and hasattr(modules[0], "items"):
            for name, module in modules[0].items():
                self._add(name, module)
        else:
            for i, module in enumerate(modules):
                self._add(str(i), module)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)({name: getattr(self, name) for name in self._names[index]})
        return super().__getitem__(index)

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        made = Sequential()
        for module in self._all() + other._all():
            made.append(module)
        return made

    def __mul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        made = Sequential()
        for _ in range(other):
            for module in self._all():
                made.append(module)
        return made

    def forward(self, x):
        for module in self._all():
            x = module(x)
        return x
