# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.parametrize, parametrizations, and the norms of weights that hooks compute."""
import torch
import torch.nn as nn
import torch.nn.functional as F

# How deep `with cached()` is, and what was computed since it was entered.
_depth, _known = [0], {}


class cached:
    """Inside, a parametrised tensor is computed once."""

    def __enter__(self):
        _depth[0] += 1

    def __exit__(self, *exception):
        _depth[0] -= 1
        if _depth[0] == 0:
            _known.clear()
        return False


def _held(original):
    return original if isinstance(original, nn.Parameter) or not original.is_floating_point() else nn.Parameter(original)


class ParametrizationList(nn.ModuleList):
    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe, self._wants = unsafe, original.requires_grad
        shape, dtype = original.shape, original.dtype
        with torch.no_grad():
            made = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    made = module.right_inverse(made)
        if not isinstance(made, torch.Tensor) and not isinstance(made, (list, tuple)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(made).__name__}")
        self.is_tensor = isinstance(made, torch.Tensor)
        self.ntensors = 1 if self.is_tensor else len(made)
        if self.is_tensor:
            if not unsafe and made.dtype != dtype:
                raise ValueError(f"When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: {dtype}\nright_inverse(original).dtype: {made.dtype}")
            self._place("original", original, made)
        else:
            for i, part in enumerate(made):
                self._place(f"original{i}", original, part)
        if not unsafe:
            again = self()
            if list(again.shape) != list(shape):
                raise ValueError(f"The shape of the tensor may not change: it was {tuple(shape)} and is {tuple(again.shape)}; see unsafe=True")

    def _place(self, name, original, made):
        if isinstance(original, nn.Parameter):
            setattr(self, name, nn.Parameter(made.detach().clone() if made is not original else original.detach(), requires_grad=self._wants))
        else:
            self.register_buffer(name, made.detach())

    def right_inverse(self, value):
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self.original.copy_(value)
            else:
                for i, part in enumerate(value):
                    getattr(self, f"original{i}").copy_(part)

    def forward(self):
        modules = list(self)
        if self.is_tensor:
            x = modules[0](self.original)
        else:
            x = modules[0](*[getattr(self, f"original{i}") for i in range(self.ntensors)])
        for module in modules[1:]:
            x = module(x)
        return x


def _property(name):
    def get(self):
        if _depth[0] == 0:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _known:
            _known[key] = self.parametrizations[name]()
        return _known[key]

    def set(self, value):
        self.parametrizations[name].right_inverse(value)

    return property(get, set)


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        before = getattr(module, tensor_name)
        after = parametrization(before)
        if not unsafe and (list(after.shape) != list(before.shape) or after.dtype != before.dtype):
            raise ValueError(f"Registering a parametrization may not change the shape or dtype of the tensor: {tuple(before.shape)} became {tuple(after.shape)}")
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    held = vars(module).get(tensor_name)
    if not isinstance(held, torch.Tensor):
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    listed = ParametrizationList([parametrization], held, unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        plain = type(module)
        made = type("Parametrized" + plain.__name__, (plain,), {})
        made._plain_class = plain
        module.__class__ = made
        module.parametrizations = nn.ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = listed
    return module


def is_parametrized(module, tensor_name=None):
    listed = vars(module).get("parametrizations")
    if not isinstance(listed, nn.ModuleDict):
        return False
    return len(listed) > 0 if tensor_name is None else tensor_name in listed


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed = module.parametrizations[tensor_name]
    if not leave_parametrized and not listed.is_tensor:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    first = listed.original if listed.is_tensor else listed.original0
    with torch.no_grad():
        value = getattr(module, tensor_name) if leave_parametrized else listed.original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module)._plain_class
    if isinstance(first, nn.Parameter):
        setattr(module, tensor_name, nn.Parameter(value.detach(), requires_grad=first.requires_grad))
    else:
        module.register_buffer(tensor_name, value.detach())
    return module


# --- parametrizations


