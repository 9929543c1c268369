# SPDX-License-Identifier: Apache-2.0
# --- further functions of numbers, lines and matrices; part of aten.py's namespace


def _floating(x):
    """Integers and truth values count as the default type's numbers."""
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


def _in_double(function):
    """Computed in float64 and rounded once, to the type that PyTorch gives."""

    def computed(self):
        kept = self.dtype if self.is_floating_point() else torch.get_default_dtype()
        return function(self.to(torch.float64)).to(kept)

    return computed


def _polynomial(x, coefficients):
    """Highest power first."""
    total = None
    for c in coefficients:
        total = torch.full_like(x, c) if total is None else total * x + c
    return total


def _log_gamma(x):
    """Lanczos' series for x >= 0.5, reflected below."""
    mirrored = x < 0.5
    y = torch.where(mirrored, 1.0 - x, x) - 1.0
    series = 0.99999999999980993
    for i, c in enumerate((676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7)):
        series = series + c / (y + (i + 1.0))
    t = y + 7.5
    value = 0.5 * math.log(2 * math.pi) + (y + 0.5) * torch.log(t) - t + torch.log(series)
    # Near its zeros at 1 and 2 the sum above cancels; the values there are small, and so is what is lost.
    # Where nothing is mirrored the sine may be 0, and what is not chosen would have a slope that is no number.
    turn = torch.where(mirrored, x - torch.floor(x), 0.5)
    below = math.log(math.pi) - torch.log(torch.abs(torch.sin(math.pi * turn))) - value
    result = torch.where(mirrored, below, value)
    pole = (x <= 0) & (x == torch.floor(x))
    return torch.where(pole | torch.isinf(x), float("inf"), result)


@_aten("aten::lgamma(Tensor self) -> Tensor")
def _lgamma(self):
    return _in_double(_log_gamma)(self)


@_aten("aten::mvlgamma(Tensor self, int p) -> Tensor")
def _mvlgamma(self, p):
    total = p * (p - 1) / 4.0 * math.log(math.pi)
    for i in range(p):
        total = total + _lgamma(_floating(self) - i / 2.0)
    return total


def _digamma_of(x):
    """The asymptotic series from 10 on, the recurrence below, reflected for negative numbers."""
    negative = x < 0.5
    y = torch.where(negative, 1.0 - x, x)
    total = torch.zeros_like(y)
    for _ in range(10):
        small = y < 10.0
        total = torch.where(small, total - 1.0 / y, total)
        y = torch.where(small, y + 1.0, y)
    z = 1.0 / (y * y)
    tail = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))))
    total = total + torch.log(y) - 0.5 / y - tail
    turn = x - torch.floor(x)
    angle = math.pi * torch.where(negative & (turn != 0), turn, 0.5)
    result = torch.where(negative, total - math.pi * torch.cos(angle) / torch.sin(angle), total)
    whole = (x < 0) & (x == torch.floor(x))
    result = torch.where(whole, float("nan"), result)
    return torch.where(x == 0, torch.where(1.0 / x < 0, float("inf"), float("-inf")), torch.where(x == float("inf"), x, result))


@_aten("aten::digamma(Tensor self) -> Tensor")
def _digamma(self):
    return _in_double(_digamma_of)(self)


@_aten("aten::special_digamma(Tensor self) -> Tensor")
def _special_digamma(self):
    return _digamma(self)


@_aten("aten::special_gammaln(Tensor self) -> Tensor")
def _special_gammaln(self):
    return _lgamma(self)


def _zeta_of(s, q):
    """Euler and Maclaurin's sum of 1 / (q + k) ** s."""
    total = torch.zeros_like(q * s)
    for k in range(12):
        total = total + torch.pow(q + k, -s)
    w = q + 12.0
    total = total + torch.pow(w, 1.0 - s) / (s - 1.0) + 0.5 * torch.pow(w, -s)
    factor, power = s, torch.pow(w, -s - 1.0)
    for i, b in enumerate((1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600)):
        total = total + b * factor * power
        factor = factor * (s + (2.0 * i + 1.0)) * (s + (2.0 * i + 2.0))
        power = power / (w * w)
    return total


