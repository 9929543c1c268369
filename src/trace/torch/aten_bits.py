# SPDX-License-Identifier: Apache-2.0
# --- numbers by their bits and divisors, places under a mask, rows that occur most; part of aten.py's namespace


@_aten("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)")
def _frexp(self):
    if not self.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    if self.dtype == torch.float64:
        x, whole, digits, bias, most = self, torch.int64, 52, 1022, 2047
    else:
        x, whole, digits, bias, most = self.to(torch.float32), torch.int32, 23, 126, 255
    # The smallest numbers have no leading one until they are scaled.
    small = torch.logical_and(torch.abs(x) < 2.0 ** (1 - bias), x != 0)
    scaled = torch.where(small, x * 2.0 ** (digits + 1), x)
    bits = scaled.view(whole)
    exponent = torch.bitwise_and(torch.bitwise_right_shift(bits, digits), most)
    plain = torch.logical_and(x != 0, exponent != most)
    mantissa = torch.bitwise_or(torch.bitwise_and(bits, -1 - most * 2**digits), bias * 2**digits).view(x.dtype)
    exponent = torch.where(plain, exponent - bias - torch.where(small, digits + 1, 0), 0)
    return torch.where(plain, mantissa, x).to(self.dtype), exponent.to(torch.int32)


def _divisor(a, b):
    """The greatest common one, by remainders as C has them: the smallest integer of a type is its own absolute value."""
    common = F.broadcast_shapes(a.shape, b.shape)
    a, b = torch.abs(a).expand(common).clone(), torch.abs(b).expand(common).clone()

    def goes_on(*pair):
        return (pair[0] != 0).any()

    def turn(a, b):
        rest = torch.fmod(b, torch.where(a == 0, 1, a))
        return torch.where(a == 0, 0, rest), torch.where(a == 0, b, a)

    return torch._higher_order_ops.while_loop(goes_on, turn, (a, b))[1]


@_aten("aten::gcd(Tensor self, Tensor other) -> Tensor")
def _gcd(self, other):
    kept = torch.result_type(self, other)
    return _divisor(self.to(kept), other.to(kept))


@_aten("aten::lcm(Tensor self, Tensor other) -> Tensor")
def _lcm(self, other):
    kept = torch.result_type(self, other)
    a, b = self.to(kept), other.to(kept)
    divisor = _divisor(a, b)
    factor = torch.div(a, torch.where(divisor == 0, 1, divisor), rounding_mode="trunc")
    # Narrow integers are multiplied as C's int, whose absolute value is what is cut to the type.
    if torch.iinfo(kept).bits < 32:
        factor, b = factor.to(torch.int32), b.to(torch.int32)
    return torch.where(divisor == 0, 0, torch.abs(factor * b).to(kept))


@_aten("aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor")
def _native_dropout_backward(grad_output, mask, scale):
    return grad_output * mask * float(scale)


def _within(self, indices):
    return [None if index is None else torch.clamp(index, -self.shape[d], self.shape[d] - 1) for d, index in enumerate(indices)]


@_aten("aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor")
def _unsafe_masked_index(self, mask, indices, fill):
    return torch.ops.aten.index.Tensor(self, _within(self, indices)).masked_fill(torch.logical_not(mask), fill)


@_aten("aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor")
def _unsafe_masked_index_put_accumulate(self, mask, indices, values):
    return torch.ops.aten.index_put.default(self, _within(self, indices), values.masked_fill(torch.logical_not(mask), 0), True)


@_aten("aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor")
def _embedding_renorm(self, indices, max_norm, norm_type):
    """Rows that are looked up are made no longer than `max_norm`."""
    norms = _vector_norm(self, norm_type, [1], True, None)
    asked = torch.zeros([self.shape[0]], dtype=torch.bool, device=self.device).index_fill(0, indices.reshape(-1), True).unsqueeze(1)
    return torch.where(torch.logical_and(asked, norms > max_norm), self * (max_norm / (norms + 1e-7)), self)


