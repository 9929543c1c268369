# SPDX-License-Identifier: Apache-2.0
# --- distributions made of others: ratios, counts, powers; part of distributions.py's namespace


class StudentT(_LocScale):
    _shown = ("df", "loc", "scale")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = _tensors(df, loc, scale)
        Distribution.__init__(self, self.df.shape, (), validate_args)
        self._require(self.df > 0, "df", "GreaterThan(lower_bound=0.0)", self.df)
        self._require(self.scale > 0, "scale", "GreaterThan(lower_bound=0.0)", self.scale)
        self._chi2 = Chi2(self.df)

    @property
    def mean(self):
        return torch.where(self.df <= 1, math.nan, self.loc)

    @property
    def variance(self):
        known = self.scale.pow(2) * self.df / (self.df - 2)
        return torch.where(self.df > 2, known, torch.where(self.df > 1, math.inf, math.nan))

    def expand(self, batch_shape):
        return StudentT(self.df.expand(batch_shape), self.loc.expand(batch_shape), self.scale.expand(batch_shape))

    def rsample(self, sample_shape=()):
        drawn = torch.empty(self._extended(sample_shape), dtype=self.df.dtype, device=self.df.device).normal_()
        return self.loc + self.scale * (drawn * torch.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value):
        y = (value - self.loc) / self.scale
        size = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * torch.log1p(y * y / self.df) - size

    def entropy(self):
        beta = torch.lgamma(0.5 * self.df) + 0.5 * math.log(math.pi) - torch.lgamma(0.5 * (self.df + 1))
        return self.scale.log() + 0.5 * (self.df + 1) * (torch.digamma(0.5 * (self.df + 1)) - torch.digamma(0.5 * self.df)) + 0.5 * self.df.log() + beta

    def cdf(self, value):
        raise NotImplementedError

    icdf = cdf


class FisherSnedecor(Distribution):
    has_rsample = True
    _shown = ("df1", "df2")

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = _tensors(df1, df2)
        super().__init__(self.df1.shape, (), validate_args)
        for name, df in (("df1", self.df1), ("df2", self.df2)):
            self._require(df > 0, name, "GreaterThan(lower_bound=0.0)", df)
        self._above, self._below = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)

    @property
    def mean(self):
        return torch.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self):
        return torch.where(self.df1 > 2, (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2), math.nan)

    @property
    def variance(self):
        known = 2 * self.df2.pow(2) * (self.df1 + self.df2 - 2) / (self.df1 * (self.df2 - 2).pow(2) * (self.df2 - 4))
        return torch.where(self.df2 > 4, known, math.nan)

    def expand(self, batch_shape):
        return FisherSnedecor(self.df1.expand(batch_shape), self.df2.expand(batch_shape))

    def rsample(self, sample_shape=()):
        least = torch.finfo(self.df2.dtype).tiny
        above, below = self._above.rsample(sample_shape), self._below.rsample(sample_shape)
        return (above / below.clamp(min=least)).clamp(min=least)

    def log_prob(self, value):
        first, second, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        beta = (first + second).lgamma() - first.lgamma() - second.lgamma()
        return beta + first * ratio.log() + (first - 1) * torch.log(value) - (first + second) * torch.log1p(ratio * value)


class InverseGamma(TransformedDistribution):
    def __init__(self, concentration, rate, validate_args=None):
        gamma = Gamma(concentration, rate, validate_args)
        super().__init__(gamma, PowerTransform(-torch.ones_like(gamma.rate)), validate_args)

    concentration, rate = _of("base_dist", "concentration"), _of("base_dist", "rate")

    def expand(self, batch_shape):
        return InverseGamma(self.concentration.expand(batch_shape), self.rate.expand(batch_shape))

    @property
    def mean(self):
        return torch.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        known = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return torch.where(self.concentration > 2, known, math.inf)

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()

    def icdf(self, value):
        raise NotImplementedError


