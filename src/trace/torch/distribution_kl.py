# --- divergences, and what constraints check; part of distributions.py's namespace
_divergences = []


def register_kl(type_p, type_q):
    if not isinstance(type_p, type) or not issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) or not issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(function):
        _divergences.append((type_p, type_q, function))
        return function

    return decorator


def _closeness(p, q, type_p, type_q):
    return type(p).__mro__.index(type_p) + type(q).__mro__.index(type_q)


def kl_divergence(p, q):
    found = [(a, b, function) for a, b, function in _divergences if isinstance(p, a) and isinstance(q, b)]
    if not found:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    best = found[0]
    for one in found:
        if _closeness(p, q, one[0], one[1]) <= _closeness(p, q, best[0], best[1]):
            best = one
    return best[2](p, q)


@register_kl(Normal, Normal)
def _normals(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
@register_kl(HalfNormal, HalfNormal)
def _of_bases(p, q):
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Categorical, Categorical)
def _categoricals(p, q):
    t = p.probs * (p.logits - q.logits)
    t = torch.where(q.probs == 0, float("inf"), t)
    return torch.where(p.probs == 0, 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p, q):
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p, q):
    first = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    first = torch.where(q.probs == 0, float("inf"), first)
    second = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    second = torch.where(q.probs == 1, float("inf"), second)
    return torch.where(p.probs == 0, 0.0, first) + torch.where(p.probs == 1, 0.0, second)


@register_kl(Independent, Independent)
def _independents(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._summed(kl_divergence(p.base_dist, q.base_dist))


@register_kl(Uniform, Uniform)
def _uniforms(p, q):
    apart = torch.log((q.high - q.low) / (p.high - p.low))
    return torch.where((q.low > p.low) | (q.high < p.high), math.inf, apart)


@register_kl(Exponential, Exponential)
def _exponentials(p, q):
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Laplace, Laplace)
def _laplaces(p, q):
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * torch.exp(-apart / p.scale) - 1


@register_kl(Gamma, Gamma)
def _gammas(p, q):
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + torch.lgamma(b) - torch.lgamma(a) + (a - b) * torch.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Poisson, Poisson)
def _poissons(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometrics(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    first = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return first + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _betas(p, q):
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p, q):
    if list(p.event_shape) != list(q.event_shape):
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be computed")
    n = p.event_shape[0]
    shape = list(torch.broadcast_shapes(tuple(q._scale_tril.shape[:-2]), tuple(p._scale_tril.shape[:-2])))
    lower, other = q._scale_tril.expand(shape + [n, n]), p._scale_tril.expand(shape + [n, n])
    spread = torch.linalg.solve_triangular(lower, other, upper=False).pow(2).sum([-2, -1])
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + q._distance(q.loc - p.loc) - n)


# --- constraints


class Constraint:
    """What values a parameter or a sample may have."""

    event_dim = 0
    is_discrete = False

    def __init__(self, text, holds, event_dim=0, is_discrete=False):
        self._text, self._holds, self.event_dim, self.is_discrete = text, holds, event_dim, is_discrete

    def check(self, value):
        return self._holds(value)

    def __repr__(self):
        return self._text


class _Constraints:
    Constraint = Constraint
    real = Constraint("Real()", lambda v: v == v)
    positive = Constraint("GreaterThan(lower_bound=0.0)", lambda v: v > 0)
    nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda v: v >= 0)
    unit_interval = Constraint("Interval(lower_bound=0.0, upper_bound=1.0)", lambda v: (v >= 0) & (v <= 1))
    boolean = Constraint("Boolean()", lambda v: (v == 0) | (v == 1), 0, True)
    nonnegative_integer = Constraint("IntegerGreaterThan(lower_bound=0)", lambda v: (v % 1 == 0) & (v >= 0), 0, True)
    positive_integer = Constraint("IntegerGreaterThan(lower_bound=1)", lambda v: (v % 1 == 0) & (v >= 1), 0, True)
    simplex = Constraint("Simplex()", lambda v: (v >= 0).all(-1) & ((v.sum(-1) - 1).abs() < 1e-6), 1)
    real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda v: (v == v).all(-1), 1)
    lower_cholesky = Constraint("LowerCholesky()", lambda v: (v.tril() == v).flatten(-2).all(-1) & (v.diagonal(0, -2, -1) > 0).all(-1), 2)
    positive_definite = Constraint("PositiveDefinite()", lambda v: torch.linalg.cholesky_ex(v)[1] == 0, 2)

    @staticmethod
    def greater_than(lower_bound):
        return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda v: v > lower_bound)

    @staticmethod
    def less_than(upper_bound):
        return Constraint(f"LessThan(upper_bound={upper_bound})", lambda v: v < upper_bound)

    @staticmethod
    def interval(lower_bound, upper_bound):
        return Constraint(f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})", lambda v: (v >= lower_bound) & (v <= upper_bound))

    @staticmethod
    def independent(base, dims):
        return Constraint(f"IndependentConstraint({base}, {dims})", lambda v: base.check(v).all(-1) if dims else base.check(v), base.event_dim + dims)


constraints = _Constraints