@_aten("aten::special_zeta(Tensor self, Tensor other) -> Tensor")
def _special_zeta(self, other):
    kept = (_floating(self) + _floating(other)).dtype
    s, q = self.to(torch.float64), other.to(torch.float64)
    result = _zeta_of(s, q)
    whole = (q <= 0) & (q == torch.floor(q))
    result = torch.where(whole, float("inf"), torch.where((q < 0) & (s != torch.floor(s)), float("nan"), result))
    return torch.where(s == 1.0, float("inf"), torch.where(s < 1.0, float("nan"), result)).to(kept)


@_aten("aten::polygamma(int n, Tensor self) -> Tensor")
def _polygamma(n, self):
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return _digamma(self)
    scale = float(math.factorial(n)) * (1.0 if n % 2 else -1.0)

    def function(x):
        s = torch.full_like(x, n + 1.0)
        result = scale * _zeta_of(s, x)
        return torch.where((x <= 0) & (x == torch.floor(x)), scale * float("inf"), result)

    return _in_double(function)(self)


@_aten("aten::special_polygamma(int n, Tensor self) -> Tensor")
def _special_polygamma(n, self):
    return _polygamma(n, self)


def _inverse_normal(p):
    """Where the normal distribution reaches p, by Acklam's rational functions and two steps of Halley's method."""
    low = 0.02425
    q = torch.sqrt(-2.0 * torch.log(torch.where(p < 0.5, p, 1.0 - p)))
    tail = _polynomial(q, (-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783))
    tail = tail / _polynomial(q, (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996, 3.754408661907416, 1.0))
    c = p - 0.5
    r = c * c
    middle = c * _polynomial(r, (-3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02, 1.383577518672690e02, -3.066479806614716e01, 2.506628277459239))
    middle = middle / _polynomial(r, (-5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02, 6.680131188771972e01, -1.328068155288572e01, 1.0))
    x = torch.where(p < low, tail, torch.where(p > 1.0 - low, -tail, middle))
    for _ in range(2):
        error = 0.5 * torch.erfc(-x / math.sqrt(2.0)) - p
        step = error * math.sqrt(2 * math.pi) * torch.exp(x * x / 2.0)
        x = x - step / (1.0 + x * step / 2.0)
    return x


@_aten("aten::special_ndtri(Tensor self) -> Tensor")
def _special_ndtri(self):
    def function(p):
        inner = torch.where((p > 0) & (p < 1), p, 0.5)
        ends = torch.where(p == 0, float("-inf"), torch.where(p == 1, float("inf"), float("nan")))
        return torch.where((p > 0) & (p < 1), _inverse_normal(inner), ends)

    return _in_double(function)(self)


@_aten("aten::erfinv(Tensor self) -> Tensor")
def _erfinv(self):
    def function(y):
        inside = torch.abs(y) < 1
        inner = torch.where(inside, y, 0.0)
        # By the smaller tail, which keeps the digits of what lies near 1.
        found = -torch.sign(inner) * _inverse_normal((1.0 - torch.abs(inner)) / 2.0) / math.sqrt(2.0)
        found = torch.where(torch.abs(inner) < 1e-8, inner * (math.sqrt(math.pi) / 2), found)
        return torch.where(inside, found, y * torch.where(inside, 1.0, torch.where(torch.abs(y) == 1, float("inf"), float("nan"))))

    return _in_double(function)(self)


@_aten("aten::special_erfinv(Tensor self) -> Tensor")
def _special_erfinv(self):
    return _erfinv(self)


@_aten("aten::special_ndtr(Tensor self) -> Tensor")
def _special_ndtr(self):
    return _in_double(lambda x: 0.5 * torch.erfc(-x / math.sqrt(2.0)))(self)


def _scaled_complement(x):
    """exp(x * x) * erfc(x); far out, where both leave the numbers, by its continued fraction."""
    far = x > 10.0
    y = torch.where(far, x, 11.0)
    z = y * y
    fraction = 1.0 / (math.sqrt(math.pi) * y) * (1.0 - 0.5 / z * (1.0 - 1.5 / z * (1.0 - 2.5 / z * (1.0 - 3.5 / z * (1.0 - 4.5 / z)))))
    near = torch.where(far, 0.0, x)
    return torch.where(far, fraction, torch.exp(near * near) * torch.erfc(near))


@_aten("aten::special_erfcx(Tensor self) -> Tensor")
def _special_erfcx(self):
    return _in_double(_scaled_complement)(self)


