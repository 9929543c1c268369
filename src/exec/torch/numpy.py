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
