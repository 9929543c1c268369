# SPDX-License-Identifier: Apache-2.0
"""numpy for scripts: arrays over tensors of the CPU, with numpy's types, texts and random numbers."""

import math
import random as _python_random

import torch
from torch import _pellucid_bytes as _bytes

# Functions of those names here are arrays'.
_max, _min, _all, _any, _abs, _round = max, min, all, any, abs, round
pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None
euler_gamma = 0.5772156649015329
__version__ = "2.0.0"


def _only(function, **parameters):
    """What a function does not do is refused where it is asked for."""
    for name, (given, default) in parameters.items():
        same = given is default or (type(given) is type(default) and given == default) or (name == "order" and given in ("C", "K", "A", None))
        if not same:
            raise NotImplementedError(f"numpy.{function}: {name}={given!r} is not supported, {default!r} is")


# --- types


class generic:
    pass


class number(generic):
    pass


class integer(number):
    pass


class floating(number):
    pass


class float64(float):
    def __repr__(self):
        return f"np.float64({float(self)!r})"

    def __str__(self):
        return repr(float(self))

    dtype = property(lambda self: dtype("float64"))
    _t = property(lambda self: torch.tensor(float(self), dtype=torch.float64))
    shape, ndim, size = (), 0, 1

    def item(self):
        return float(self)

    def astype(self, kind):
        return array(float(self), kind)[()]


class float32(float):
    def __new__(cls, value=0.0):
        return float.__new__(cls, _rounded(float(value), "float32"))

    def __repr__(self):
        return f"np.float32({_shortest(float(self), 'float32')})"

    def __str__(self):
        return _shortest(float(self), "float32")

    dtype = property(lambda self: dtype("float32"))
    _t = property(lambda self: torch.tensor(float(self), dtype=torch.float32))
    shape, ndim, size = (), 0, 1

    def item(self):
        return float(self)

    def astype(self, kind):
        return array(float(self), kind)[()]


def _narrow(compute):
    """Arithmetic with Python's own numbers stays in float32."""

    def forward(self, other):
        if isinstance(other, ndarray):
            return NotImplemented
        found = compute(float(self), float(other))
        return float64(found) if isinstance(other, float64) else float32(found)

    def backward(self, other):
        found = compute(float(other), float(self))
        return float64(found) if isinstance(other, float64) else float32(found)

    return forward, backward


for _name, _compute in {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "truediv": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
}.items():
    _forward, _backward = _narrow(_compute)
    setattr(float32, f"__{_name}__", _forward)
    setattr(float32, f"__r{_name}__", _backward)