class Kumaraswamy(TransformedDistribution):
    has_rsample = True
    _shown = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = _tensors(concentration1, concentration0)
        a, b = self.concentration1, self.concentration0
        super().__init__(Uniform(torch.zeros_like(a), torch.ones_like(a)), [PowerTransform(b.reciprocal()), AffineTransform(1.0, -1.0), PowerTransform(a.reciprocal())], validate_args)

    def expand(self, batch_shape):
        return Kumaraswamy(self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape))

    def _moment(self, n):
        more = 1 + n / self.concentration1
        return self.concentration0 * torch.exp(torch.lgamma(more) + torch.lgamma(self.concentration0) - torch.lgamma(more + self.concentration0))

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        # PyTorch's own: not a number where both are above 1.
        a, b = self.concentration1, self.concentration0
        logs = a.reciprocal() * (-b).log1p() - (-a * b).log1p()
        return torch.where((a < 1) | (b < 1), math.nan, logs).exp()

    @property
    def variance(self):
        return self._moment(2) - self.mean.pow(2)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + 0.57721566490153286060
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - torch.log(a) - torch.log(b)

    def cdf(self, value):
        return 1 - (1 - value.pow(self.concentration1)).pow(self.concentration0)

    def icdf(self, value):
        return (1 - (1 - value).pow(self.concentration0.reciprocal())).pow(self.concentration1.reciprocal())