class _WeightNorm(nn.Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return torch._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return torch.norm_except_dim(weight, 2, self.dim), weight


def _weight_norm(module, name="weight", dim=0):
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(nn.Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if dim >= weight.dim() or dim < -weight.dim():
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim if dim >= 0 else dim + weight.dim(), eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight.detach())
            u = matrix.new_empty(matrix.shape[0]).normal_(0, 1)
            v = matrix.new_empty(matrix.shape[1]).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute([self.dim] + [d for d in range(weight.dim()) if d != self.dim])
        return weight.flatten(1)

    def _power_method(self, matrix, count):
        with torch.no_grad():
            u, v = self._u, self._v
            for _ in range(count):
                u = F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps)
                v = F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps)
            self._u.copy_(u)
            self._v.copy_(v)

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))

    def right_inverse(self, value):
        return value


def _default_dim(module):
    return 1 if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)) else 0


def _spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = _default_dim(module) if dim is None else dim
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


def _orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    raise NotImplementedError("torch.nn.utils.parametrizations.orthogonal; register_parametrization takes a module that computes one, such as torch.matrix_exp of a skew matrix")


# --- the norms of before, computed by a hook at every call


class _HookedWeightNorm:
    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute(self, module):
        return torch._weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute(module))


def _hooks_of(module, kind, name):
    return [hook for hook in vars(module).get("_weight_hooks", []) if isinstance(hook, kind) and hook.name == name]


def _hook(module, hook):
    if "_weight_hooks" not in vars(module):
        module._weight_hooks = []
    hook.handle = module.register_forward_pre_hook(hook)
    module._weight_hooks.append(hook)


def weight_norm(module, name="weight", dim=0):
    if _hooks_of(module, _HookedWeightNorm, name):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    weight, hook = getattr(module, name), _HookedWeightNorm(name, dim)
    delattr(module, name)
    module.register_parameter(name + "_g", nn.Parameter(torch.norm_except_dim(weight.detach(), 2, hook.dim)))
    module.register_parameter(name + "_v", nn.Parameter(weight.detach()))
    setattr(module, name, hook.compute(module))
    _hook(module, hook)
    return module


def _unhook(module, hook):
    hook.handle.remove()
    module._weight_hooks.remove(hook)


def remove_weight_norm(module, name="weight"):
    for hook in _hooks_of(module, _HookedWeightNorm, name):
        weight = hook.compute(module).detach()
        for part in (name, name + "_g", name + "_v"):
            delattr(module, part)
        setattr(module, name, nn.Parameter(weight))
        _unhook(module, hook)
        return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")


class _HookedSpectralNorm:
    def __init__(self, name, n_power_iterations, dim, eps):
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute([self.dim] + [d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute(self, module, iterates):
        weight, u, v = (getattr(module, self.name + part) for part in ("_orig", "_u", "_v"))
        matrix = self.matrix(weight)
        if iterates:
            with torch.no_grad():
                new_u, new_v = u, v
                for _ in range(self.n_power_iterations):
                    new_v = F.normalize(torch.mv(matrix.detach().t(), new_u), dim=0, eps=self.eps)
                    new_u = F.normalize(torch.mv(matrix.detach(), new_v), dim=0, eps=self.eps)
                u.copy_(new_u)
                v.copy_(new_v)
        u, v = u.clone(), v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if _hooks_of(module, _HookedSpectralNorm, name):
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = _HookedSpectralNorm(name, n_power_iterations, _default_dim(module) if dim is None else dim, eps)
    weight = getattr(module, name)
    matrix = hook.matrix(weight.detach())
    u = F.normalize(matrix.new_empty(matrix.shape[0]).normal_(0, 1), dim=0, eps=eps)
    v = F.normalize(matrix.new_empty(matrix.shape[1]).normal_(0, 1), dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    _hook(module, hook)
    return module


def remove_spectral_norm(module, name="weight"):
    for hook in _hooks_of(module, _HookedSpectralNorm, name):
        with torch.no_grad():
            weight = hook.compute(module, False)
        for part in (name, name + "_u", name + "_v", name + "_orig"):
            delattr(module, part)
        setattr(module, name, nn.Parameter(weight.detach()))
        _unhook(module, hook)
        return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
