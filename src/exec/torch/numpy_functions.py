# SPDX-License-Identifier: Apache-2.0
# --- functions of elements; part of numpy.py's namespace


def _unary(name, real=True):
    def call(x, out=None, **kwargs):
        if kwargs:
            raise NotImplementedError(f"numpy.{name}: {', '.join(kwargs)}")
        found = getattr(torch, name)(_real(x) if real else _tensor(x))
        if out is not None:
            out._t.copy_(found)
            return out
        return _result(found)

    call.__name__ = name
    return call


exp, exp2, expm1, log, log2, log10, log1p, sqrt = (_unary(n) for n in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt"))
sin, cos, tan, sinh, cosh, tanh = (_unary(n) for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh"))
arcsin, arccos, arctan, arctanh, arcsinh, arccosh = (_unary(n) for n in ("asin", "acos", "atan", "atanh", "asinh", "acosh"))
floor, ceil, trunc, rint = (_unary(n) for n in ("floor", "ceil", "trunc", "round"))
signbit = _unary("signbit")
isnan, isinf, isfinite = (_unary(n) for n in ("isnan", "isinf", "isfinite"))
abs = absolute = fabs = _unary("abs", False)
sign, square, negative, logical_not, reciprocal = (_unary(n, n == "reciprocal") for n in ("sign", "square", "neg", "logical_not", "reciprocal"))
deg2rad = radians = lambda x: x * (pi / 180)
rad2deg = degrees = lambda x: x * (180 / pi)


def _of_two(compute):
    def call(x, y, out=None):
        found = compute(*_pair(asarray(x), y))
        if out is not None:
            out._t.copy_(found)
            return out
        return _result(found)

    return call


def _both(x, y):
    return (x, y) if isinstance(y, torch.Tensor) else (x, torch.full((), y, dtype=x.dtype))


maximum, fmax = (_of_two(lambda x, y: torch.maximum(*_both(x, y))) for _ in range(2))
minimum, fmin = (_of_two(lambda x, y: torch.minimum(*_both(x, y))) for _ in range(2))
add, subtract, multiply, divide = (_of_two(_operators[n]) for n in ("add", "sub", "mul", "truediv"))
true_divide, floor_divide, mod, power = divide, _of_two(_operators["floordiv"]), _of_two(_operators["mod"]), _of_two(_power)
remainder = mod
equal, not_equal = _of_two(lambda x, y: x == y), _of_two(lambda x, y: x != y)
less, less_equal, greater, greater_equal = (_of_two(c) for c in (lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x > y, lambda x, y: x >= y))
logical_and, logical_or, logical_xor = (_of_two(lambda x, y, n=n: getattr(torch, n)(*_both(x, y))) for n in ("logical_and", "logical_or", "logical_xor"))
bitwise_and, bitwise_or, bitwise_xor = (_of_two(_operators[n]) for n in ("and", "or", "xor"))
arctan2 = _of_two(lambda x, y: torch.atan2(*_both(x, y)))
hypot = _of_two(lambda x, y: torch.sqrt(x * x + y * y))


def clip(a, a_min=None, a_max=None, out=None, min=None, max=None):
    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    found = asarray(a)
    if low is not None:
        found = maximum(found, low)
    if high is not None:
        found = minimum(found, high)
    if out is not None:
        out._t.copy_(_tensor(found))
        return out
    return found


def round(a, decimals=0, out=None):
    _only("round", out=(out, None))
    x = _tensor(a)
    if not x.dtype.is_floating_point:
        return _result(x)
    scale = 10.0**decimals
    return _result(torch.round(x) if decimals == 0 else torch.round(x * scale) / scale)


around = round_ = round


def where(condition, x=None, y=None):
    if x is None:
        return nonzero(condition)
    if not isinstance(x, (ndarray, list)) and not isinstance(y, (ndarray, list)):
        kind = _common(_kind_of(x), _kind_of(y))
        x, y = (torch.full((), v, dtype=kind) for v in (x, y))
    else:
        x, y = _pair(x, y)
        x, y = (v if isinstance(v, torch.Tensor) else torch.full((), v, dtype=o.dtype) for v, o in ((x, y), (y, x)))
    return _result(torch.where(_tensor(condition).bool(), x, y))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    _only("nan_to_num", copy=(copy, True))
    return _result(torch.nan_to_num(_real(x), nan, posinf, neginf))


# --- reductions


def _reduced(x, axis, keepdims, compute):
    """`compute(tensor, dims)` over all dims or those of `axis`."""
    dims = list(range(x.dim())) if axis is None else [int(axis)] if isinstance(axis, int) else list(axis)
    if not dims:
        return _result(compute(x.reshape(1), [0]))
    found = compute(x, dims)
    if keepdims:
        for d in sorted(d % x.dim() for d in dims):
            found = found.unsqueeze(d)
    return _result(found)


def sum(a, axis=None, dtype=None, out=None, keepdims=False):
    _only("sum", out=(out, None))
    x = _tensor(a)
    return _reduced(x if dtype is None else x.to(_torch_type(dtype)), axis, keepdims, lambda t, dims: t.sum(dims))


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    _only("mean", out=(out, None))
    x = _real(a)
    if x.numel() == 0:
        return float64(nan)
    return _reduced(x if dtype is None else x.to(_torch_type(dtype)), axis, keepdims, lambda t, dims: t.mean(dims))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    _only("var", dtype=(dtype, None), out=(out, None))
    return _reduced(_real(a), axis, keepdims, lambda t, dims: torch.var(t, dims, correction=ddof))


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    _only("std", dtype=(dtype, None), out=(out, None))
    return _reduced(_real(a), axis, keepdims, lambda t, dims: torch.std(t, dims, correction=ddof))


def max(a, axis=None, out=None, keepdims=False):
    _only("max", out=(out, None))
    if asarray(a).size == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return _reduced(_tensor(a), axis, keepdims, lambda t, dims: torch.amax(t, dims))


def min(a, axis=None, out=None, keepdims=False):
    _only("min", out=(out, None))
    if asarray(a).size == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return _reduced(_tensor(a), axis, keepdims, lambda t, dims: torch.amin(t, dims))


amax, amin = max, min


def ptp(a, axis=None):
    return max(a, axis) - min(a, axis)


def prod(a, axis=None, dtype=None, keepdims=False):
    _only("prod", dtype=(dtype, None))
    x = _tensor(a)
    return _result(x.reshape(-1).prod() if axis is None else x.prod(axis, keepdim=keepdims))


def all(a, axis=None, keepdims=False):
    _only("all", keepdims=(keepdims, False))
    x = _tensor(a).bool()
    return bool(x.all()) if axis is None else _result(x.all(axis))


def any(a, axis=None, keepdims=False):
    _only("any", keepdims=(keepdims, False))
    x = _tensor(a).bool()
    return bool(x.any()) if axis is None else _result(x.any(axis))


def argmax(a, axis=None):
    x = _tensor(a)
    return int(x.reshape(-1).argmax()) if axis is None else _result(x.argmax(axis))


def argmin(a, axis=None):
    x = _tensor(a)
    return int(x.reshape(-1).argmin()) if axis is None else _result(x.argmin(axis))


def cumsum(a, axis=None):
    x = _tensor(a)
    return ndarray(x.reshape(-1).cumsum(0) if axis is None else x.cumsum(axis))


def cumprod(a, axis=None):
    x = _tensor(a)
    return ndarray(x.reshape(-1).cumprod(0) if axis is None else x.cumprod(axis))


def count_nonzero(a, axis=None):
    return sum(asarray(a) != 0, axis)


def quantile(a, q, axis=None, keepdims=False):
    _only("quantile", keepdims=(keepdims, False))
    x = _real(a)
    if axis is not None or not isinstance(q, (int, float)):
        raise NotImplementedError("numpy.quantile of an axis, or of several quantiles")
    values = x.reshape(-1).sort()[0].tolist()
    place = (len(values) - 1) * q
    low = int(place)
    high = low + 1 if low + 1 < len(values) else low
    return float64(values[low] + (values[high] - values[low]) * (place - low))


def percentile(a, q, axis=None):
    return quantile(a, q / 100, axis)


def median(a, axis=None):
    return quantile(a, 0.5, axis)


def average(a, axis=None, weights=None):
    if weights is None:
        return mean(a, axis)
    return sum(asarray(a) * asarray(weights), axis) / sum(weights)


nansum = lambda a: sum(nan_to_num(a))


# --- moving elements


def _list(arrays):
    tensors = [_tensor(a) for a in arrays]
    kind = tensors[0].dtype
    for tensor in tensors[1:]:
        kind = _common(kind, tensor.dtype)
    return [tensor.to(kind) for tensor in tensors]


def concatenate(arrays, axis=0):
    tensors = _list(arrays)
    return ndarray(torch.cat([t.reshape(-1) for t in tensors]) if axis is None else torch.cat(tensors, axis))


def stack(arrays, axis=0):
    return ndarray(torch.stack(_list(arrays), axis))


def vstack(arrays):
    return ndarray(torch.cat([t.reshape(1, -1) if t.dim() < 2 else t for t in _list(arrays)], 0))


def hstack(arrays):
    tensors = [t.reshape(1) if t.dim() == 0 else t for t in _list(arrays)]
    return ndarray(torch.cat(tensors, 0 if tensors[0].dim() == 1 else 1))


def column_stack(arrays):
    return ndarray(torch.cat([t.reshape(-1, 1) if t.dim() < 2 else t for t in _list(arrays)], 1))


def append(a, values, axis=None):
    return concatenate([asarray(a).ravel(), asarray(values).ravel()] if axis is None else [a, values], axis or 0)


def split(a, parts, axis=0):
    x = _tensor(a)
    if isinstance(parts, int):
        if x.shape[axis] % parts:
            raise ValueError("array split does not result in an equal division")
        return [ndarray(t) for t in x.split(x.shape[axis] // parts, axis)]
    ends = [0] + list(parts) + [x.shape[axis]]
    return [ndarray(x.narrow(axis, ends[i], ends[i + 1] - ends[i])) for i in range(len(ends) - 1)]


def reshape(a, shape, order="C"):
    _only("reshape", order=(order, 'C'))
    return asarray(a).reshape(shape)


def ravel(a):
    return asarray(a).ravel()


def transpose(a, axes=None):
    return asarray(a).transpose(*(axes or ()))


def swapaxes(a, x, y):
    return asarray(a).swapaxes(x, y)


def moveaxis(a, source, destination):
    return ndarray(_tensor(a).movedim(source, destination))


def expand_dims(a, axis):
    return ndarray(_tensor(a).unsqueeze(axis))


def squeeze(a, axis=None):
    return asarray(a).squeeze(axis)


def broadcast_arrays(*args):
    return tuple(ndarray(x) for x in torch.broadcast_tensors(*(_tensor(a) for a in args)))


def broadcast_to(a, shape):
    return ndarray(_tensor(a).expand(_sized(shape)))


def tile(a, reps):
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    x = _tensor(a)
    while x.dim() < len(reps):
        x = x.unsqueeze(0)
    return ndarray(x.repeat(*((1,) * (x.dim() - len(reps)) + reps)))


def repeat(a, repeats, axis=None):
    x = _tensor(a)
    return ndarray(torch.repeat_interleave(x.reshape(-1), repeats) if axis is None else torch.repeat_interleave(x, repeats, axis))


def flip(a, axis=None):
    x = _tensor(a)
    return ndarray(torch.flip(x, list(range(x.dim())) if axis is None else [axis] if isinstance(axis, int) else list(axis)))


def roll(a, shift, axis=None):
    return ndarray(torch.roll(_tensor(a), shift) if axis is None else torch.roll(_tensor(a), shift, axis))


def take(a, indices, axis=None):
    x = _tensor(a)
    return _result(x.reshape(-1)[_tensor(indices)] if axis is None else x.index_select(axis, _tensor(indices)))


def nonzero(a):
    return tuple(ndarray(t) for t in torch.nonzero(_tensor(a), as_tuple=True))


def argwhere(a):
    return ndarray(torch.nonzero(_tensor(a)))


def flatnonzero(a):
    return nonzero(asarray(a).ravel())[0]


def sort(a, axis=-1):
    return ndarray(_tensor(a).sort(axis)[0])


def argsort(a, axis=-1, kind=None):
    return ndarray(_tensor(a).argsort(axis, stable=True))


def unique(a, return_inverse=False, return_counts=False):
    found = torch.unique(_tensor(a), return_inverse=return_inverse, return_counts=return_counts)
    return tuple(ndarray(t) for t in found) if isinstance(found, tuple) else ndarray(found)


def bincount(a, minlength=0):
    values = [0] * minlength
    for v in asarray(a).tolist():
        values.extend([0] * (v + 1 - len(values)))
        values[v] += 1
    return array(values, int64)


def searchsorted(a, v, side="left"):
    x, given = _tensor(a), _tensor(v)
    compare = x < given.unsqueeze(-1) if side == "left" else x <= given.unsqueeze(-1)
    return _result(compare.sum(-1))


def diff(a, n=1):
    _only("diff", n=(n, 1))
    x = _tensor(a)
    return ndarray(x[..., 1:] - x[..., :-1])


def triu(m, k=0):
    return ndarray(_tensor(m).triu(k))


def tril(m, k=0):
    return ndarray(_tensor(m).tril(k))


def diag(v, k=0):
    return ndarray(torch.diag(_tensor(v), k))


def trace(a):
    return _result(torch.trace(_tensor(a)))


def meshgrid(*arrays, indexing="xy"):
    return [ndarray(t) for t in torch.meshgrid(*[_tensor(a) for a in arrays], indexing=indexing)]


def pad(a, pad_width, mode="constant", constant_values=0):
    if mode != "constant":
        raise NotImplementedError(f"numpy.pad: mode={mode!r}")
    x = _tensor(a)
    widths = [(pad_width, pad_width)] * x.dim() if isinstance(pad_width, int) else [tuple(w) if isinstance(w, (tuple, list)) else (w, w) for w in pad_width]
    sides = []
    for before, after in reversed(widths):
        sides += [before, after]
    return ndarray(torch.nn.functional.pad(x, sides, value=constant_values))


# --- products


def dot(a, b):
    x, y = _pair(asarray(a), asarray(b))
    if x.dim() == 0 or y.dim() == 0:
        return _result(x * y)
    if y.dim() > 2 or x.dim() > 2 and y.dim() == 2:
        return _result(torch.tensordot(x, y, ([-1], [y.dim() - 2 if y.dim() > 1 else 0])))
    return _result(torch.matmul(x, y))


def matmul(a, b):
    return _result(torch.matmul(*_pair(asarray(a), asarray(b))))


def outer(a, b):
    x, y = _pair(asarray(a), asarray(b))
    return ndarray(x.reshape(-1, 1) * y.reshape(1, -1))


vdot = inner = lambda a, b: dot(asarray(a).ravel(), asarray(b).ravel())


def einsum(equation, *operands):
    return _result(torch.einsum(equation, *_list(operands)))


# --- comparisons


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = _both(*_pair(asarray(a), b))
    return _result(torch.isclose(x.double(), y.double(), rtol=rtol, atol=atol, equal_nan=equal_nan))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a, b):
    x, y = asarray(a), asarray(b)
    return x.shape == y.shape and bool(all(x == y))


def isscalar(value):
    return isinstance(value, (int, float, str))


def shape(a):
    return asarray(a).shape


def ndim(a):
    return asarray(a).ndim


def size(a):
    return asarray(a).size


def copy(a):
    return asarray(a).copy()