@_aten("aten::special_log_ndtr(Tensor self) -> Tensor")
def _special_log_ndtr(self):
    def function(x):
        t = x / math.sqrt(2.0)
        left = torch.log(_scaled_complement(-torch.where(x < -1.0, t, -1.0)) / 2.0) - t * t
        return torch.where(x < -1.0, left, torch.log1p(-0.5 * torch.erfc(torch.where(x < -1.0, 0.0, t))))

    return _in_double(function)(self)


@_aten("aten::special_entr(Tensor self) -> Tensor")
def _special_entr(self):
    x = _floating(self)
    return torch.where(torch.isnan(x), x, torch.where(x > 0, -x * torch.log(x), torch.where(x == 0, 0.0, float("-inf")))).to(x.dtype)


@_aten("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor")
def _special_xlog1py(self, other):
    x, y = _floating(self), _floating(other)
    return torch.where(torch.isnan(y), y, torch.where(x == 0, 0.0, x * torch.log1p(y)))


def _bessel_series(x, odd, scaled):
    """I0 or I1 by its power series; beyond 20 by its asymptotic one."""
    # Even and odd functions of x itself, whose slope at 0 is not that of its size.
    size = torch.where(x < 0, -x, x)
    near = torch.where(size < 20.0, size, 20.0)
    quarter = near * near / 4.0
    term = near / 2.0 if odd else torch.ones_like(near)
    total = term
    for k in range(1, 60):
        term = term * quarter / (k * (k + 1.0) if odd else float(k * k))
        total = total + term
    far = torch.where(size < 20.0, 20.0, size)
    order, series, part = 4.0 if odd else 0.0, torch.ones_like(far), torch.ones_like(far)
    for k in range(1, 20):
        part = part * -(order - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * k * far)
        series = series + part
    series = series / torch.sqrt(2.0 * math.pi * far)
    # exp(-|x|) has no slope at 0, where PyTorch's is 0.
    falling = torch.exp(-torch.abs(near))
    result = torch.where(size < 20.0, total * falling, series) if scaled else torch.where(size < 20.0, total, series * torch.exp(far))
    return torch.where(x < 0, -result, result) if odd else result


for _name, _odd, _by_exponential in (("i0", False, False), ("special_i0", False, False), ("special_i0e", False, True), ("special_i1", True, False), ("special_i1e", True, True), ("special_modified_bessel_i0", False, False), ("special_modified_bessel_i1", True, False)):
    _aten(f"aten::{_name}(Tensor self) -> Tensor")(lambda self, odd=_odd, scaled=_by_exponential: _in_double(lambda x: _bessel_series(x, odd, scaled))(self))


# --- lines


@_aten("aten::msort(Tensor self) -> Tensor")
def _msort(self):
    return self.clone() if self.dim() == 0 else torch.ops.aten.sort.stable(self, stable=True, dim=0, descending=False)[0]


@_aten("aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor")
def _argsort_stable(self, stable, dim, descending):
    return torch.ops.aten.sort.stable(self, stable=stable, dim=dim, descending=descending)[1]


@_aten("aten::logcumsumexp(Tensor self, int dim) -> Tensor")
def _logcumsumexp(self, dim):
    if self.dim() == 0:
        return self.clone()
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    top = torch.amax(wide, [dim], True) if not _is_known(self.shape[dim]) or self.shape[dim] else torch.zeros([1], dtype=wide.dtype)
    top = torch.where(torch.isinf(top), 0.0, top)
    return (torch.log(torch.cumsum(torch.exp(wide - top), dim)) + top).to(self.dtype)


def _trapezoids(y, x, dx, dim):
    """The areas between neighbours."""
    size = y.shape[dim]
    if isinstance(size, int) and size == 0:
        return None
    later, earlier = y.narrow(dim, 1, size - 1), y.narrow(dim, 0, size - 1)
    if x is None:
        return (later + earlier) * (dx / 2.0)
    if x.dim() == 1 and y.dim() > 1:
        x = x.reshape([-1 if d == F._wrapped(dim, y.dim()) else 1 for d in range(y.dim())])
    along = dim if dim < 0 else dim - y.dim()
    count = x.shape[along]
    return (later + earlier) * (x.narrow(along, 1, count - 1) - x.narrow(along, 0, count - 1)) / 2.0