class GeneralizedPareto(_LocScale):
    _shown = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = _tensors(loc, scale, concentration)
        Distribution.__init__(self, self.loc.shape, (), validate_args)
        self._require(self.scale > 0, "scale", "GreaterThan(lower_bound=0.0)", self.scale)

    def expand(self, batch_shape):
        return GeneralizedPareto(self.loc.expand(batch_shape), self.scale.expand(batch_shape), self.concentration.expand(batch_shape))

    def _shaped(self):
        """Whether the concentration is 0, and one that may be divided by."""
        none = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return none, torch.where(none, 1.0, self.concentration)

    @property
    def mean(self):
        return torch.where(self.concentration < 1, self.loc + self.scale / (1 - self.concentration), math.inf)

    @property
    def variance(self):
        known = self.scale.pow(2) / ((1 - self.concentration).pow(2) * (1 - 2 * self.concentration))
        return torch.where(self.concentration < 0.5, known, math.inf)

    @property
    def support(self):
        upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return _Constraints.interval(self.loc, upper)

    def rsample(self, sample_shape=()):
        return self.icdf(torch.rand(self._extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        none, c = self._shaped()
        y = (value - self.loc) / self.scale
        return -self.scale.log() - torch.where(none, y, (1 + 1 / c) * torch.log1p(c * y))

    def cdf(self, value):
        none, c = self._shaped()
        y = (value - self.loc) / self.scale
        return -torch.expm1(torch.where(none, -y, -torch.log1p(c * y) / c))

    def icdf(self, value):
        none, c = self._shaped()
        logs = torch.log1p(-value)
        return self.loc + self.scale * torch.where(none, -logs, torch.expm1(-c * logs) / c)

    def entropy(self):
        return torch.log(self.scale) + self.concentration + 1


class NegativeBinomial(_Lazily):
    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        given = _probabilities(probs, logits)
        self.total_count, given = _tensors(total_count, given)
        super().__init__(given.shape, (), validate_args)
        self._require(self.total_count >= 0, "total_count", "GreaterThanEq(lower_bound=0)", self.total_count)
        self._given(given, None) if logits is None else self._given(None, given)
        self._shown = ("total_count",) + self._shown

    @property
    def mean(self):
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / torch.sigmoid(-self.logits)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.poisson(Gamma(self.total_count, torch.exp(-self.logits), False).sample(sample_shape))

    def log_prob(self, value):
        unscaled = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        scale = -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        return unscaled - torch.where(self.total_count + value == 0.0, 0.0, scale)


class Binomial(_Lazily):
    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        given = _probabilities(probs, logits)
        self.total_count, given = _tensors(total_count, given)
        super().__init__(given.shape, (), validate_args)
        self._given(given, None) if logits is None else self._given(None, given)
        self._shown = ("total_count",) + self._shown

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return torch.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        raise NotImplementedError("torch.distributions.Binomial.sample() draws from PyTorch's generator one number after another; Bernoulli(probs).sample([n]).sum(0) is there")

    def log_prob(self, value):
        n, logits = self.total_count, self.logits
        scale = n * logits.clamp(min=0) + n * torch.log1p(torch.exp(-torch.abs(logits))) - torch.lgamma(n + 1)
        return value * logits - torch.lgamma(value + 1) - torch.lgamma(n - value + 1) - scale

    def enumerate_support(self, expand=True):
        most = int(self.total_count.max())
        if int(self.total_count.min()) != most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = torch.arange(1 + most, dtype=self.total_count.dtype).reshape([-1] + [1] * len(self._batch_shape))
        return values.expand([-1] + list(self._batch_shape)) if expand else values

    def entropy(self):
        logs = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(logs) * logs).sum(0)


class ContinuousBernoulli(_Lazily):
    has_rsample = True

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        given = _probabilities(probs, logits)
        super().__init__(given.shape, (), validate_args)
        if logits is None:
            self._require((given >= 0) & (given <= 1), "probs", "Interval(lower_bound=0.0, upper_bound=1.0)", given)
        self._given(_clamped(given), None) if logits is None else self._given(None, given)
        self._lims = lims

    def _apart(self):
        """Whether the formula is far enough from its gap at one half, and probabilities that are."""
        apart = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return apart, torch.where(apart, self.probs, self._lims[0])

    def _log_scale(self):
        apart, p = self._apart()
        known = torch.log(torch.abs(torch.log1p(-p) - torch.log(p))) - torch.log(torch.abs(1 - 2 * p))
        x = torch.pow(self.probs - 0.5, 2)
        return torch.where(apart, known, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        apart, p = self._apart()
        x = self.probs - 0.5
        return torch.where(apart, p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p)), 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x * x) * x)

    @property
    def variance(self):
        apart, p = self._apart()
        x = torch.pow(self.probs - 0.5, 2)
        known = p * (p - 1.0) / torch.pow(1.0 - 2.0 * p, 2) + 1.0 / torch.pow(torch.log1p(-p) - torch.log(p), 2)
        return torch.where(apart, known, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape=()):
        return self.icdf(torch.rand(self._extended(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        logits, value = torch.broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_scale()

    def cdf(self, value):
        apart, p = self._apart()
        inside = torch.where(apart, (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0), value)
        return torch.where(value <= 0.0, 0.0, torch.where(value >= 1.0, 1.0, inside))

    def icdf(self, value):
        apart, p = self._apart()
        return torch.where(apart, (torch.log1p(-p + value * (2.0 * p - 1.0)) - torch.log1p(-p)) / (torch.log(p) - torch.log1p(-p)), value)

    def entropy(self):
        none = torch.log1p(-self.probs)
        return self.mean * (none - torch.log(self.probs)) - self._log_scale() - none


class VonMises(Distribution):
    _shown = ("loc", "concentration")

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = _tensors(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)
        self._require(self.concentration > 0, "concentration", "GreaterThan(lower_bound=0.0)", self.concentration)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def variance(self):
        return 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)

    def expand(self, batch_shape):
        return VonMises(self.loc.expand(batch_shape), self.concentration.expand(batch_shape))

    def sample(self, sample_shape=()):
        """Drawn again until a wrapped Cauchy's draw is taken everywhere."""
        with torch.no_grad():
            loc, k = self.loc.double(), self.concentration.double()
            tau = 1 + torch.sqrt(1 + 4 * k * k)
            rho = (tau - torch.sqrt(2 * tau)) / (2 * k)
            r = torch.where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))
            shape = self._extended(sample_shape)
            x, taken = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape, dtype=torch.bool)
            while not bool(taken.all()):
                first, second, third = torch.rand([3] + shape, dtype=torch.float64).unbind()
                z = torch.cos(math.pi * first)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accepted = ((c * (2 - c) - second) > 0) | ((c / second).log() + 1 - c >= 0)
                x = torch.where(accepted, (third - 0.5).sign() * f.acos(), x)
                taken = taken | accepted
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value):
        scale = math.log(2 * math.pi) + torch.log(torch.special.i0e(self.concentration)) + self.concentration
        return self.concentration * torch.cos(value - self.loc) - scale


class StickBreakingTransform(Transform):
    """Numbers of the whole line as parts of one that is broken again and again."""

    event_dim = 1

    def _call(self, x):
        left = x.shape[-1] + 1 - torch.ones_like(x).cumsum(-1)
        z = torch.sigmoid(x - left.log())
        return F.pad(z, [0, 1], value=1) * F.pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y):
        parts = y[..., :-1]
        left = y.shape[-1] - torch.ones_like(parts).cumsum(-1)
        rest = torch.clamp(1 - parts.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return parts.log() - rest.log() + left.log()

    def log_abs_det_jacobian(self, x, y):
        x = x - (x.shape[-1] + 1 - torch.ones_like(x).cumsum(-1)).log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)


class LogisticNormal(TransformedDistribution):
    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args)
        base = base if len(base.batch_shape) else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)
        self._event_shape = torch.Size([self._event_shape[-1] + 1])

    loc, scale = _of("base_dist", "loc"), _of("base_dist", "scale")

    @property
    def support(self):
        return _Constraints.simplex
