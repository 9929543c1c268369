# SPDX-License-Identifier: Apache-2.0
# --- other names of functions, and small functions of torch; part of composites.py's namespace


def arccos(input):
    return torch.acos(input)


def arccosh(input):
    return torch.acosh(input)


def arcsin(input):
    return torch.asin(input)


def arcsinh(input):
    return torch.asinh(input)


def arctan(input):
    return torch.atan(input)


def arctan2(input, other):
    return torch.atan2(input, other)


def arctanh(input):
    return torch.atanh(input)


def greater_equal(input, other):
    return torch.ge(input, other)


def less_equal(input, other):
    return torch.le(input, other)


def not_equal(input, other):
    return torch.ne(input, other)


def fix(input):
    return torch.trunc(input)


def ger(input, vec2):
    return outer(input, vec2)


def row_stack(tensors):
    return vstack(tensors)


def is_floating_point(input):
    return input.dtype.is_floating_point


def is_signed(input):
    return input.dtype != torch.uint8 and input.dtype != torch.bool


def is_same_size(input, other):
    return list(input.shape) == list(other.shape)


def chain_matmul(*matrices):
    product = matrices[0]
    for matrix in matrices[1:]:
        product = torch.mm(product, matrix)
    return product.clone() if len(matrices) == 1 else product


def corrcoef(input):
    covariance = torch.cov(input)
    if covariance.dim() == 0:
        return covariance / covariance
    spread = torch.sqrt(torch.diagonal(covariance))
    return torch.clamp(covariance / spread.unsqueeze(1) / spread.unsqueeze(0), -1, 1)


def vander(x, N=None, increasing=False):
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    powers = torch.arange(count, device=x.device)
    made = torch.pow(x.unsqueeze(1), powers)
    return made if increasing else torch.flip(made, [1])


def unravel_index(indices, shape):
    shape, found = [shape] if isinstance(shape, int) else list(shape), []
    for size in reversed(shape):
        found.insert(0, indices % size)
        indices = indices // size
    return tuple(found)


def nuclear_norm(input, keepdim=False):
    return torch.linalg.matrix_norm(input, "nuc", keepdim=keepdim)


def _window_places(window_length, periodic, dtype):
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(f"window functions expect floating point dtypes, got: {dtype}")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    size = window_length + 1 if periodic else window_length
    return torch.arange(size, dtype=dtype), size - 1, dtype


def _window(window_length, periodic, dtype, device, requires_grad, values):
    if window_length < 0:
        raise RuntimeError(f"window functions expect a non-negative window_length, got {window_length}")
    if window_length in (0, 1):
        made = torch.ones([window_length], dtype=torch.get_default_dtype() if dtype is None else dtype)
    else:
        places, last, kind = _window_places(window_length, periodic, dtype)
        made = values(places, last).to(kind)[:window_length].clone()
    made = made if device is None else made.to(device)
    return made.requires_grad_() if requires_grad else made


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, requires_grad=False):
    _check_layout(layout)
    return _window(window_length, periodic, dtype, device, requires_grad, lambda n, last: torch.cos(n * (2 * math.pi / last)) * -beta + alpha)


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    return hamming_window(window_length, periodic, 0.5, 0.5, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    _check_layout(layout)
    return _window(window_length, periodic, dtype, device, requires_grad, lambda n, last: torch.cos(n * (math.pi / last) * 4) * 0.08 - torch.cos(n * (math.pi / last) * 2) * 0.5 + 0.42)


def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    _check_layout(layout)
    rising = lambda n, last: torch.where(n <= last // 2, n * (2.0 / last), 2 - n * (2.0 / last))
    return _window(window_length, periodic, dtype, device, requires_grad, rising)


def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, requires_grad=False):
    _check_layout(layout)

    def values(n, last):
        place = n * 2 / last - 1
        return torch.i0(beta * torch.sqrt(torch.clamp(1 - place * place, min=0))) / torch.i0(torch.full([], beta, dtype=n.dtype))

    return _window(window_length, periodic, dtype, device, requires_grad, values)


# --- complex numbers: pairs between these functions, of aten_complex.py


def _on_pairs(name, *args):
    from torch._pellucid_aten import _complex_call

    return _complex_call(name, args, {})


def complex(real, imag):
    if real.dtype != imag.dtype:
        raise RuntimeError(f"Expected object of scalar type {_scalar_name(real.dtype)} but got scalar type {_scalar_name(imag.dtype)} for second argument")
    if real.dtype not in (torch.float32, torch.float64):
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {_scalar_name(real.dtype)} and {_scalar_name(imag.dtype)}")
    return _on_pairs("complex", real, imag)


def polar(abs, angle):
    if abs.dtype != angle.dtype or abs.dtype not in (torch.float32, torch.float64):
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {_scalar_name(abs.dtype)} and {_scalar_name(angle.dtype)}")
    return _on_pairs("polar", abs, angle)


def view_as_complex(input):
    if input.dtype not in (torch.float32, torch.float64):
        raise RuntimeError(f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {_scalar_name(input.dtype)}")
    return _on_pairs("view_as_complex", input)


def view_as_real(input):
    if isinstance(input, torch.Tensor):
        raise TypeError("view_as_real is only supported for complex tensors")
    return _on_pairs("view_as_real", input)


def is_complex(input):
    return not isinstance(input, torch.Tensor) and input.is_complex()
