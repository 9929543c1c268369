# SPDX-License-Identifier: Apache-2.0
# --- arrays; part of numpy.py's namespace


def _wrapped(tensor):
    return ndarray(tensor)


def _result(tensor):
    """An array, or a number where there are no dims."""
    if tensor.dim():
        return ndarray(tensor)
    name, value = _names[tensor.dtype], tensor.item()
    return float64(value) if name == "float64" else float32(value) if name in ("float32", "float16") else value


def _tensor(value):
    if isinstance(value, ndarray):
        return value._t
    if isinstance(value, torch.Tensor):
        return value.detach()
    return array(value)._t


def _order(kind):
    return ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64").index(_names[kind])


def _common(a, b):
    """The type of two arrays' elements together, as numpy promotes."""
    if a == b:
        return a
    if a.is_floating_point != b.is_floating_point:
        real, other = (a, b) if a.is_floating_point else (b, a)
        wide = _order(other) >= 4 or (_order(other) == 3 and real != torch.float16 and False)
        if other == torch.bool or _order(other) <= 2:
            return real
        if other == torch.int16:
            return torch.float32 if real != torch.float64 else real
        return torch.float64 if wide else real
    if {a, b} == {torch.uint8, torch.int8}:
        return torch.int16
    return a if _order(a) > _order(b) else b


def _pair(x, y):
    """Two operands as tensors (or a number) of the type that numpy computes in."""
    number_x, number_y = (not isinstance(v, (ndarray, torch.Tensor, list, tuple)) for v in (x, y))
    if number_x or number_y:
        tensor, value = _tensor(y if number_x else x), x if number_x else y
        if isinstance(value, (float64, float32)):
            wide = torch.float64 if isinstance(value, float64) else torch.float32
            if tensor.dim() == 0 or not tensor.dtype.is_floating_point or isinstance(value, float64):
                tensor = tensor.to(_common(tensor.dtype, wide))
            value = float(value)
        elif isinstance(value, float) and not tensor.dtype.is_floating_point:
            tensor = tensor.double()
        elif isinstance(value, int) and not isinstance(value, bool) and tensor.dtype == torch.bool:
            tensor = tensor.to(torch.int64)
        return (value, tensor) if number_x else (tensor, value)
    x, y = _tensor(x), _tensor(y)
    kind = _common(x.dtype, y.dtype)
    return x.to(kind), y.to(kind)


def _real(x):
    x = _tensor(x)
    return x if x.dtype.is_floating_point else x.double()


def _key(key):
    if isinstance(key, ndarray):
        return key._t
    if isinstance(key, tuple):
        return tuple(_key(k) for k in key)
    if isinstance(key, list):
        return _tensor(key)
    return key


class flatiter:
    pass


class ndarray:
    def __init__(self, tensor):
        if not isinstance(tensor, torch.Tensor):
            raise NotImplementedError("numpy.ndarray(): np.empty, np.zeros and np.array make arrays")
        self._t = tensor

    shape = property(lambda self: tuple(self._t.shape))
    dtype = property(lambda self: dtype(_names[self._t.dtype]))
    ndim = property(lambda self: self._t.dim())
    size = property(lambda self: self._t.numel())
    itemsize = property(lambda self: self._t.element_size())
    nbytes = property(lambda self: self._t.numel() * self._t.element_size())
    strides = property(lambda self: tuple(s * self._t.element_size() for s in self._t.stride()))
    T = property(lambda self: ndarray(self._t.permute(*reversed(range(self._t.dim())))))
    flat = property(lambda self: iter(self.ravel()))

    def __repr__(self):
        name = self.dtype.name
        text = array2string(self, ", ", "array(")
        plain = name in ("float64", "int64", "bool") and self.size
        return f"array({text}{'' if plain else ', dtype=' + name})"

    def __str__(self):
        return array2string(self)

    def __format__(self, spec):
        if self.ndim == 0:
            return format(self.item(), spec)
        if spec:
            raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
        return str(self)

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        for i in range(self.shape[0]):
            yield self[i]

    def __bool__(self):
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __index__(self):
        return self._t.__index__()

    def __contains__(self, value):
        return bool((self == value).any())

    def __array__(self, *args):
        return self

    def __getitem__(self, key):
        return _result(self._t if isinstance(key, tuple) and not key else self._t[_key(key)])

    def __setitem__(self, key, value):
        if isinstance(value, (ndarray, list, tuple)):
            value = _tensor(value).to(self._t.dtype)
        elif isinstance(value, float) and not self._t.dtype.is_floating_point:
            value = int(value)
        self._t[_key(key)] = value

    def item(self, *index):
        return (self._t[index] if index else self._t.reshape(()) if self.size == 1 else self._t).item()

    def tolist(self):
        return self._t.tolist()

    def astype(self, kind, copy=True):
        wanted = _torch_type(kind)
        return ndarray(self._t.clone() if wanted == self._t.dtype and copy else self._t.to(wanted))

    def copy(self, order="C"):
        _only("ndarray.copy", order=(order, 'C'))
        return ndarray(self._t.clone())

    def view(self, *args):
        if args and args != (ndarray,):
            raise NotImplementedError("numpy: a view of an array as another type is not supported; astype() converts")
        return ndarray(self._t.view(self._t.shape))

    def fill(self, value):
        self._t.fill_(value)

    def reshape(self, *shape, order="C"):
        _only("ndarray.reshape", order=(order, 'C'))
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return ndarray(self._t.reshape(tuple(shape)))

    def ravel(self, order="C"):
        _only("ndarray.ravel", order=(order, 'C'))
        return ndarray(self._t.reshape(-1))

    def flatten(self, order="C"):
        _only("ndarray.flatten", order=(order, 'C'))
        return ndarray(self._t.reshape(-1).clone())

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return ndarray(self._t.permute(*axes)) if axes else self.T

    def swapaxes(self, a, b):
        return ndarray(self._t.transpose(a, b))

    def squeeze(self, axis=None):
        return ndarray(self._t.squeeze() if axis is None else self._t.squeeze(axis))

    def dot(self, other):
        return dot(self, other)

    def sort(self, axis=-1):
        self._t.copy_(self._t.sort(axis)[0])

    def repeat(self, repeats, axis=None):
        return repeat(self, repeats, axis)

    def tobytes(self):
        return _bytes.elements(self._t)

    def tofile(self, fid, sep="", format="%s"):
        _only("ndarray.tofile", sep=(sep, ""), format=(format, "%s"))
        _write(fid, self.tobytes())

    def __neg__(self):
        return _result(-self._t)

    def __pos__(self):
        return self

    def __abs__(self):
        return _result(self._t.abs())

    def __invert__(self):
        return _result(~self._t)

    __hash__ = None