class _Kind:
    """np.int64, np.float16, …: a name of a type that makes numbers of it."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, value=0):
        if isinstance(value, (ndarray, list, tuple)):
            return array(value, self)
        return array(value, self).item()

    def __repr__(self):
        return f"<class 'numpy.{self.__name__}'>"

    def __eq__(self, other):
        return isinstance(other, (_Kind, dtype)) and _name_of(other) == self.__name__

    def __hash__(self):
        return hash(self.__name__)


float16, int64, int32, int16, int8, uint8 = (_Kind(name) for name in ("float16", "int64", "int32", "int16", "int8", "uint8"))
bool_, uint16, uint32, uint64 = _Kind("bool"), _Kind("uint16"), _Kind("uint32"), _Kind("uint64")
double, single, half, int_, intp, float_, longlong = float64, float32, float16, int64, int64, float64, int64

_torch_types = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "bool": torch.bool,
}
_names = {kind: name for name, kind in _torch_types.items()}
_codes = {"f8": "float64", "f4": "float32", "f2": "float16", "i8": "int64", "i4": "int32", "i2": "int16", "i1": "int8", "u1": "uint8", "?": "bool", "float": "float64", "int": "int64", "d": "float64", "f": "float32", "e": "float16", "bool_": "bool"}
_sizes = {"float64": 8, "float32": 4, "float16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1}


def _name_of(kind):
    if isinstance(kind, dtype):
        return kind.name
    if isinstance(kind, _Kind):
        name = kind.__name__
    elif kind is float or kind is float64:
        name = "float64"
    elif kind is float32:
        name = "float32"
    elif kind is int:
        name = "int64"
    elif kind is bool:
        name = "bool"
    elif isinstance(kind, str):
        name = _codes.get(kind.lstrip("<=|"), kind.lstrip("<=|"))
    else:
        raise TypeError(f"Cannot interpret '{kind}' as a data type")
    if name not in _torch_types:
        raise NotImplementedError(f"numpy arrays of {name}")
    return name


class dtype:
    def __init__(self, kind):
        self.name = _name_of(kind)
        self.itemsize = _sizes[self.name]
        self.kind = "b" if self.name == "bool" else self.name[0]

    type = property(lambda self: {"float64": float64, "float32": float32}.get(self.name) or _Kind(self.name))
    str = property(lambda self: ("|" if self.itemsize == 1 else "<") + self.kind + repr(self.itemsize))

    def __eq__(self, other):
        try:
            return _name_of(other) == self.name
        except (TypeError, NotImplementedError):
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name


def _torch_type(kind):
    return None if kind is None else _torch_types[_name_of(kind)]


def issubdtype(kind, parent):
    name = _name_of(kind)
    if parent is floating:
        return name.startswith("float")
    if parent is integer:
        return "int" in name
    if parent is number:
        return name != "bool"
    return parent is generic or name == _name_of(parent)


class finfo:
    def __init__(self, kind):
        found = torch.finfo(_torch_type(kind))
        self.eps, self.max, self.min, self.tiny, self.dtype = found.eps, found.max, found.min, found.tiny, dtype(kind)


class iinfo:
    def __init__(self, kind):
        found = torch.iinfo(_torch_type(kind))
        self.max, self.min, self.dtype = found.max, found.min, dtype(kind)


# --- texts

_bits = {"float32": 24, "float16": 11}
_print = {"precision": 8, "threshold": 1000, "edgeitems": 3, "linewidth": 75, "suppress": False}


def _rounded(value, name):
    if name == "float64" or value == 0 or value != value or value in (inf, -inf):
        return value
    fraction, exponent = math.frexp(value)
    bits = _bits[name]
    if name == "float32" and exponent < -125:
        bits += exponent + 125
    if name == "float16" and exponent < -13:
        bits += exponent + 13
    scale = 2.0**bits
    return math.ldexp(_round(fraction * scale) / scale, exponent)


def _digits(value, name):
    """The fewest digits that are this number among those of its type: (digits, exponent of ten)."""
    if name == "float64":
        text = repr(_abs(value))
        mantissa, _, exponent = text.partition("e")
        whole, _, part = mantissa.partition(".")
        shift = int(exponent) if exponent else 0
        digits = (whole + part).lstrip("0")
        point = len(whole) + shift - (len(whole + part) - len(digits))
        return digits.rstrip("0") or "0", point
    for count in range(1, 18):
        text = f"{_abs(value):.{count - 1}e}"
        if _rounded(float(text), name) == _abs(value):
            break
    mantissa, _, exponent = text.partition("e")
    return mantissa.replace(".", "").rstrip("0") or "0", int(exponent) + 1


def _positional(value, name, precision=None):
    """Digits before and behind the point, those behind without zeros at the end."""
    digits, point = _digits(value, name)
    if precision is not None and len(digits) - point > precision:
        whole, _, part = f"{_abs(value):.{precision}f}".partition(".")
        return whole, part.rstrip("0")
    if point <= 0:
        return "0", "0" * -point + digits if digits != "0" else ""
    return (digits + "0" * point)[:point], digits[point:]


def _shortest(value, name):
    if value != value:
        return "nan"
    if value in (inf, -inf):
        return "inf" if value > 0 else "-inf"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return sign + "0.0"
    if not 1e-4 <= _abs(value) < 1e16:
        digits, point = _digits(value, name)
        exponent = point - 1
        return f"{sign}{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}e{'-' if exponent < 0 else '+'}{_abs(exponent):02d}"
    whole, part = _positional(value, name)
    return f"{sign}{whole}.{part or '0'}"


def _special(value):
    return "nan" if value != value else "inf" if value > 0 else "-inf"


def _float_texts(values, name):
    finite = [v for v in values if v == v and v not in (inf, -inf)]
    absolute = [_abs(v) for v in finite if v != 0]
    precision = _print["precision"]
    scientific = bool(absolute) and not _print["suppress"] and (_max(absolute) >= 1e8 or _min(absolute) < 1e-4 or _max(absolute) / _min(absolute) > 1000.0)
    if scientific:
        return _scientific_texts(values, finite, name, precision)
    parts = {}
    for v in finite:
        if v not in parts or math.copysign(1.0, v) < 0:
            whole, part = _positional(v, name, precision)
            parts[(v, math.copysign(1.0, v))] = (("-" if math.copysign(1.0, v) < 0 else "") + whole, part)
    left = _max([len(whole) for whole, _ in parts.values()] + [0])
    right = _max([len(part) for _, part in parts.values()] + [0])
    if len(finite) < len(values):
        left = _max([left] + [len(_special(v)) - right - 1 for v in values if not (v == v and v not in (inf, -inf))])
    out = []
    for v in values:
        if v == v and v not in (inf, -inf):
            whole, part = parts[(v, math.copysign(1.0, v))]
            out.append(whole.rjust(left) + "." + part.ljust(right))
        else:
            out.append(_special(v).rjust(left + right + 1))
    return out


def _scientific_texts(values, finite, name, precision):
    rows = {}
    for v in finite:
        digits, point = _digits(v, name)
        if len(digits) > precision + 1:
            mantissa, _, exponent = f"{_abs(v):.{precision}e}".partition("e")
            digits, point = mantissa.replace(".", "").rstrip("0") or "0", int(exponent) + 1
        rows[v] = (("-" if math.copysign(1.0, v) < 0 else "") + digits[0], digits[1:], 0 if v == 0 else point - 1)
    left = _max(len(row[0]) for row in rows.values())
    right = _max(len(row[1]) for row in rows.values())
    width = _max(2, _max(len(str(_abs(row[2]))) for row in rows.values()))
    out = []
    for v in values:
        if v in rows:
            whole, part, exponent = rows[v]
            out.append(f"{whole.rjust(left)}.{part.ljust(right, '0')}e{'-' if exponent < 0 else '+'}{str(_abs(exponent)).rjust(width, '0')}")
        else:
            out.append(_special(v).rjust(left + right + width + 3))
    return out


def _texts(values, name):
    if name == "bool":
        texts = ["True" if v else "False" for v in values]
    elif name.startswith("float"):
        return _float_texts(values, name)
    else:
        texts = [repr(v) for v in values]
    width = _max([len(text) for text in texts] + [0])
    return [text.rjust(width) for text in texts]


def _shown(data, depth, edge):
    """What of a nested list is printed: its ends, with None for what is left out."""
    if depth == 0:
        return data
    if edge and len(data) > 2 * edge:
        return [_shown(v, depth - 1, edge) for v in data[:edge]] + [None] + [_shown(v, depth - 1, edge) for v in data[-edge:]]
    return [_shown(v, depth - 1, edge) for v in data]


def _leaves(data, out):
    for v in data:
        if isinstance(v, list):
            _leaves(v, out)
        elif v is not None:
            out.append(v)
    return out


def _block(data, texts, depth, indent, separator, width):
    if depth == 1:
        lines, line = [], ""
        for i, v in enumerate(data):
            text = "..." if v is None else next(texts)
            last = i == len(data) - 1
            piece = text + ("" if last else separator.rstrip())
            room = width - (1 if last else 0)
            if line and indent + len(line) + 1 + len(piece) > room:
                lines.append(line)
                line = piece
            else:
                line = line + " " + piece if line else piece
        lines.append(line)
        return "[" + ("\n" + " " * indent).join(lines) + "]"
    parts = ["..." if v is None else _block(v, texts, depth - 1, indent + 1, separator, width - 1) for v in data]
    return "[" + (separator.rstrip() + "\n" * (depth - 1) + " " * indent).join(parts) + "]"


def array2string(a, separator=" ", prefix="", max_line_width=None):
    a = asarray(a)
    if a.ndim == 0:
        return str(a.item()) if not a.dtype.name.startswith("float") else _shortest(a.item(), a.dtype.name)
    if a.size == 0:
        return "[" * a.ndim + "]" * a.ndim if a.ndim == 1 else "[]"
    edge = _print["edgeitems"] if a.size > _print["threshold"] else 0
    data = _shown(a.tolist(), a.ndim, edge)
    texts = iter(_texts(_leaves(data, []), a.dtype.name))
    return _block(data, texts, a.ndim, len(prefix) + 1, separator, max_line_width or _print["linewidth"])


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None, **others):
    if others:
        raise NotImplementedError(f"numpy.set_printoptions: {', '.join(others)}")
    for key, value in (("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems), ("linewidth", linewidth), ("suppress", suppress)):
        if value is not None:
            _print[key] = value


# --- arrays


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


# --- functions of elements


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


# --- random numbers, as RandomState draws them


class RandomState:
    def __init__(self, seed=None):
        self._draws = _python_random.Random()
        self._kept = None
        if seed is not None:
            self.seed(seed)

    def seed(self, seed=None):
        self._kept = None
        if seed is None:
            return self._draws.seed()
        words = [int(seed) & 0xFFFFFFFF]
        for i in range(1, 624):
            words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
        self._draws.setstate((3, tuple(words) + (624,), None))

    def _many(self, size, draw, kind=None):
        if size is None:
            value = draw()
            return float64(value) if isinstance(value, float) else value
        shape = _sized(size)
        values = [draw() for _ in range(math.prod(shape))]
        kind = kind or (torch.float64 if not values or isinstance(values[0], float) else torch.int64)
        return ndarray(torch.tensor(values, dtype=kind).reshape(shape))

    def random_sample(self, size=None):
        return self._many(size, self._draws.random)

    random = ranf = sample = random_sample

    def rand(self, *shape):
        return self.random_sample(shape if shape else None)

    def _gauss(self):
        if self._kept is not None:
            value, self._kept = self._kept, None
            return value
        while True:
            x = 2.0 * self._draws.random() - 1.0
            y = 2.0 * self._draws.random() - 1.0
            r = x * x + y * y
            if r < 1.0 and r != 0.0:
                break
        f = math.sqrt(-2.0 * math.log(r) / r)
        self._kept = f * x
        return f * y

    def randn(self, *shape):
        return self._many(shape if shape else None, self._gauss)

    def standard_normal(self, size=None):
        return self._many(size, self._gauss)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return self._many(size, lambda: loc + scale * self._gauss())

    def uniform(self, low=0.0, high=1.0, size=None):
        return self._many(size, lambda: low + (high - low) * self._draws.random())

    def _below(self, most):
        """A whole number up to `most`, by throwing away what is more."""
        if most == 0:
            return 0
        mask = (1 << most.bit_length()) - 1
        while True:
            if most <= 0xFFFFFFFF:
                value = self._draws.getrandbits(32) & mask
            else:
                high = self._draws.getrandbits(32)
                value = (high << 32 | self._draws.getrandbits(32)) & mask
            if value <= most:
                return value

    def randint(self, low, high=None, size=None, dtype=int):
        low, high = (0, low) if high is None else (low, high)
        if low >= high:
            raise ValueError("low >= high")
        if _name_of(dtype) not in ("int64", "int32"):
            raise NotImplementedError("numpy.random.randint of narrow types draws several at once")
        return self._many(size, lambda: low + self._below(high - low - 1), _torch_type(dtype))

    def shuffle(self, x):
        order = self._order(len(x))
        if isinstance(x, ndarray):
            x._t.copy_(x._t[torch.tensor(order, dtype=torch.int64)])
        else:
            x[:] = [x[i] for i in order]

    def _order(self, count):
        order = list(range(count))
        for i in range(count - 1, 0, -1):
            j = self._below(i)
            order[i], order[j] = order[j], order[i]
        return order

    def permutation(self, x):
        if isinstance(x, int):
            return array(self._order(x), int64)
        x = asarray(x)
        return ndarray(x._t[torch.tensor(self._order(len(x)), dtype=torch.int64)])

    def choice(self, a, size=None, replace=True, p=None):
        values = None if isinstance(a, int) else a
        count = a if values is None else len(a)
        if p is not None:
            total, edges = 0.0, []
            for weight in asarray(p).tolist():
                total += weight
                edges.append(total)
            if not replace:
                raise NotImplementedError("numpy.random.choice without replacement and with p")
            found = self._chosen(size, edges, total)
        elif replace:
            found = self.randint(0, count, size)
        else:
            shape = () if size is None else _sized(size)
            wanted = math.prod(shape)
            if wanted > count:
                raise ValueError("Cannot take a larger sample than population when 'replace=False'")
            order = self._order(count)[:wanted]
            found = order[0] if size is None else array(order, int64).reshape(shape)
        if values is None:
            return found
        return values[found] if isinstance(values, ndarray) or size is None else take(array(values), found)

    def _chosen(self, size, edges, total):
        def draw():
            value, place = self._draws.random(), 0
            while place < len(edges) - 1 and edges[place] / total <= value:
                place += 1
            return place

        return self._many(size, draw)

    def get_state(self):
        return ("MT19937", self._draws.getstate(), self._kept)

    def set_state(self, state):
        self._draws.setstate(state[1])
        self._kept = state[2]


# --- testing


class _Testing:
    def assert_allclose(self, actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True):
        if asarray(actual).shape != asarray(desired).shape and asarray(desired).ndim and asarray(actual).ndim:
            raise AssertionError(f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{err_msg}\n(shapes {asarray(actual).shape}, {asarray(desired).shape} mismatch)")
        if not allclose(actual, desired, rtol, atol, equal_nan):
            close = isclose(actual, desired, rtol, atol, equal_nan)
            wrong, total = int(count_nonzero(logical_not(close))), asarray(close).size
            raise AssertionError(f"\nNot equal to tolerance rtol={rtol:g}, atol={atol:g}\n{err_msg}\nMismatched elements: {wrong} / {total} ({100 * wrong / total:.3g}%)\n ACTUAL: {asarray(actual)!r}\n DESIRED: {asarray(desired)!r}")

    def assert_array_equal(self, actual, desired, err_msg=""):
        if not array_equal(actual, desired):
            raise AssertionError(f"\nArrays are not equal\n{err_msg}\n ACTUAL: {asarray(actual)!r}\n DESIRED: {asarray(desired)!r}")

    assert_equal = assert_array_equal

    def assert_almost_equal(self, actual, desired, decimal=7, err_msg=""):
        if not all(abs(asarray(desired) - asarray(actual)) < 1.5 * 10.0**-decimal):
            raise AssertionError(f"\nArrays are not almost equal to {decimal} decimals\n{err_msg}\n ACTUAL: {asarray(actual)!r}\n DESIRED: {asarray(desired)!r}")

    assert_array_almost_equal = assert_almost_equal


class _Linalg:
    def norm(self, x, ord=None, axis=None, keepdims=False):
        if ord not in (None, 2, 1, inf) or (ord is not None and asarray(x).ndim > 1 and axis is None):
            raise NotImplementedError(f"numpy.linalg.norm: ord={ord}")
        a = asarray(x).astype(float64) if not asarray(x).dtype.name.startswith("float") else asarray(x)
        if ord == 1:
            return sum(abs(a), axis, keepdims=keepdims)
        if ord == inf:
            return max(abs(a), axis, keepdims=keepdims)
        return sqrt(sum(a * a, axis, keepdims=keepdims))


testing, linalg = _Testing(), _Linalg()
