# SPDX-License-Identifier: Apache-2.0
# --- complex numbers, as pairs along a last dim; part of aten.py's namespace
#
# A tensor of them has no type of a program's: between the operator that makes it (polar, view_as_complex, a transform)
# and the one that ends it (view_as_real, abs, real) it is the tensor of its pairs. A function takes PyTorch's arguments.

_complex_operators = {}


class _Complex:
    """What archives, models and scripts hold of complex numbers; operators on it are those of the table."""

    def __init__(self, pairs):
        self.pairs = pairs

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if not _complex_operator(name):
            raise NotImplementedError(f"'{name}' of complex tensors is not supported; compute it with their parts: .real, .imag, abs(), torch.view_as_real()")
        return lambda *args, **kwargs: _complex_call(name, (self, *args), kwargs)

    real = property(lambda self: _re(self))
    imag = property(lambda self: _im(self))
    shape = property(lambda self: torch.Size(list(self.pairs.shape)[:-1]))
    ndim = property(lambda self: self.pairs.dim() - 1)
    device = property(lambda self: self.pairs.device)
    dtype = property(lambda self: torch.complex128 if self.pairs.dtype == torch.float64 else torch.complex64)
    requires_grad = property(lambda self: self.pairs.requires_grad)
    mT = property(lambda self: self.transpose(-2, -1))
    T = property(lambda self: self.permute(list(range(self.ndim))[::-1]))
    mH = property(lambda self: _complex_conj(self.transpose(-2, -1)))

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return self.ndim

    def numel(self):
        return self.pairs.numel() // 2

    def is_complex(self):
        return True

    def is_floating_point(self):
        return False

    def cpu(self):
        return _Complex(self.pairs.cpu())

    def cuda(self):
        return _Complex(self.pairs.cuda())

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter(_complex_unbind(self))

    def __getitem__(self, index):
        items = index if isinstance(index, tuple) else (index,)
        if any(item is Ellipsis for item in items):
            return _Complex(self.pairs[(*items, slice(None))])
        return _Complex(self.pairs[(*items, Ellipsis, slice(None))])

    def __add__(self, other):
        return _complex_add(self, other)

    def __radd__(self, other):
        return _complex_add(self, other)

    def __sub__(self, other):
        return _complex_sub(self, other)

    def __rsub__(self, other):
        return _complex_add(_complex_neg(self), other)

    def __mul__(self, other):
        return _complex_mul(self, other)

    def __rmul__(self, other):
        return _complex_mul(self, other)

    def __truediv__(self, other):
        return _complex_div(self, other)

    def __rtruediv__(self, other):
        return _complex_mul(_complex_reciprocal(self), other)

    def __matmul__(self, other):
        return _complex_matmul(self, other)

    def __rmatmul__(self, other):
        return _complex_matmul(other, self)

    def __neg__(self):
        return _complex_neg(self)

    def __abs__(self):
        return _complex_abs(self)

    def __pow__(self, exponent):
        return _complex_pow(self, exponent)

    def __eq__(self, other):
        other = _as_complex(other) if isinstance(other, (torch.Tensor, _Complex)) else _Complex(torch.stack([torch.full_like(_re(self), other), torch.zeros_like(_re(self))], -1))
        return torch.logical_and(_re(self) == _re(other), _im(self) == _im(other))

    def __repr__(self):
        return _complex_text(self)


def _complex_operator(name):
    """The body of a function or method of torch on complex numbers; None without one."""
    return next((body for target, body in _complex_operators.items() if target.startswith(f"aten.{name}.")), None)


def _complex_call(name, args, kwargs):
    """torch.name(*args, **kwargs) where one of them is complex; sizes and dims may come one by one, as methods take them."""
    body = _complex_operator(name.removeprefix("aten.").partition(".")[0])
    if body is None:
        raise NotImplementedError(f"'torch.{name}' of complex tensors is not supported; compute it with their parts: .real, .imag, abs(), torch.view_as_real()")
    if len(args) > 1 and name in ("view", "reshape", "expand", "repeat", "permute", "flip") and all(isinstance(a, int) for a in args[1:]):
        args = (args[0], list(args[1:]))
    return body(*args, **kwargs)