def _method(name):
    def call(self, *args, **kwargs):
        return globals()[name](self, *args, **kwargs)

    call.__name__ = name
    return call


for _name in ("sum", "mean", "std", "var", "max", "min", "argmax", "argmin", "prod", "cumsum", "all", "any", "clip", "round", "argsort", "nonzero", "take"):
    setattr(ndarray, _name, _method(_name))


def _joined(compute, x, y):
    try:
        return _result(compute(*_pair(x, y)))
    except RuntimeError as error:
        if "must match the size" not in str(error):
            raise
        shapes = " ".join(str(asarray(v).shape).replace(" ", "") for v in (x, y))
        raise ValueError(f"operands could not be broadcast together with shapes {shapes} ") from None


def _binary(compute):
    def forward(self, other):
        if not isinstance(other, (ndarray, int, float, bool, list, tuple)):
            return NotImplemented
        return _joined(compute, self, other)

    def backward(self, other):
        if not isinstance(other, (ndarray, int, float, bool, list, tuple)):
            return NotImplemented
        return _joined(compute, other, self)

    return forward, backward


def _divided(x, y):
    whole = [v if isinstance(v, (int, float)) else v if v.dtype.is_floating_point else v.double() for v in (x, y)]
    return whole[0] / whole[1]


def _power(x, y):
    return x**y


_operators = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "truediv": _divided,
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "pow": _power,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "lshift": lambda x, y: x << y,
    "rshift": lambda x, y: x >> y,
}
for _name, _compute in _operators.items():
    _forward, _backward = _binary(_compute)
    setattr(ndarray, f"__{_name}__", _forward)
    setattr(ndarray, f"__r{_name}__", _backward)

for _name, _compute in {
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}.items():
    setattr(ndarray, f"__{_name}__", _binary(_compute)[0])


def _in_place(name):
    compute = _operators[name]

    def change(self, other):
        x, y = _pair(self, other)
        found = compute(x, y)
        if found.dtype.is_floating_point and not self._t.dtype.is_floating_point:
            raise TypeError(f"Cannot cast ufunc '{name}' output from dtype('float64') to dtype('{self.dtype}') with casting rule 'same_kind'")
        self._t.copy_(found)
        return self

    return change


for _name in _operators:
    setattr(ndarray, f"__i{_name}__", _in_place(_name))


def _matrix(self, other):
    return dot(self, other) if _tensor(other).dim() < 3 and self.ndim < 3 else matmul(self, other)


ndarray.__matmul__ = _matrix
ndarray.__rmatmul__ = lambda self, other: matmul(other, self)


def _of(tensor):
    """tensor.numpy(): the same memory."""
    return ndarray(tensor)


# --- making arrays


def _nested(value):
    """Numbers of lists that hold arrays and numbers of ours."""
    if isinstance(value, ndarray):
        return value.tolist()
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_nested(v) for v in value]
    if isinstance(value, range):
        return list(value)
    return float(value) if isinstance(value, float) else value