def _trapezoid_sum(y, x, dx, dim):
    if isinstance(y.shape[dim], int) and y.shape[dim] == 0:
        return torch.zeros([n for d, n in enumerate(y.shape) if d != F._wrapped(dim, y.dim())], dtype=y.dtype)
    if x is None:
        return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx
    areas = _trapezoids(y, x, dx, dim)
    if areas is None:
        return torch.zeros([n for d, n in enumerate(y.shape) if d != F._wrapped(dim, y.dim())], dtype=_floating(y).dtype)
    return areas.sum(dim)


@_aten("aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")
def _trapezoid_x(y, x, dim):
    return _trapezoid_sum(y, x, 1, dim)


@_aten("aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")
def _trapezoid_dx(y, dx, dim):
    return _trapezoid_sum(y, None, dx, dim)


@_aten("aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")
def _trapz_x(y, x, dim):
    return _trapezoid_sum(y, x, 1, dim)


@_aten("aten::trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor")
def _trapz_dx(y, dx, dim):
    return _trapezoid_sum(y, None, dx, dim)


@_aten("aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")
def _cumulative_trapezoid_x(y, x, dim):
    return torch.cumsum(_trapezoids(y, x, 1, dim), dim)


@_aten("aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")
def _cumulative_trapezoid_dx(y, dx, dim):
    return torch.cumsum(_trapezoids(y, None, dx, dim), dim)