def _complex_text(z):
    """As PyTorch prints it."""
    if z.pairs.requires_grad:
        raise NotImplementedError("printing complex tensors that ask for a gradient is not supported; print z.detach()")
    if z.numel() > 1000:
        raise NotImplementedError("printing complex tensors of more than 1000 elements is not supported; print a part")
    parts = []
    for part in (_re(z), _im(z)):
        words = str(part.detach().cpu().flatten().to(torch.get_default_dtype()))
        words = words[words.index("[") + 1 : words.rindex("]")].replace("\n", " ").split(",") if part.numel() else []
        words = [word.strip() for word in words]
        width = max([len(word) for word in words] + [0])
        parts.append(([word.rjust(width) for word in words], width))
    (reals, wide), (imags, thin) = parts
    words = [real + ("" if imag.strip()[0] == "-" else "+") + imag.strip() + "j" for real, imag in zip(reals, imags)]

    def text(words, sizes, indent):
        if not sizes:
            return words[0]
        if len(sizes) == 1:
            line = max(1, (80 - indent) // (wide + thin + 3))
            rows = [", ".join(words[i : i + line]) for i in range(0, len(words), line)]
            return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"
        each = len(words) // sizes[0] if sizes[0] else 0
        inner = [text(words[i * each : (i + 1) * each], sizes[1:], indent + 1) for i in range(sizes[0])]
        return "[" + ("," + "\n" * (len(sizes) - 1) + " " * (indent + 1)).join(inner) + "]"

    said = text(words, list(z.shape), 7) if words else "[]"
    ends = [] if words or len(z.shape) == 1 else [f"size={tuple(z.shape)}"]
    if z.device.type != "cpu":
        ends.append(f"device='{z.device}'")
    if (z.pairs.dtype == torch.float64) != (torch.get_default_dtype() == torch.float64) or not words:
        ends.append("dtype=torch.complex128" if z.pairs.dtype == torch.float64 else "dtype=torch.complex64")
    return "tensor(" + ", ".join([said] + ends) + ")"


def _on_complex(*targets):
    def record(body):
        for target in targets:
            _complex_operators["aten." + target] = body
        return body

    return record


def _re(z):
    return z.pairs.select(-1, 0) if isinstance(z, _Complex) else z


def _im(z):
    return z.pairs.select(-1, 1) if isinstance(z, _Complex) else torch.zeros_like(z)


def _joined(real, imag):
    real, imag = torch.broadcast_tensors(real, imag)
    return _Complex(torch.stack([real, imag], -1))


def _as_complex(value):
    return value if isinstance(value, _Complex) else _joined(value, torch.zeros_like(value))


def _paired_dim(dim):
    """A dim of the numbers as one of the pairs."""
    return dim if dim >= 0 else dim - 1


def _factor(value):
    """A real number or tensor, to be multiplied with pairs."""
    return value.unsqueeze(-1) if isinstance(value, torch.Tensor) else value


# --- where they begin and end


@_on_complex("view_as_complex.default")
def _view_as_complex(self):
    if self.dim() == 0 or _is_proved(self, self.shape[-1] != 2):
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return _Complex(self)


@_on_complex("view_as_real.default", "view_as_real_copy.default")
def _view_as_real(self):
    return self.pairs


@_on_complex("polar.default")
def _polar(abs, angle):
    return _joined(abs * torch.cos(angle), abs * torch.sin(angle))


@_on_complex("complex.default")
def _complex(real, imag):
    return _joined(real, imag)


@_on_complex("real.default")
def _complex_real(self):
    return _re(self)


@_on_complex("imag.default")
def _complex_imag(self):
    return _im(self)


@_on_complex("abs.default")
def _complex_abs(self):
    return torch.hypot(_re(self), _im(self))


@_on_complex("angle.default")
def _complex_angle(self):
    return torch.atan2(_im(self), _re(self))


# --- arithmetic


@_on_complex("mul.Tensor", "mul.Scalar")
def _complex_mul(self, other):
    if not isinstance(other, _Complex):
        return _Complex(self.pairs * _factor(other))
    if not isinstance(self, _Complex):
        return _Complex(other.pairs * _factor(self))
    a, b, c, d = _re(self), _im(self), _re(other), _im(other)
    return _joined(a * c - b * d, a * d + b * c)


@_on_complex("div.Tensor", "div.Scalar")
def _complex_div(self, other):
    if not isinstance(other, _Complex):
        return _Complex(self.pairs / _factor(other))
    size = _re(other) * _re(other) + _im(other) * _im(other)
    return _Complex(_complex_mul(self, _complex_conj(other)).pairs / size.unsqueeze(-1))


@_on_complex("add.Tensor", "add.Scalar")
def _complex_add(self, other, alpha=1):
    if isinstance(self, _Complex) and isinstance(other, _Complex):
        return _Complex(self.pairs + alpha * other.pairs)
    if isinstance(other, _Complex):
        return _joined(self + alpha * _re(other), alpha * _im(other))
    return _joined(_re(self) + alpha * other, _im(self))


@_on_complex("sub.Tensor", "sub.Scalar")
def _complex_sub(self, other, alpha=1):
    return _complex_add(self, other, -alpha)


@_on_complex("neg.default", "_neg_view.default")
def _complex_neg(self):
    return _Complex(-self.pairs)


@_on_complex("conj.default", "_conj.default", "conj_physical.default", "_conj_physical.default")
def _complex_conj(self):
    return _joined(_re(self), -_im(self))


@_on_complex("exp.default")
def _complex_exp(self):
    return _polar(torch.exp(_re(self)), _im(self))


@_on_complex("reciprocal.default")
def _complex_reciprocal(self):
    size = _re(self) * _re(self) + _im(self) * _im(self)
    return _Complex(_complex_conj(self).pairs / size.unsqueeze(-1))


@_on_complex("square.default")
def _complex_square(self):
    return _complex_mul(self, self)


@_on_complex("pow.Tensor_Scalar")
def _complex_pow(self, exponent):
    if not isinstance(exponent, int) or isinstance(exponent, bool):
        raise NotImplementedError("powers of complex numbers are whole numbers here; take torch.polar(z.abs() ** e, z.angle() * e)")
    base, left, result = (self if exponent >= 0 else _complex_reciprocal(self)), abs(exponent), None
    while left:
        if left % 2:
            result = base if result is None else _complex_mul(result, base)
        base, left = _complex_mul(base, base), left // 2
    return _joined(torch.ones_like(_re(self)), torch.zeros_like(_re(self))) if result is None else result


@_on_complex("sum.dim_IntList", "sum.default")
def _complex_sum(self, dim=None, keepdim=False, dtype=None):
    self = self if dtype is None else _complex_to(self, dtype)
    dim = [dim] if isinstance(dim, int) else dim
    dims = [_paired_dim(d) for d in dim] if dim else list(range(self.pairs.dim() - 1))
    return _Complex(torch.sum(self.pairs, dims, keepdim))


@_on_complex("mean.dim", "mean.default")
def _complex_mean(self, dim=None, keepdim=False, dtype=None):
    self = self if dtype is None else _complex_to(self, dtype)
    dim = [dim] if isinstance(dim, int) else dim
    dims = [_paired_dim(d) for d in dim] if dim else list(range(self.pairs.dim() - 1))
    return _Complex(torch.mean(self.pairs, dims, keepdim))


@_on_complex("matmul.default")
def _complex_matmul(self, other):
    a, b = _as_complex(self), _as_complex(other)
    real = torch.matmul(_re(a), _re(b)) - torch.matmul(_im(a), _im(b))
    return _joined(real, torch.matmul(_re(a), _im(b)) + torch.matmul(_im(a), _re(b)))


@_on_complex("mm.default", "bmm.default")
def _complex_mm(self, mat2):
    return _complex_matmul(self, mat2)


@_on_complex("where.self")
def _complex_where(condition, self, other):
    return _Complex(torch.where(condition.unsqueeze(-1), _as_complex(self).pairs, _as_complex(other).pairs))


# --- where elements lie


@_on_complex("view.default", "_unsafe_view.default")
def _complex_view(self, size):
    return _Complex(self.pairs.reshape(list(size) + [2]))


@_on_complex("reshape.default")
def _complex_reshape(self, shape):
    return _Complex(self.pairs.reshape(list(shape) + [2]))


@_on_complex("expand.default")
def _complex_expand(self, size, implicit=False):
    return _Complex(self.pairs.expand(list(size) + [2]))


@_on_complex("repeat.default")
def _complex_repeat(self, repeats):
    return _Complex(self.pairs.repeat(list(repeats) + [1]))


@_on_complex("unsqueeze.default")
def _complex_unsqueeze(self, dim):
    return _Complex(self.pairs.unsqueeze(_paired_dim(dim)))


@_on_complex("squeeze.dim", "squeeze.dims")
def _complex_squeeze(self, dim):
    return _Complex(self.pairs.squeeze([_paired_dim(d) for d in dim] if isinstance(dim, (list, tuple)) else _paired_dim(dim)))


@_on_complex("permute.default")
def _complex_permute(self, dims):
    rank = self.pairs.dim() - 1
    return _Complex(self.pairs.permute([F._wrapped(d, rank) for d in dims] + [rank]))


@_on_complex("transpose.int")
def _complex_transpose(self, dim0, dim1):
    return _Complex(self.pairs.transpose(_paired_dim(dim0), _paired_dim(dim1)))


@_on_complex("t.default")
def _complex_t(self):
    return _Complex(self.pairs.transpose(0, 1)) if self.pairs.dim() == 3 else self


@_on_complex("slice.Tensor")
def _complex_slice(self, dim=0, start=None, end=None, step=1):
    return _Complex(torch.ops.aten.slice.Tensor(self.pairs, _paired_dim(dim), start, end, step))


@_on_complex("select.int")
def _complex_select(self, dim, index):
    return _Complex(self.pairs.select(_paired_dim(dim), index))


@_on_complex("index.Tensor")
def _complex_index(self, indices):
    return _Complex(torch.ops.aten.index.Tensor(self.pairs, indices))


@_on_complex("index_select.default")
def _complex_index_select(self, dim, index):
    return _Complex(torch.index_select(self.pairs, _paired_dim(dim), index))


@_on_complex("cat.default")
def _complex_cat(tensors, dim=0):
    return _Complex(torch.cat([_as_complex(t).pairs for t in tensors], _paired_dim(dim)))


@_on_complex("stack.default")
def _complex_stack(tensors, dim=0):
    return _Complex(torch.stack([_as_complex(t).pairs for t in tensors], _paired_dim(dim)))


@_on_complex("flatten.using_ints")
def _complex_flatten(self, start_dim=0, end_dim=-1):
    return _Complex(self.pairs.flatten(_paired_dim(start_dim), _paired_dim(end_dim))) if self.pairs.dim() > 1 else _Complex(self.pairs.unsqueeze(0))


@_on_complex("unbind.int")
def _complex_unbind(self, dim=0):
    return tuple(_Complex(part) for part in self.pairs.unbind(_paired_dim(dim)))


@_on_complex("split.Tensor")
def _complex_split(self, split_size, dim=0):
    return tuple(_Complex(part) for part in torch.split(self.pairs, split_size, _paired_dim(dim)))


@_on_complex("split_with_sizes.default")
def _complex_split_sizes(self, split_sizes, dim=0):
    return tuple(_Complex(part) for part in torch.split(self.pairs, split_sizes, _paired_dim(dim)))


@_on_complex("chunk.default")
def _complex_chunk(self, chunks, dim=0):
    return tuple(_Complex(part) for part in torch.chunk(self.pairs, chunks, _paired_dim(dim)))


@_on_complex("flip.default")
def _complex_flip(self, dims):
    return _Complex(torch.flip(self.pairs, [_paired_dim(d) for d in dims]))


@_on_complex("roll.default")
def _complex_roll(self, shifts, dims=()):
    if not dims:
        raise NotImplementedError("roll of complex numbers without dims")
    return _Complex(torch.roll(self.pairs, shifts, [_paired_dim(d) for d in dims]))


@_on_complex("constant_pad_nd.default")
def _complex_pad(self, pad, value=0):
    if value != 0:
        raise NotImplementedError("complex numbers with others than zeros around them")
    return _Complex(torch.ops.aten.constant_pad_nd.default(self.pairs, [0, 0] + list(pad), 0))


@_on_complex("clone.default", "contiguous.default")
def _complex_clone(self, memory_format=None):
    return _Complex(self.pairs.clone())


@_on_complex("alias.default", "detach.default", "detach_.default", "lift_fresh_copy.default", "resolve_conj.default", "resolve_neg.default")
def _complex_same(self):
    return self


@_on_complex("_to_copy.default", "to.dtype", "to.dtype_layout", "to.device")
def _complex_to(self, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, copy=False, memory_format=None):
    if device is not None:
        self = _Complex(_as_complex(self).pairs.to(device))
    if dtype is None:
        return _Complex(self.pairs.clone())
    dtype = str(dtype).strip("<>").rpartition(".")[2]
    if dtype not in ("complex64", "complex128"):
        raise NotImplementedError("complex numbers as real ones; take .real or abs()")
    wanted = torch.float32 if dtype == "complex64" else torch.float64
    return _Complex(_as_complex(self).pairs.to(wanted, copy=True))


@_on_complex("sym_size.int")
def _complex_size(self, dim):
    return self.pairs.shape[_paired_dim(dim)]


# --- discrete Fourier transforms: products with the matrix of the turns


def _turns(rows, columns, size, like):
    """2 pi j k / size, reduced before it is rounded."""
    places = torch.remainder(torch.arange(rows).unsqueeze(1) * torch.arange(columns).unsqueeze(0), size)
    return places.to(torch.float64) * (2.0 * math.pi / size)


def _fitted(x, size, dim):
    """Cut off, or with zeros behind."""
    own = x.shape[dim]
    if size is None or _is_proved(x, own == size):
        return x
    if _is_proved(x, own > size):
        return torch.ops.aten.slice.Tensor(x, dim, 0, size)
    tail = list(x.shape)
    tail[dim] = size - own
    return torch.cat([x, torch.zeros(tail, dtype=x.dtype)], dim)


# A transform of a longer line is made of shorter ones, and the matrix of one that cannot be is not asked for.
_longest, _longest_prime = 1024, 16384


def _split_line(size):
    """The divisor next to the root of a long line's length; None where there is none, or it is short or not known."""
    if not isinstance(size, int) or size <= _longest:
        return None
    near = int(size**0.5)
    divisor = next((d for d in range(near, 1, -1) if size % d == 0), None)
    if divisor is None and size > _longest_prime:
        raise NotImplementedError(f"a transform of {size} numbers, a prime, is not supported; pad it")
    return divisor


def _transformed_in_two(real, imag, dim, inverse, rows):
    """x[a * m + b] at a place (a, b): along a, then turned by a * b, then along b."""
    size = real.shape[dim]
    columns = size // rows

    def parted(x):
        return x.movedim(dim, -1).unflatten(-1, (rows, columns))

    real, imag = _transformed(parted(real), None if imag is None else parted(imag), -2, inverse)
    angles = _turns(rows, columns, size, real)
    cosine, sine = torch.cos(angles).to(real.dtype), torch.sin(angles).to(real.dtype)
    if inverse:
        sine = -sine
    real, imag = real * cosine + imag * sine, imag * cosine - real * sine
    real, imag = _transformed(real, imag, -1, inverse)
    return tuple(x.transpose(-2, -1).flatten(-2).movedim(-1, dim) for x in (real, imag))


def _transformed(real, imag, dim, inverse, columns=None):
    """Along one dim, not scaled; `columns`: the first so many."""
    size = real.shape[dim]
    rows = _split_line(size)
    if rows is not None:
        both = _transformed_in_two(real, imag, dim, inverse, rows)
        return both if columns is None else tuple(torch.ops.aten.slice.Tensor(x, dim, 0, columns) for x in both)
    angles = _turns(size, size if columns is None else columns, size, real)
    cosine, sine = torch.cos(angles).to(real.dtype), torch.sin(angles).to(real.dtype)
    if inverse:
        sine = -sine
    real = real.movedim(dim, -1)
    if imag is None:
        a, b = torch.matmul(real, cosine), -torch.matmul(real, sine)
    else:
        imag = imag.movedim(dim, -1)
        a = torch.matmul(real, cosine) + torch.matmul(imag, sine)
        b = torch.matmul(imag, cosine) - torch.matmul(real, sine)
    return a.movedim(-1, dim), b.movedim(-1, dim)


def _scale_of(sizes, norm, inverse):
    count = 1
    for size in sizes:
        count = count * size
    if norm == "ortho":
        return 1.0 / math.sqrt(count)
    return 1.0 / count if (norm == "forward") != inverse else None


def _scaled(z, scale):
    if scale is None:
        return z
    return _Complex(z.pairs * scale) if isinstance(z, _Complex) else z * scale


def _real_of(z):
    real = _re(z)
    return real if real.dtype in (torch.float32, torch.float64) else real.to(torch.float32)


def _dims_of(z, s, dim):
    rank = _re(z).dim()
    if dim is None:
        dim = list(range(rank)) if s is None else list(range(rank - len(s), rank))
    dims = [F._wrapped(d, rank) for d in dim]
    return dims, [None] * len(dims) if s is None else list(s)


def _fft_all(z, dims, sizes, norm, inverse):
    real, imag = _real_of(z), _im(z) if isinstance(z, _Complex) else None
    for dim, size in zip(dims, sizes):
        real = _fitted(real, size, dim)
        imag = None if imag is None else _fitted(imag, size, dim)
    scale = _scale_of([real.shape[d] for d in dims], norm, inverse)
    for dim in dims:
        real, imag = _transformed(real, imag, dim, inverse)
    return _scaled(_joined(real, imag), scale)


def _rfft_all(x, dims, sizes, norm):
    x = _real_of(x)
    for dim, size in zip(dims, sizes):
        x = _fitted(x, size, dim)
    scale = _scale_of([x.shape[d] for d in dims], norm, False)
    real, imag = _transformed(x, None, dims[-1], False, x.shape[dims[-1]] // 2 + 1)
    for dim in dims[:-1]:
        real, imag = _transformed(real, imag, dim, False)
    return _scaled(_joined(real, imag), scale)


def _irfft_all(z, dims, sizes, norm):
    real = _real_of(z)
    imag = _im(z) if isinstance(z, _Complex) else torch.zeros_like(real)
    last = dims[-1]
    size = 2 * (real.shape[last] - 1) if sizes[-1] is None else sizes[-1]
    for dim, wanted in zip(dims[:-1], sizes[:-1]):
        real, imag = _fitted(real, wanted, dim), _fitted(imag, wanted, dim)
    half = size // 2 + 1
    real, imag = _fitted(real, half, last), _fitted(imag, half, last)
    scale = _scale_of([real.shape[d] for d in dims[:-1]] + [size], norm, True)
    for dim in dims[:-1]:
        real, imag = _transformed(real, imag, dim, True)
    if _split_line(size) is not None:
        behind = [torch.flip(torch.ops.aten.slice.Tensor(x, last, 1, (size + 1) // 2), [last]) for x in (real, imag)]
        # The first number, and of an even size the last, count as real.
        k = torch.arange(half)
        alone = torch.logical_or(k == 0, 2 * k == size).reshape([half] + [1] * (real.dim() - 1 - F._wrapped(last, real.dim())))
        imag = torch.where(alone, torch.zeros_like(imag), imag)
        full, _ = _transformed(torch.cat([real, behind[0]], last), torch.cat([imag, -behind[1]], last), last, True)
        return _scaled(full, scale)
    # Each number but the first and, of an even size, the last stands for its conjugate too.
    k = torch.arange(half)
    weight = torch.where(torch.logical_or(k == 0, 2 * k == size), 1.0, 2.0).to(real.dtype).unsqueeze(1)
    angles = _turns(half, size, size, real)
    cosine, sine = torch.cos(angles).to(real.dtype) * weight, torch.sin(angles).to(real.dtype) * weight
    result = torch.matmul(real.movedim(last, -1), cosine) - torch.matmul(imag.movedim(last, -1), sine)
    return _scaled(result.movedim(-1, last), scale)


def _other_way(norm):
    """The scale of a transform whose direction is the other one."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


def _hfft_all(z, dims, sizes, norm):
    """Real numbers of half a line and its conjugate half."""
    return _irfft_all(_complex_conj(z) if isinstance(z, _Complex) else z, dims, sizes, _other_way(norm))


def _ihfft_all(x, dims, sizes, norm):
    return _complex_conj(_rfft_all(x, dims, sizes, _other_way(norm)))


def _one_dim(transform, inverse):
    def run(self, n=None, dim=-1, norm=None):
        dims, sizes = _dims_of(self, [n], [dim])
        return transform(self, dims, sizes, norm) if inverse is None else transform(self, dims, sizes, norm, inverse)

    return run


def _several_dims(transform, inverse, default):
    def run(self, s=None, dim=default, norm=None):
        dims, sizes = _dims_of(self, s, dim)
        return transform(self, dims, sizes, norm) if inverse is None else transform(self, dims, sizes, norm, inverse)

    return run


for _name, _transform, _inverse in (("fft", _fft_all, False), ("ifft", _fft_all, True), ("rfft", _rfft_all, None), ("irfft", _irfft_all, None), ("hfft", _hfft_all, None), ("ihfft", _ihfft_all, None)):
    _complex_operators["aten.fft_" + _name + ".default"] = _one_dim(_transform, _inverse)
    _complex_operators["aten.fft_" + _name + "2.default"] = _several_dims(_transform, _inverse, [-2, -1])
    _complex_operators["aten.fft_" + _name + "n.default"] = _several_dims(_transform, _inverse, None)


def _by_number(z, dims, sizes, normalization):
    """What _fft_c2c and its kin say of scaling: 0 none, 1 by the root of the count, 2 by the count."""
    if normalization == 0:
        return None
    count = 1
    for size in sizes:
        count = count * size
    return 1.0 / math.sqrt(count) if normalization == 1 else 1.0 / count


@_on_complex("_fft_c2c.default")
def _fft_c2c(self, dim, normalization, forward):
    dims, sizes = _dims_of(self, None, dim)
    own = [_re(self).shape[d] for d in dims]
    plain = _fft_all(self, dims, sizes, "backward" if forward else "forward", not forward)
    return _scaled(plain, _by_number(self, dims, own, normalization))


@_on_complex("_fft_r2c.default")
def _fft_r2c(self, dim, normalization, onesided):
    dims, sizes = _dims_of(self, None, dim)
    own = [self.shape[d] for d in dims]
    plain = _rfft_all(self, dims, sizes, "backward") if onesided else _fft_all(self, dims, sizes, "backward", False)
    return _scaled(plain, _by_number(self, dims, own, normalization))


@_on_complex("_fft_c2r.default")
def _fft_c2r(self, dim, normalization, last_dim_size):
    dims, _ = _dims_of(self, None, dim)
    own = [_re(self).shape[d] for d in dims[:-1]] + [last_dim_size]
    plain = _irfft_all(self, dims, [None] * (len(dims) - 1) + [last_dim_size], "forward")
    return _scaled(plain, _by_number(self, dims, own, normalization))