def _kind_of(value):
    """The type of numbers in lists: float64, int64 or bool; that of the arrays in them."""
    if isinstance(value, (ndarray, torch.Tensor)):
        return _tensor(value).dtype
    if isinstance(value, (list, tuple)):
        kinds = [_kind_of(v) for v in value]
        found = kinds[0] if kinds else torch.float64
        for kind in kinds[1:]:
            found = _common(found, kind)
        return found
    if isinstance(value, bool):
        return torch.bool
    if isinstance(value, float32):
        return torch.float32
    if isinstance(value, float):
        return torch.float64
    if isinstance(value, int):
        return torch.int64
    raise NotImplementedError(f"numpy arrays of {type(value).__name__}")


def array(object, dtype=None, copy=True, ndmin=0, order="K"):
    _only("array", copy=(copy, True), order=(order, 'K'))
    wanted = _torch_type(dtype)
    if isinstance(object, ndarray):
        found = object._t.clone() if wanted is None else object._t.to(wanted) if wanted != object._t.dtype else object._t.clone()
    elif isinstance(object, torch.Tensor):
        found = object.detach().cpu().clone() if wanted is None else object.detach().cpu().to(wanted)
    else:
        if isinstance(object, range) or (hasattr(object, "__next__") or hasattr(object, "keys")):
            object = list(object)
        if isinstance(object, (list, tuple)) and object and _all(isinstance(v, ndarray) and v.ndim for v in object):
            kind = wanted if wanted is not None else _kind_of(object)
            found = torch.stack([v._t.to(kind) for v in object])
        else:
            found = torch.tensor(_nested(object), dtype=wanted if wanted is not None else _kind_of(object))
    while found.dim() < ndmin:
        found = found.unsqueeze(0)
    return ndarray(found)


def asarray(a, dtype=None, order=None):
    _only("asarray", order=(order, None))
    if isinstance(a, ndarray) and (dtype is None or a.dtype == dtype):
        return a
    if isinstance(a, torch.Tensor) and dtype is None:
        return a.numpy()
    return array(a, dtype)


asanyarray = ascontiguousarray = asarray


def _sized(shape):
    return (shape,) if isinstance(shape, int) else tuple(int(s) for s in shape)


def zeros(shape, dtype=float, order="C"):
    _only("zeros", order=(order, 'C'))
    return ndarray(torch.zeros(_sized(shape), dtype=_torch_type(dtype)))


def ones(shape, dtype=float, order="C"):
    _only("ones", order=(order, 'C'))
    return ndarray(torch.ones(_sized(shape), dtype=_torch_type(dtype)))


empty = zeros


def full(shape, fill_value, dtype=None, order="C"):
    _only("full", order=(order, 'C'))
    kind = _torch_type(dtype) if dtype is not None else _kind_of(fill_value)
    return ndarray(torch.full(_sized(shape), fill_value, dtype=kind))


def zeros_like(a, dtype=None):
    return zeros(asarray(a).shape, dtype or asarray(a).dtype)


def ones_like(a, dtype=None):
    return ones(asarray(a).shape, dtype or asarray(a).dtype)


def full_like(a, fill_value, dtype=None):
    return full(asarray(a).shape, fill_value, dtype or asarray(a).dtype)


empty_like = zeros_like


def arange(*args, dtype=None):
    kind = _torch_type(dtype) if dtype is not None else torch.float64 if _any(isinstance(v, float) for v in args) else torch.int64
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (args[0], args[1], args[2] if len(args) > 2 else 1)
    count = _max(0, math.ceil((stop - start) / step))
    values = torch.arange(count, dtype=torch.float64 if kind.is_floating_point else torch.int64) * step + start
    return ndarray(values.to(kind))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    _only("linspace", axis=(axis, 0))
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else math.nan
    values = torch.arange(num, dtype=torch.float64) * (step if parts > 0 else 0.0) + float(start)
    if endpoint and num > 1:
        values[-1] = float(stop)
    found = ndarray(values if dtype is None else values.to(_torch_type(dtype)))
    return (found, step) if retstep else found


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    _only("logspace", dtype=(dtype, None))
    return power(base, linspace(start, stop, num, endpoint))


def eye(N, M=None, k=0, dtype=float):
    rows, columns = torch.arange(N).unsqueeze(1), torch.arange(N if M is None else M).unsqueeze(0)
    return ndarray((columns - rows == k).to(_torch_type(dtype)))


identity = eye


def fromiter(iterable, dtype, count=-1):
    _only("fromiter", count=(count, -1))
    return array(list(iterable), dtype)


def tri(N, M=None, k=0, dtype=float):
    return ndarray(torch.ones((N, N if M is None else M), dtype=_torch_type(dtype)).tril(k))
