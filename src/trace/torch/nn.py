# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F


class Module(_Hooked):
    training = False

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return self._called(args, kwargs) if "_hooks" in vars(self) else self.forward(*args, **kwargs)

    def eval(self):
        return self

    def train(self, mode=True):
        return self

    def to(self, *args, **kwargs):
        return self

    def cuda(self, *args):
        return self

    def cpu(self):
        return self

    def requires_grad_(self, value=True):
        return self

    def register_buffer(self, name, tensor, persistent=True):
        setattr(self, name, tensor)

    def register_parameter(self, name, parameter):
        setattr(self, name, parameter)

    def add_module(self, name, module):
        setattr(self, name, module)

    def register_module(self, name, module):
        setattr(self, name, module)

    def named_children(self):
        return iter([(name, value) for name, value in vars(self).items() if isinstance(value, Module)])

    def children(self):
        return iter([module for _, module in self.named_children()])

    def named_modules(self, memo=None, prefix=""):
        found = [(prefix, self)]
        for name, child in self.named_children():
            found.extend(child.named_modules(None, prefix + "." + name if prefix else name))
        return iter(found)

    def modules(self):
        return iter([module for _, module in self.named_modules()])

    def named_parameters(self, prefix="", recurse=True):
        found = []
        for path, module in self.named_modules(None, prefix) if recurse else [(prefix, self)]:
            for name, value in vars(module).items():
                if isinstance(value, Parameter):
                    found.append((path + "." + name if path else name, value))
        return iter(found)

    def parameters(self, recurse=True):
        return iter([parameter for _, parameter in self.named_parameters("", recurse)])

    def apply(self, function):
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def extra_repr(self):
        return ""


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_uniform([out_features, in_features], in_features, dtype))
        self.bias = Parameter(_uniform([out_features], in_features, dtype)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = Parameter(_uniform([num_embeddings, embedding_dim], 1, dtype))

    def forward(self, x):
        return F.embedding(x, self.weight)


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self.eps = eps
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.bias = Parameter(torch.zeros(self.normalized_shape, dtype=dtype)) if elementwise_affine and bias else None

    def forward(self, x):
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self.eps = eps
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class Pointwise(Module):
    """An activation without parameters; `function` is set by each."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, x):
        return self.function(x, inplace=True) if self.inplace else self.function(x)


class SiLU(Pointwise):
    function = staticmethod(F.silu)


class ReLU(Pointwise):
    function = staticmethod(F.relu)


class ReLU6(Pointwise):
    function = staticmethod(F.relu6)


class Hardswish(Pointwise):
    function = staticmethod(F.hardswish)


class Hardsigmoid(Module):
    def forward(self, x):
        return F.hardsigmoid(x)


class Mish(Module):
    def forward(self, x):
        return F.mish(x)


class Sigmoid(Module):
    def forward(self, x):
        return torch.sigmoid(x)


class LogSigmoid(Module):
    def forward(self, x):
        return F.logsigmoid(x)


class Tanh(Module):
    def forward(self, x):
        return torch.tanh(x)


class Softplus(Module):
    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, x):
        return F.softplus(x, self.beta, self.threshold)


class LeakyReLU(Module):
    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, x):
        return F.leaky_relu(x, self.negative_slope, inplace=self.inplace)


class ELU(Module):
    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, x):
        return F.elu(x, self.alpha, inplace=self.inplace)


class GELU(Module):
    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, x):
        return F.gelu(x, approximate=self.approximate)


class Softmax(Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return F.softmax(x, self.dim)


class LogSoftmax(Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return F.log_softmax(x, self.dim)


class GLU(Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return F.glu(x, self.dim)


class Identity(Module):
    def forward(self, x):
        return x


class Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p

    def forward(self, x):
        return x


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x):
        return torch.flatten(x, self.start_dim, self.end_dim)


class BatchNorm1d(Module):
    """With the running statistics, as in evaluation."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__()
        if not track_running_stats:
            raise NotImplementedError("batch norm without running statistics")
        self.eps = eps
        self.weight = Parameter(torch.ones(num_features, dtype=dtype)) if affine else None
        self.bias = Parameter(torch.zeros(num_features, dtype=dtype)) if affine else None
        self.register_buffer("running_mean", torch.zeros(num_features, dtype=dtype))
        self.register_buffer("running_var", torch.ones(num_features, dtype=dtype))

    def forward(self, x):
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0.1, self.eps)


class BatchNorm2d(BatchNorm1d):
    pass


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        self.num_groups, self.eps = num_groups, eps
        self.weight = Parameter(torch.ones(num_channels, dtype=dtype)) if affine else None
        self.bias = Parameter(torch.zeros(num_channels, dtype=dtype)) if affine else None

    def forward(self, x):
        return F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


class Container(Module):
    """Modules or parameters by name, in order."""

    def __init__(self):
        super().__init__()
        self._names = []

    def _add(self, name, value):
        if name not in self._names:
            self._names.append(name)
        setattr(self, name, value)

    def _all(self):
        return [getattr(self, name) for name in self._names]

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

    def __getitem__(self, index):
        return self._all()[index]


class ModuleList(ListContainer):
    pass


class ParameterList(ListContainer):
    def append(self, value):
        return super().append(value if isinstance(value, Parameter) else Parameter(value))


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
        return getattr(self, name)

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
    pass


class Sequential(ListContainer):
    def __init__(self, *modules):
        Container.__init__(self)
        if len(modules) == 1 and hasattr(modules[0], "items"):
            for name, module in modules[0].items():
                self._add(name, module)
        else:
            self.extend(modules)

    def forward(self, x):
        for module in self._all():
            x = module(x)
        return x