@_aten("aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def _nanmedian_dim(self, dim, keepdim):
    _check_has_elements(self, dim)
    if not self.is_floating_point() or self.dim() == 0:
        return _median_dim(self, dim, keepdim)
    values, places = torch.ops.aten.sort.stable(self, stable=True, dim=dim, descending=False)
    count = (self == self).to(torch.int64).sum(dim, True)
    middle = torch.clamp((count - 1) // 2, min=0)
    value, place = torch.gather(values, dim, middle), torch.gather(places, dim, middle)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


@_aten("aten::nanmedian(Tensor self) -> Tensor")
def _nanmedian(self):
    if type(self.numel()) is int and self.numel() == 0:
        return torch.median(self)
    return _nanmedian_dim(self.reshape(-1), 0, False)[0]


def _quantiles(self, q, dim, keepdim, interpolation, skips_nan):
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    torch._check_all(torch.logical_and(q >= 0, q <= 1), "RuntimeError", "quantile() q values must be in the range [0, 1]")
    rows = self.reshape(-1) if dim is None else torch.movedim(self, dim, -1) if self.dim() else self.reshape(1)
    ordered = torch.ops.aten.sort.stable(rows, stable=True, dim=-1, descending=False)[0]
    size = ordered.shape[-1]
    count = (rows == rows).to(torch.int64).sum(-1, True)
    rank = q.reshape(-1) * (torch.clamp(count - 1, min=0) if skips_nan else torch.full_like(count, size - 1)).to(q.dtype)
    if interpolation == "lower":
        rank = torch.floor(rank)
    elif interpolation == "higher":
        rank = torch.ceil(rank)
    elif interpolation == "nearest":
        rank = torch.round(rank)
    low = torch.floor(rank)
    places = low.to(torch.int64)
    below = torch.gather(ordered, -1, places)
    above = torch.gather(ordered, -1, torch.ceil(rank).to(torch.int64))
    share = torch.full_like(rank, 0.5) * (torch.ceil(rank) - low) if interpolation == "midpoint" else rank - low
    found = F.lerp(below, above, share.to(below.dtype))
    if not skips_nan:
        found = torch.where(count < size, float("nan"), found)
    whole = [1] * self.dim() if dim is None else [1 if d == dim % max(self.dim(), 1) else n for d, n in enumerate(self.shape)]
    kept = whole if keepdim else [n for d, n in enumerate(whole) if dim is not None and d != dim % max(self.dim(), 1)]
    if q.dim() == 0:
        return found.squeeze(-1).reshape(kept)
    return torch.movedim(found, -1, 0).reshape([q.shape[0]] + kept)


@_aten("aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor")
def _quantile(self, q, dim, keepdim, interpolation):
    return _quantiles(self, q, dim, keepdim, interpolation, False)


@_aten("aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor")
def _quantile_scalar(self, q, dim, keepdim, interpolation):
    return _quantiles(self, torch.full([], q, dtype=self.dtype), dim, keepdim, interpolation, False)


@_aten("aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor")
def _nanquantile(self, q, dim, keepdim, interpolation):
    return _quantiles(self, q, dim, keepdim, interpolation, True)


@_aten("aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor")
def _nanquantile_scalar(self, q, dim, keepdim, interpolation):
    return _quantiles(self, torch.full([], q, dtype=self.dtype), dim, keepdim, interpolation, True)


@_aten("aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor")
def _renorm(self, p, dim, maxnorm):
    wide = _wide(self)
    size = F.norm(wide, p, [d for d in range(self.dim()) if d != F._wrapped(dim, self.dim())], True)
    return (wide * torch.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)).to(self.dtype)


@_aten("aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor")
def _dist(self, other, p):
    return _vector_norm(self - other, p, None, False, None)


# --- shapes


@_aten("aten::diagflat(Tensor self, int offset=0) -> Tensor")
def _diagflat(self, offset):
    return _diag_embed(self.reshape(-1), offset, 0, 1)


@_aten("aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor")
def _sum_to_size(self, size):
    if len(size) == 0:
        return torch.sum(self)
    lead = self.dim() - len(size)
    dims = list(range(lead)) + [lead + d for d, n in enumerate(size) if n is not self.shape[lead + d] and n == 1]
    return (torch.sum(self, dims, True) if dims else self).reshape(size)


@_aten("aten::squeeze_copy(Tensor self) -> Tensor")
def _squeeze_copy_all(self):
    return self.squeeze().clone()


@_aten("aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor")
def _squeeze_copy_dims(self, dim):
    return torch.ops.aten.squeeze.dims(self, dim).clone()


@_aten("aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor")
def _unfold_copy(self, dimension, size, step):
    return F.unfold(self, dimension, size, step).clone()


@_aten("aten::conj_physical(Tensor self) -> Tensor")
def _conj_physical(self):
    return self.clone()


@_aten("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor")
def _copysign_scalar(self, other):
    return _copysign(_floating(self), torch.full([], float(other), dtype=torch.float32))


def _cut(self, indices_or_sections, dim):
    if isinstance(indices_or_sections, int) and self.shape[dim] % indices_or_sections != 0:
        raise RuntimeError(f"an even split of dim {dim}, which has {self.shape[dim]} elements, into {indices_or_sections} parts")
    return F.tensor_split(self, indices_or_sections, dim)


@_aten("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
def _hsplit(self, sections):
    return _cut(self, sections, 0 if self.dim() == 1 else 1)


@_aten("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
def _hsplit_array(self, indices):
    return _cut(self, indices, 0 if self.dim() == 1 else 1)


@_aten("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
def _vsplit(self, sections):
    return _cut(self, sections, 0)


@_aten("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
def _vsplit_array(self, indices):
    return _cut(self, indices, 0)


@_aten("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
def _dsplit(self, sections):
    return _cut(self, sections, 2)


@_aten("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
def _dsplit_array(self, indices):
    return _cut(self, indices, 2)


@_aten("aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]")
def _atleast_1d_all(tensors):
    return [F.atleast_1d(t) for t in tensors]


@_aten("aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]")
def _atleast_2d_all(tensors):
    return [F.atleast_2d(t) for t in tensors]


@_aten("aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]")
def _atleast_3d_all(tensors):
    return [F.atleast_3d(t) for t in tensors]


@_aten("aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor")
def _combinations(self, r, with_replacement):
    count = self.shape[0]
    if not _is_known(count):
        raise NotImplementedError(f"combinations of a dynamic number of elements, {count}; make that size static")
    chosen = [[]]
    for _ in range(r):
        chosen = [c + [i] for c in chosen for i in range((c[-1] + (0 if with_replacement else 1)) if c else 0, count)]
    places = torch.tensor([i for c in chosen for i in c], dtype=torch.int64)
    return torch.index_select(self, 0, places).reshape([len(chosen), r])


def _line_of(start, end, steps, dtype, device):
    """As linspace() of numbers, with ends that are tensors."""
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    start, end = (t.to(wide) if isinstance(t, torch.Tensor) else t for t in (start, end))
    i = torch.arange(steps, dtype=wide, device=device)
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    line = torch.where(i < steps // 2, start + step * i, end - step * (steps - 1 - i)) if steps > 1 else i + start
    return line.to(torch.get_default_dtype() if dtype is None else dtype)


@_aten("aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _linspace_tensors(start, end, steps, dtype, layout, device, pin_memory):
    return _line_of(start, end, steps, dtype, device)


@_aten("aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _linspace_tensor_scalar(start, end, steps, dtype, layout, device, pin_memory):
    return _line_of(start, end, steps, dtype, device)


@_aten("aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _linspace_scalar_tensor(start, end, steps, dtype, layout, device, pin_memory):
    return _line_of(start, end, steps, dtype, device)


@_aten("aten::logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
def _logspace(start, end, steps, base, dtype, layout, device, pin_memory):
    return torch.pow(float(base), F.linspace(start, end, steps, torch.float64, device)).to(torch.get_default_dtype() if dtype is None else dtype)


# --- products and norms of matrices


@_aten("aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor")
def _linalg_vecdot(x, y, dim):
    return (x * y).sum(dim)


@_aten("aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)")
def _linalg_diagonal(A, offset, dim1, dim2):
    return F.diagonal(A, offset, dim1, dim2)


@_aten("aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor")
def _linalg_vander(x, N):
    if x.dim() == 0:
        x = x.unsqueeze(0)
    count = x.shape[-1] if N is None else N
    columns = [torch.ones_like(x)]
    for _ in range(count - 1):
        columns.append(columns[-1] * x)
    return torch.stack(columns, -1)


@_aten("aten::linalg_multi_dot(Tensor[] tensors) -> Tensor")
def _linalg_multi_dot(tensors):
    product = tensors[0]
    for other in tensors[1:]:
        product = torch.matmul(product, other)
    return product


@_aten("aten::linalg_matrix_power(Tensor self, int n) -> Tensor")
def _linalg_matrix_power(self, n):
    if n < 0:
        self, n = _linalg_inv(self), -n
    result, power = None, self
    while n > 0:
        if n % 2:
            result = power if result is None else torch.matmul(result, power)
        n = n // 2
        if n > 0:
            power = torch.matmul(power, power)
    return F.eye(self.shape[-1], None, self.dtype).expand(self.shape).clone() if result is None else result.clone()


def _matrix_norm(self, ord, dim, keepdim, dtype):
    x = self if dtype is None else self.to(dtype)
    kept, x = x.dtype, _wide(x)
    rows, columns = [F._wrapped(d, self.dim()) for d in dim]
    if ord == "fro":
        return F.norm(x, 2, [rows, columns], keepdim).to(kept)
    if ord in (1, -1, float("inf"), float("-inf")):
        along, across = (rows, columns) if ord in (1, -1) else (columns, rows)
        if x.shape[across] is 0 and ord > 0:
            return torch.sum(x, [rows, columns], keepdim).to(kept)
        sums = torch.sum(torch.abs(x), [along], True)
        best = torch.amax(sums, [across], True) if ord > 0 else torch.amin(sums, [across], True)
        return (best if keepdim else torch.ops.aten.squeeze.dims(best, [rows, columns])).to(kept)
    if ord in (2, -2, "nuc"):
        return _norm_of_values(x, ord, rows, columns, keepdim).to(kept)
    raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


@_aten("aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _linalg_matrix_norm(self, ord, dim, keepdim, dtype):
    return _matrix_norm(self, ord, dim, keepdim, dtype)


@_aten("aten::linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _linalg_matrix_norm_named(self, ord, dim, keepdim, dtype):
    return _matrix_norm(self, ord, dim, keepdim, dtype)


@_aten("aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
def _linalg_norm_named(self, ord, dim, keepdim, dtype):
    return _matrix_norm(self, ord, [-2, -1] if dim is None else dim, keepdim, dtype)


# --- gradients of softmax


@_aten("aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor")
def _softmax_backward(grad_output, output, dim, input_dtype):
    grad, out = _wide(grad_output, output)
    return (out * (grad - (grad * out).sum(dim, True))).to(input_dtype)


@_aten("aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor")
def _log_softmax_backward(grad_output, output, dim, input_dtype):
    grad, out = _wide(grad_output, output)
    return (grad - torch.exp(out) * grad.sum(dim, True)).to(input_dtype)


for _name in ("_fft_c2c", "_fft_c2r", "_fft_r2c", "complex", "view_as_complex", "view_as_real", "polar"):
    _refused["aten." + _name] = "complex numbers are not supported"
