# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.prune: masks of parameters, which a hook multiplies in at every call."""
import torch


def _count(amount, size):
    """How many of `size`, where `amount` is a number of them or a part."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if isinstance(amount, int) and amount < 0 or isinstance(amount, float) and not 0.0 <= amount <= 1.0:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    if isinstance(amount, int) and amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount if isinstance(amount, int) else round(amount * size)


class BasePruningMethod:
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        raise NotImplementedError

    def apply_mask(self, module):
        return getattr(module, self._tensor_name + "_mask").to(getattr(module, self._tensor_name + "_orig").dtype) * getattr(module, self._tensor_name + "_orig")

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def prune(self, t, default_mask=None, importance_scores=None):
        mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(t if importance_scores is None else importance_scores, mask)

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        method = cls(*args, **kwargs)
        method._tensor_name = name
        before = [hook for hook in vars(module).get("_prune_hooks", []) if hook._tensor_name == name]
        if before:
            original, mask = getattr(module, name + "_orig"), getattr(module, name + "_mask")
        else:
            original, mask = getattr(module, name), None
        scores = original if importance_scores is None else importance_scores
        if list(scores.shape) != list(original.shape):
            raise AssertionError(f"importance_scores should have the same shape as parameter                 {name} of {module}")
        with torch.no_grad():
            made = _within(method, scores.detach(), torch.ones_like(original) if mask is None else mask)
        if before:
            _drop_hook(module, before[0])
        else:
            delattr(module, name)
            module.register_parameter(name + "_orig", original)
        if hasattr(module, name + "_mask"):
            getattr(module, name + "_mask").copy_(made)
        else:
            module.register_buffer(name + "_mask", made)
        setattr(module, name, method.apply_mask(module))
        if "_prune_hooks" not in vars(module):
            module._prune_hooks = []
        method._handle = module.register_forward_pre_hook(method)
        module._prune_hooks.append(method)
        return method

    def remove(self, module):
        name = self._tensor_name
        weight, original = self.apply_mask(module), getattr(module, name + "_orig")
        with torch.no_grad():
            original.copy_(weight)
        for part in (name, name + "_orig", name + "_mask"):
            delattr(module, part)
        setattr(module, name, original)


def _drop_hook(module, hook):
    hook._handle.remove()
    module._prune_hooks.remove(hook)


def _within(method, t, mask):
    """A mask of what the mask before left."""
    kind = method.PRUNING_TYPE
    if kind == "global" or bool((mask == 1).all()):
        return method.compute_mask(t, mask)
    made = mask.clone()
    if kind == "unstructured":
        places = torch.nonzero(mask.reshape(-1) == 1).reshape(-1)
        part = method.compute_mask(t.reshape(-1)[places], torch.ones(places.shape[0], dtype=mask.dtype))
        flat = made.reshape(-1)
        flat[places] = part
        return flat.reshape(mask.shape)
    dim = method.dim % t.dim()
    others = [d for d in range(t.dim()) if d != dim]
    kept = torch.nonzero(mask.sum(others) != 0).reshape(-1)
    part = method.compute_mask(t.index_select(dim, kept), mask.index_select(dim, kept))
    return made.index_copy(dim, kept, part)


class Identity(BasePruningMethod):
    def compute_mask(self, t, default_mask):
        return default_mask


class _OfAmount(BasePruningMethod):
    def __init__(self, amount):
        _count(amount, float("inf") if isinstance(amount, int) else 1)
        self.amount = amount

    def _without(self, scores, default_mask, largest):
        mask, size = default_mask.clone(), scores.numel()
        count = _count(self.amount, size)
        if count == 0:
            return mask
        flat = mask.reshape(-1)
        flat[torch.topk(scores.reshape(-1), count, largest=largest).indices] = 0
        return flat.reshape(mask.shape)


class RandomUnstructured(_OfAmount):
    def compute_mask(self, t, default_mask):
        return self._without(torch.rand_like(t), default_mask, True)


class L1Unstructured(_OfAmount):
    def compute_mask(self, t, default_mask):
        return self._without(torch.abs(t), default_mask, False)


class _Structured(_OfAmount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def _of_channels(self, t, default_mask, kept):
        shape = [1] * t.dim()
        shape[self.dim] = t.shape[self.dim]
        return default_mask * kept.reshape(shape).to(default_mask.dtype)


class RandomStructured(_Structured):
    def compute_mask(self, t, default_mask):
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        drawn = torch.rand(size)
        if count == 0:
            return default_mask
        return self._of_channels(t, default_mask, drawn > torch.kthvalue(drawn, count).values)


class LnStructured(_Structured):
    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t, default_mask):
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norm = torch.norm(t, self.n, others)
        kept = torch.zeros(size)
        kept[torch.topk(norm, size - count, largest=True).indices] = 1
        return self._of_channels(t, default_mask, kept)


class CustomFromMask(BasePruningMethod):
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    if pruning_method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type {pruning_method.PRUNING_TYPE}')
    parameters, scores, masks = list(parameters), [], []
    for module, name in parameters:
        given = None if importance_scores is None else importance_scores.get((module, name))
        held = getattr(module, name)
        scores.append((held if given is None else given).detach().reshape(-1))
        masks.append(getattr(module, name + "_mask", torch.ones_like(held)).detach().reshape(-1))
    method = pruning_method(**kwargs)
    with torch.no_grad():
        made = _within(method, torch.cat(scores), torch.cat(masks))
    at = 0
    for module, name in parameters:
        held = getattr(module, name)
        custom_from_mask(module, name, made[at : at + held.numel()].reshape(held.shape))
        at += held.numel()


def remove(module, name):
    for hook in list(vars(module).get("_prune_hooks", [])):
        if hook._tensor_name == name:
            hook.remove(module)
            _drop_hook(module, hook)
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    return any([len(vars(child).get("_prune_hooks", [])) > 0 for child in module.modules()])
