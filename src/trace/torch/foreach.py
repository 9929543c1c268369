# SPDX-License-Identifier: Apache-2.0
# torch._foreach_*, which optimizers are written with; part of composites.py's namespace.


def _foreach_lists(first, *others):
    if len(first) == 0:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in others:
        if isinstance(other, (list, tuple)) and len(other) != len(first):
            kind = "list" if all(isinstance(one, torch.Tensor) for one in other) else "scalar list"
            if kind == "list":
                raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(first)} and {len(other)}")
            raise RuntimeError(f"Tensor list must have same number of elements as scalar list, got {len(first)} and {len(other)}")


def _foreach_at(value, i):
    return value[i] if isinstance(value, (list, tuple)) else value


def _foreach_done(name, in_place, self, arguments, keywords):
    _foreach_lists(self, *arguments)
    found = []
    for i, tensor in enumerate(self):
        own = [_foreach_at(one, i) for one in arguments]
        # torch.maximum() takes tensors alone.
        if name in ("maximum", "minimum") and not isinstance(own[0], torch.Tensor):
            own = [torch.full_like(tensor, own[0])]
        if not in_place:
            found.append(getattr(torch, name)(tensor, *own, **keywords))
        elif hasattr(tensor, name + "_"):
            getattr(tensor, name + "_")(*own, **keywords)
        else:
            tensor.copy_(getattr(torch, name)(tensor, *own, **keywords))
    return list(self) if in_place else tuple(found)


def _foreach_unary(name, in_place):
    def foreach(self):
        return _foreach_done(name, in_place, self, (), {})

    return foreach


def _foreach_binary(name, in_place):
    def foreach(self, other, alpha=1):
        return _foreach_done(name, in_place, self, (other,), {} if alpha == 1 else {"alpha": alpha})

    return foreach


def _foreach_ternary(name, in_place):
    def foreach(self, tensors1, tensors2, value=1):
        _foreach_lists(self, tensors1, tensors2, value)
        values = value.tolist() if isinstance(value, torch.Tensor) and value.dim() else value
        found = []
        for i, tensor in enumerate(self):
            call = getattr(tensor, name + "_" if in_place else name)
            found.append(call(tensors1[i], tensors2[i], value=_foreach_at(values, i)))
        return list(self) if in_place else tuple(found)

    return foreach


def _foreach_copy_(self, src, non_blocking=False):
    _foreach_lists(self, src)
    for tensor, one in zip(self, src):
        tensor.copy_(one)
    return list(self)


def _foreach_lerp(self, tensors1, weight):
    _foreach_lists(self, tensors1, weight)
    return tuple(torch.lerp(tensor, tensors1[i], _foreach_at(weight, i)) for i, tensor in enumerate(self))


def _foreach_lerp_(self, tensors1, weight):
    _foreach_lists(self, tensors1, weight)
    for i, tensor in enumerate(self):
        tensor.lerp_(tensors1[i], _foreach_at(weight, i))
    return list(self)


def _foreach_norm(self, ord=2, dtype=None):
    _foreach_lists(self)
    return tuple(torch.linalg.vector_norm(tensor if dtype is None else tensor.to(dtype), ord) for tensor in self)


def _foreach_max(self):
    return tuple(tensor.max() for tensor in self)


def _foreach_pow(self, exponent):
    if not isinstance(self, (list, tuple)):
        return tuple(torch.pow(self, one) for one in exponent)
    return _foreach_done("pow", False, self, (exponent,), {})


for _foreach_name in """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt
        sigmoid sign sin sinh sqrt tan tanh trunc""".split():
    globals()["_foreach_" + _foreach_name] = _foreach_unary(_foreach_name, False)
    globals()["_foreach_" + _foreach_name + "_"] = _foreach_unary(_foreach_name, True)
for _foreach_name in "add sub mul div maximum minimum clamp_min clamp_max".split():
    globals()["_foreach_" + _foreach_name] = _foreach_binary(_foreach_name, False)
    globals()["_foreach_" + _foreach_name + "_"] = _foreach_binary(_foreach_name, True)
for _foreach_name in "addcmul addcdiv".split():
    globals()["_foreach_" + _foreach_name] = _foreach_ternary(_foreach_name, False)
    globals()["_foreach_" + _foreach_name + "_"] = _foreach_ternary(_foreach_name, True)
_foreach_pow_, _foreach_zero_ = _foreach_binary("pow", True), _foreach_unary("zero", True)
