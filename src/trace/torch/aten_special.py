# SPDX-License-Identifier: Apache-2.0
# --- Bessel's, Airy's and the incomplete gamma functions, and orthogonal polynomials; part of aten.py's namespace
#
# In float64, rounded once. Integrals over a whole period, and those of what vanishes at both ends, are sums over equal steps, whose error
# falls with the exponential of their number; far out the asymptotic series hold.

_euler = 0.57721566490153286


def _hankel_terms(order, x, last):
    """The terms a_k / x**k of the series at infinity for a function of `order`."""
    terms, term = [torch.ones_like(x)], torch.ones_like(x)
    for k in range(1, last):
        term = term * ((4.0 * order * order - (2.0 * k - 1.0) ** 2) / (8.0 * k)) / x
        terms.append(term)
    return terms


def _waves(order, x, second):
    """J or Y (`second`) of order 0 or 1 for x > 0."""
    steps = 64
    near, far = torch.where(x < 25.0, x, 25.0), torch.where(x < 25.0, 25.0, x)
    first, rest = torch.zeros_like(near), torch.zeros_like(near)
    for i in range(steps // 2):
        angle = math.pi * (i + 0.5) / steps
        # Both halves of the period are alike.
        if order == 0:
            value = torch.cos(near * math.sin(angle)) * (2.0 / steps)
            weight, series = 1.0, sum((-1.0) ** k / k * math.cos(2 * k * angle) for k in range(1, steps // 2))
        else:
            value = torch.sin(near * math.sin(angle)) * (2.0 / steps)
            weight = math.sin(angle)
            series = sum((-1.0) ** k * (1.0 + 2.0 * k) / (k * (1.0 + k)) * math.sin((2 * k + 1) * angle) for k in range(1, steps // 2))
        first = first + value * weight
        rest = rest + value * series
    if second:
        log = torch.log(near / 2.0)
        if order == 0:
            first = 2.0 / math.pi * ((log + _euler) * first - 2.0 * rest)
        else:
            inner = _waves(0, near, False)
            first = 2.0 / math.pi * ((log + _euler - 1.0) * first - rest - inner / near)
    terms = _hankel_terms(order, far, 30)
    even, odd = torch.zeros_like(far), torch.zeros_like(far)
    for k in range(0, 30, 2):
        even = even + terms[k] * (-1.0) ** (k // 2)
        odd = odd + terms[k + 1] * (-1.0) ** (k // 2)
    phase = far - (2 * order + 1) * (math.pi / 4.0)
    wave = torch.sin(phase) * even + torch.cos(phase) * odd if second else torch.cos(phase) * even - torch.sin(phase) * odd
    return torch.where(x < 25.0, first, torch.sqrt(2.0 / (math.pi * far)) * wave)


def _bessel_first(order):
    def function(x):
        found = _waves(order, torch.abs(x), False)
        return torch.where(x < 0, -found, found) if order else found

    return function


def _bessel_second(order):
    def function(x):
        found = _waves(order, torch.where(x > 0, x, 1.0), True)
        return torch.where(x > 0, found, torch.where(x == 0, float("-inf"), float("nan")))

    return function


def _fading(order, x):
    """exp(x) * K of `order`, 0, 1 or a third, for x > 0."""
    middle = torch.where(torch.logical_and(x > 1.0, x < 30.0), x, 2.0)
    total = 0.5 * torch.ones_like(middle)
    step = 0.125
    for i in range(1, 40):
        total = total + torch.exp(middle * (1.0 - math.cosh(step * i))) * math.cosh(order * step * i)
    total = total * step
    far = torch.where(x < 30.0, 30.0, x)
    series = torch.zeros_like(far)
    for term in _hankel_terms(order, far, 30):
        series = series + term
    return torch.where(x < 30.0, total, series * torch.sqrt(math.pi / (2.0 * far)))


def _bessel_fading(order, scaled):
    def function(x):
        near = torch.where(torch.logical_and(x > 0, x <= 1.0), x, 1.0)
        quarter, log = near * near / 4.0, torch.log(near / 2.0)
        # The power series with its logarithm: psi(k + 1) and psi(k + 2) are sums of fractions.
        term, harmonic, total = torch.ones_like(near), -_euler, torch.zeros_like(near)
        for k in range(14):
            if order == 0:
                total = total + term * (harmonic - log)
                term = term * quarter / ((k + 1.0) ** 2)
            else:
                total = total + term * (log - (harmonic + 0.5 / (k + 1.0)))
                term = term * quarter / ((k + 1.0) * (k + 2.0))
            harmonic = harmonic + 1.0 / (k + 1.0)
        if order == 1:
            total = 1.0 / near + total * near / 2.0
        positive = torch.where(x > 0, x, 1.0)
        beyond = _fading(order, positive)
        found = torch.where(x <= 1.0, total * torch.exp(near) if scaled else total, beyond if scaled else beyond * torch.exp(-positive))
        found = torch.where(x == float("inf"), 0.0, found)
        return torch.where(x > 0, found, torch.where(x == 0, float("inf"), float("nan")))

    return function


def _airy(x):
    """By its power series near 0, by K of a third to the right and the series of a wave to the left."""
    near = torch.where(torch.logical_and(x > -7.5, x <= 2.0), x, 0.0)
    cube = near * near * near
    one, other = torch.ones_like(near), near
    even, odd = one, other
    for k in range(1, 50):
        one = one * cube / ((3.0 * k - 1.0) * (3.0 * k))
        other = other * cube / ((3.0 * k) * (3.0 * k + 1.0))
        even, odd = even + one, odd + other
    found = 0.35502805388781724 * even - 0.25881940379280680 * odd
    right = torch.where(x > 2.0, x, 2.0)
    zeta = right * torch.sqrt(right) * (2.0 / 3.0)
    tail = torch.sqrt(right / 3.0) / math.pi * _fading(1.0 / 3.0, zeta) * torch.exp(-zeta)
    left = torch.where(x <= -7.5, -x, 7.5)
    zeta = left * torch.sqrt(left) * (2.0 / 3.0)
    even, odd, term = torch.ones_like(zeta), torch.zeros_like(zeta), torch.ones_like(zeta)
    for k in range(1, 22):
        term = term * ((6.0 * k - 5.0) * (6.0 * k - 3.0) * (6.0 * k - 1.0) / (216.0 * k * (2.0 * k - 1.0))) / zeta
        part = term if k % 4 in (0, 1) else -term
        even, odd = (even, odd + part) if k % 2 else (even + part, odd)
    phase = zeta + math.pi / 4.0
    wave = (torch.sin(phase) * even - torch.cos(phase) * odd) / (math.sqrt(math.pi) * torch.sqrt(torch.sqrt(left)))
    found = torch.where(x > 2.0, tail, torch.where(x <= -7.5, wave, found))
    return torch.where(torch.isinf(x), float("nan"), found)


def _spherical(x):
    size = torch.abs(x)
    near = torch.where(size < 0.5, size, 0.5)
    square = near * near
    series = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0 * (1.0 - square / 110.0 * (1.0 - square / 156.0)))))
    beyond = torch.where(torch.logical_or(size < 0.5, torch.isinf(size)), 1.0, size)
    return torch.where(torch.isinf(size), 0.0, torch.where(size < 0.5, series, torch.sin(beyond) / beyond))


for _name, _function in (
    ("special_bessel_j0(Tensor self)", _bessel_first(0)),
    ("special_bessel_j1(Tensor self)", _bessel_first(1)),
    ("special_bessel_y0(Tensor self)", _bessel_second(0)),
    ("special_bessel_y1(Tensor self)", _bessel_second(1)),
    ("special_modified_bessel_k0(Tensor self)", _bessel_fading(0, False)),
    ("special_modified_bessel_k1(Tensor self)", _bessel_fading(1, False)),
    ("special_scaled_modified_bessel_k0(Tensor x)", _bessel_fading(0, True)),
    ("special_scaled_modified_bessel_k1(Tensor x)", _bessel_fading(1, True)),
    ("special_airy_ai(Tensor x)", _airy),
    ("special_spherical_bessel_j0(Tensor x)", _spherical),
):
    _aten(f"aten::{_name} -> Tensor")(_in_double(_function))


# --- orthogonal polynomials


def _sign_by(n):
    return torch.where(torch.remainder(n, 2.0) == 0, 1.0, -1.0)


def _chebyshev(kind, y, n):
    """By the angle of y, inside of [-1, 1] of circles and outside of hyperbolas, where the other side has the sign of n."""
    size, sign = torch.abs(y), torch.where(y < 0, _sign_by(n), 1.0)
    inside = size < 1.0
    # For negative y the third and the fourth kind are one another's mirror.
    near = torch.acos(torch.where(inside, size, 0.5))
    far = torch.acosh(torch.where(size > 1.0, size, 2.0))

    def ratio(above, below, circle, hyperbola, at_one):
        inner = circle(above * near) / circle(below * near) if below else circle(above * near)
        outer = hyperbola(above * far) / hyperbola(below * far) if below else hyperbola(above * far)
        return torch.where(inside, inner, torch.where(size == 1.0, at_one, outer))

    if kind == "t":
        return sign * ratio(n, 0, torch.cos, torch.cosh, torch.ones_like(y))
    if kind == "u":
        return sign * ratio(n + 1.0, 1.0, torch.sin, torch.sinh, n + 1.0)
    third = ratio(n + 0.5, 0.5, torch.cos, torch.cosh, torch.ones_like(y))
    fourth = ratio(n + 0.5, 0.5, torch.sin, torch.sinh, n + n + 1.0)
    return sign * (torch.where(y < 0, fourth, third) if kind == "v" else torch.where(y < 0, third, fourth))


def _by_recurrence(first, step):
    """The polynomial of each degree by the two before it, as far as the largest degree asks."""

    def function(x, n):
        last = torch.amax(n) if n.dim() else n

        def goes_on(k, before, now, found):
            return k < last

        def turn(k, before, now, found):
            later = step(k, x, before, now)
            return k + 1.0, now + 0.0, later, torch.where(n == k + 1.0, later, found)

        start = (torch.ones([], dtype=torch.float64), torch.ones_like(x), first(x), torch.where(n == 0, 1.0, first(x)))
        return torch._higher_order_ops.while_loop(goes_on, turn, start)[3]

    return function


def _hermite(first, step):
    function = _by_recurrence(first, step)

    def limited(x, n, most):
        return torch.where(n > most, float("nan"), function(x, torch.where(n > most, 1.0, n)))

    return limited


_polynomials = {}
for _kind in "tuvw":
    _polynomials["chebyshev_polynomial_" + _kind] = lambda x, n, most, kind=_kind: _chebyshev(kind, x, n)
    _polynomials["shifted_chebyshev_polynomial_" + _kind] = lambda x, n, most, kind=_kind: _chebyshev(kind, x + x - 1.0, n)
_polynomials["hermite_polynomial_h"] = _hermite(lambda x: x + x, lambda k, x, before, now: (x + x) * now - 2.0 * k * before)
_polynomials["hermite_polynomial_he"] = _hermite(lambda x: x + 0.0, lambda k, x, before, now: x * now - k * before)
_laguerre = _by_recurrence(lambda x: 1.0 - x, lambda k, x, before, now: ((k + k + (1.0 - x)) * now - k * before) / (k + 1.0))
_legendre = _by_recurrence(lambda x: x + 0.0, lambda k, x, before, now: ((k + k + 1.0) * x * now - k * before) / (k + 1.0))
_polynomials["laguerre_polynomial_l"] = lambda x, n, most: _laguerre(x, n)
_polynomials["legendre_polynomial_p"] = lambda x, n, most: _legendre(x, n)


def _polynomial_of(function, x, n):
    kept = torch.result_type(x, n)
    kept = kept if kept.is_floating_point else torch.get_default_dtype()
    shape = F.broadcast_shapes(x.shape if isinstance(x, torch.Tensor) else [], n.shape if isinstance(n, torch.Tensor) else [])
    x, n = (v.to(torch.float64) if isinstance(v, torch.Tensor) else torch.full([], float(v), dtype=torch.float64) for v in (x, n))
    x, n = x.expand(shape).clone(), torch.trunc(n).expand(shape).clone()
    if _is_nothing(x):
        return x.to(kept)
    # PyTorch's bound for Hermite's, beyond which their numbers leave the type.
    found = function(x, n, 512.0 if kept == torch.float64 else 128.0)
    return torch.where(n < 0, 0.0, found).to(kept)


for _name, _function in _polynomials.items():
    for _overload, _x, _n in (("", "Tensor", "Tensor"), (".x_scalar", "Scalar", "Tensor"), (".n_scalar", "Tensor", "Scalar")):
        _aten(f"aten::special_{_name}{_overload}({_x} x, {_n} n) -> Tensor")(lambda x, n, function=_function: _polynomial_of(function, x, n))


# --- the incomplete gamma functions


def _until_settled(turn, start):
    """Turns until no element changes by more than rounding; `turn` gives the new state and the change relative to the sum."""

    def goes_on(k, change, *state):
        return torch.logical_and(change > 1e-16, k < 20000.0)

    def body(k, change, *state):
        state, change = turn(k, state)
        change = torch.amax(torch.abs(change))
        return (k + 1.0, torch.where(torch.isnan(change), 0.0, change), *state)

    return torch._higher_order_ops.while_loop(goes_on, body, (torch.ones([], dtype=torch.float64), torch.ones([], dtype=torch.float64), *start))[2:]


def _incomplete_gamma(a, x, upper):
    kept = torch.result_type(a, x)
    kept = kept if kept.is_floating_point else torch.get_default_dtype()
    shape = F.broadcast_shapes(a.shape, x.shape)
    a, x = a.to(torch.float64).expand(shape).clone(), x.to(torch.float64).expand(shape).clone()
    if _is_nothing(x):
        return x.to(kept)
    plain = (a > 0) & (x > 0) & torch.logical_not(torch.isinf(a)) & torch.logical_not(torch.isinf(x))
    below = plain & (x < a + 1.0)
    above = plain & (x >= a + 1.0)
    # The power series below a + 1.
    sa, sx = torch.where(below, a, 1.0), torch.where(below, x, 0.5)

    def grow(k, state):
        term, total = state
        term = term * sx / (sa + k)
        return (term, total + term), term / (total + term)

    series = _until_settled(grow, (torch.ones_like(sx), torch.ones_like(sx)))[1]
    lower = torch.exp(sa * torch.log(sx) - sx - _log_gamma(sa + 1.0)) * series
    # Its continued fraction above, from the front.
    fa, fx = torch.where(above, a, 1.0), torch.where(above, x, 3.0)

    def fraction(k, state):
        c, d, value = state
        factor = -k * (k - fa)
        b = fx + 2.0 * k + 1.0 - fa
        d = factor * d + b
        c = b + factor / c
        d = 1.0 / torch.where(d == 0, 1e-300, d)
        c = torch.where(c == 0, 1e-300, c)
        return (c, d, value * (c * d)), c * d - 1.0

    b = fx + 1.0 - fa
    value = _until_settled(fraction, (torch.full_like(b, 1e300), 1.0 / b, 1.0 / b))[2]
    rest = torch.exp(fa * torch.log(fx) - fx - _log_gamma(fa)) * value
    found = torch.where(below, 1.0 - lower if upper else lower, rest if upper else 1.0 - rest)
    nothing, all_of_it = (1.0, 0.0) if upper else (0.0, 1.0)
    edge = torch.where(a == 0, torch.where(x > 0, all_of_it, float("nan")), torch.where(x == 0, nothing, torch.where(torch.isinf(a), torch.where(torch.isinf(x), float("nan"), nothing), all_of_it)))
    edge = torch.where((a < 0) | (x < 0) | torch.isnan(a) | torch.isnan(x), float("nan"), edge)
    return torch.where(plain, found, edge).to(kept)


for _name, _upper in (("igamma", False), ("special_gammainc", False), ("igammac", True), ("special_gammaincc", True)):
    _aten(f"aten::{_name}(Tensor self, Tensor other) -> Tensor")(lambda self, other, upper=_upper: _incomplete_gamma(self, other, upper))