def _shifted(self, dim, backwards):
    dims = list(range(self.dim())) if dim is None else list(dim)
    return torch.roll(self, [(self.shape[d] + 1) // 2 if backwards else self.shape[d] // 2 for d in dims], dims)


@_aten("aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor")
def _fft_fftshift(self, dim):
    return _shifted(self, dim, False)


@_aten("aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor")
def _fft_ifftshift(self, dim):
    return _shifted(self, dim, True)


@_aten("aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
def _mode(self, dim, keepdim):
    """Of the values that occur most, the smallest one, and the last place where it stands."""
    if self.dim() == 0:
        return self.clone(), torch.zeros([], dtype=torch.int64)
    x = torch.movedim(self, dim, -1)
    counts = (x.unsqueeze(-1) == x.unsqueeze(-2)).to(torch.int64).sum(-1)
    most = counts == torch.amax(counts, [-1], True)
    order = x.to(torch.int64) if x.dtype == torch.bool else x
    largest = torch.amax(order, [-1], True)
    value = torch.amin(torch.where(most, order, largest), [-1], True)
    place = torch.amax(torch.where(order == value, torch.arange(x.shape[-1]), 0), [-1], True)
    value, place = torch.movedim(value.to(self.dtype), -1, dim), torch.movedim(place, -1, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


# --- slopes between neighbours


def _slopes(self, spacings, dims, edge_order):
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    self = self if self.is_floating_point() else self.to(torch.float32)
    found = []
    for spacing, dim in zip(spacings, dims):
        x = torch.movedim(self, dim, -1)
        count = x.shape[-1]
        if isinstance(spacing, torch.Tensor):
            steps = spacing[1:] - spacing[:-1]
            left, right = steps[:-1], steps[1:]
            a, b, c = -right / (left * (left + right)), (right - left) / (left * right), left / (right * (left + right))
            inner = a * x[..., : count - 2] + b * x[..., 1 : count - 1] + c * x[..., 2:]
            first, last = steps[:1], steps[count - 2 :]
            near, behind = steps[1:2], steps[count - 3 : count - 2]
        else:
            inner = (x[..., 2:] - x[..., : count - 2]) / (2 * spacing)
            first = last = near = behind = spacing
        if edge_order == 1:
            begin, end = (x[..., 1:2] - x[..., :1]) / first, (x[..., count - 1 :] - x[..., count - 2 : count - 1]) / last
        else:
            begin = -(2 * first + near) / (first * (first + near)) * x[..., :1] + (first + near) / (first * near) * x[..., 1:2] - first / (near * (first + near)) * x[..., 2:3]
            end = last / (behind * (behind + last)) * x[..., count - 3 : count - 2] - (behind + last) / (behind * last) * x[..., count - 2 : count - 1] + (2 * last + behind) / (last * (behind + last)) * x[..., count - 1 :]
        found.append(torch.movedim(torch.cat([begin, inner, end], -1), -1, dim).to(self.dtype))
    return found


def _each_dim(self, dim):
    return list(range(self.dim())) if dim is None else [dim]


@_aten("aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]")
def _gradient(self, spacing, dim, edge_order):
    dims = _each_dim(self, dim)
    return _slopes(self, [1 if spacing is None else spacing] * len(dims), dims, edge_order)


@_aten("aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]")
def _gradient_dims(self, spacing, dim, edge_order):
    return _slopes(self, [spacing] * len(dim), dim, edge_order)


@_aten("aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]")
def _gradient_plain(self, dim, edge_order):
    return _slopes(self, [1] * len(dim), dim, edge_order)


@_aten("aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]")
def _gradient_spacings(self, spacing, dim, edge_order):
    return _slopes(self, spacing, _each_dim(self, dim), edge_order)


@_aten("aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]")
def _gradient_spacings_dims(self, spacing, dim, edge_order):
    return _slopes(self, spacing, dim, edge_order)


@_aten("aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]")
def _gradient_places(self, spacing, dim, edge_order):
    return _slopes(self, spacing, _each_dim(self, dim), edge_order)


@_aten("aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]")
def _gradient_places_dims(self, spacing, dim, edge_order):
    return _slopes(self, spacing, dim, edge_order)
