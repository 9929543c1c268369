# --- further distributions; part of distributions.py's namespace


def _clamped(probs):
    least = torch.finfo(probs.dtype).eps
    return probs.clamp(min=least, max=1 - least)


class _LocScale(Distribution):
    has_rsample = True
    _shown = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _tensors(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)
        self._require(self.scale > 0, "scale", "GreaterThan(lower_bound=0.0)", self.scale)

    @property
    def mode(self):
        return self.loc

    def expand(self, batch_shape):
        return type(self)(self.loc.expand(batch_shape), self.scale.expand(batch_shape))


class Laplace(_LocScale):
    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()):
        info = torch.finfo(self.loc.dtype)
        u = torch.empty(self._extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device).uniform_(info.eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value):
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value):
        return 0.5 - 0.5 * (value - self.loc).sign() * torch.expm1(-(value - self.loc).abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(-2 * term.abs())

    def entropy(self):
        return 1 + torch.log(2 * self.scale)


class Cauchy(_LocScale):
    @property
    def mean(self):
        return torch.full(self._extended(()), math.nan, dtype=self.loc.dtype)

    @property
    def variance(self):
        return torch.full(self._extended(()), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape=()):
        drawn = torch.empty(self._extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value):
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).pow(2).log1p()

    def cdf(self, value):
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


class Exponential(Distribution):
    has_rsample = True
    _shown = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = _tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)
        self._require(self.rate > 0, "rate", "GreaterThan(lower_bound=0.0)", self.rate)

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def mode(self):
        return torch.zeros_like(self.rate)

    @property
    def stddev(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def expand(self, batch_shape):
        return Exponential(self.rate.expand(batch_shape))

    def rsample(self, sample_shape=()):
        drawn = torch.empty(self._extended(sample_shape), dtype=self.rate.dtype, device=self.rate.device).exponential_()
        return drawn / self.rate

    def log_prob(self, value):
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value):
        return -torch.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - torch.log(self.rate)


class Geometric(_Lazily):
    def __init__(self, probs=None, logits=None, validate_args=None):
        given = _probabilities(probs, logits)
        super().__init__(given.shape, (), validate_args)
        if logits is None:
            self._require(given > 0, "probs", "GreaterThan(lower_bound=0.0)", given)
            self._given(given, None)
        else:
            self._given(None, given)

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return torch.zeros_like(self.probs)

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        with torch.no_grad():
            u = torch.empty(self._extended(sample_shape), dtype=self.probs.dtype, device=self.probs.device).uniform_()
            return (u.clamp(min=torch.finfo(self.probs.dtype).tiny).log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        value, probs = torch.broadcast_tensors(value, self.probs)
        probs = torch.where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class OneHotCategorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    probs, logits = _of("_categorical", "probs"), _of("_categorical", "logits")

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return F.one_hot(self.probs.argmax(-1), self.probs.shape[-1]).to(self.probs.dtype)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        return F.one_hot(self._categorical.sample(sample_shape), self.probs.shape[-1]).to(self.probs.dtype)

    def log_prob(self, value):
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class _LogitRelaxed(Distribution):
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature, held = temperature, Bernoulli(probs, logits)
        self.probs, self.logits = held.probs, held.logits
        super().__init__(self.probs.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended(sample_shape)
        probs = _clamped(self.probs.expand(shape))
        u = _clamped(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        apart = self.logits - value * self.temperature
        return torch.log(self.temperature) + apart - 2 * apart.exp().log1p()


class _ExpRelaxed(Distribution):
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature, self._categorical = temperature, Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits

    def rsample(self, sample_shape=()):
        u = _clamped(torch.rand(self._extended(sample_shape), dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits + -((-(u.log())).log())) / self.temperature
        return scores - scores.logsumexp(-1, True)

    def log_prob(self, value):
        K = self._categorical._num_events
        logits, value = torch.broadcast_tensors(self.logits, value)
        scale = torch.full_like(self.temperature, float(K)).lgamma() - self.temperature.log() * (-(K - 1))
        score = logits - value * self.temperature
        return (score - score.logsumexp(-1, True)).sum(-1) + scale


class MultivariateNormal(Distribution):
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name = "scale_tril" if scale_tril is not None else "covariance_matrix" if covariance_matrix is not None else "precision_matrix"
        if given[0].dim() < 2:
            raise ValueError(f"{name} {'matrix ' if name == 'scale_tril' else ''}must be at least two-dimensional, with optional leading batch dimensions")
        batch = torch.broadcast_shapes(tuple(given[0].shape[:-2]), tuple(loc.shape[:-1]))
        event = list(loc.shape[-1:])
        self.loc, matrix = loc.expand(list(batch) + event), given[0].expand(list(batch) + event + event)
        super().__init__(batch, event, validate_args)
        self._shown = ("loc", name)
        if name == "scale_tril":
            self._scale_tril = matrix
        elif name == "covariance_matrix":
            self._scale_tril = torch.linalg.cholesky(matrix)
        else:
            turned = torch.linalg.cholesky(torch.flip(matrix, (-2, -1)))
            lower = torch.flip(turned, (-2, -1)).transpose(-2, -1)
            self._scale_tril = torch.linalg.solve_triangular(lower, torch.eye(event[0], dtype=matrix.dtype), upper=False)

    def expand(self, batch_shape):
        tail = list(self.event_shape)
        return MultivariateNormal(self.loc.expand(list(batch_shape) + tail), scale_tril=self._scale_tril.expand(list(batch_shape) + tail + tail))

    @property
    def scale_tril(self):
        return self._scale_tril

    @property
    def covariance_matrix(self):
        return torch.matmul(self._scale_tril, self._scale_tril.transpose(-2, -1))

    @property
    def precision_matrix(self):
        return torch.cholesky_inverse(self._scale_tril)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape=()):
        drawn = torch.randn(self._extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + torch.matmul(self._scale_tril, drawn.unsqueeze(-1)).squeeze(-1)

    def _distance(self, apart):
        lower = self._scale_tril.expand(list(apart.shape) + [apart.shape[-1]])
        return torch.linalg.solve_triangular(lower, apart.unsqueeze(-1), upper=False).pow(2).sum([-2, -1])

    def _half_log_det(self):
        return torch.diagonal(self._scale_tril, 0, -2, -1).log().sum(-1)

    def log_prob(self, value):
        distance = self._distance(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self):
        H = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return H if len(self._batch_shape) == 0 else H.expand(self._batch_shape)


class Gamma(Distribution):
    has_rsample = True
    _shown = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = _tensors(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)
        self._require(self.concentration > 0, "concentration", "GreaterThan(lower_bound=0.0)", self.concentration)
        self._require(self.rate > 0, "rate", "GreaterThan(lower_bound=0.0)", self.rate)

    def cdf(self, value):
        return torch.special.gammainc(self.concentration, self.rate * value)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def expand(self, batch_shape):
        return Gamma(self.concentration.expand(batch_shape), self.rate.expand(batch_shape))

    def rsample(self, sample_shape=()):
        shape = self._extended(sample_shape)
        _refuse_derivative("Gamma", self.concentration)
        value = torch._standard_gamma(self.concentration.detach().expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)
        return value

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value):
        (value,) = _tensors(value)
        a, b = self.concentration, self.rate
        return torch.xlogy(a, b) + torch.xlogy(a - 1, value) - b * value - torch.lgamma(a)

    def entropy(self):
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)


class Chi2(Gamma):
    _shown = ()

    def __init__(self, df, validate_args=None):
        (df,) = _tensors(df)
        super().__init__(0.5 * df, 0.5 * torch.ones_like(df), validate_args)

    @property
    def df(self):
        return self.concentration * 2


def _refuse_derivative(name, parameter):
    if parameter.requires_grad and torch.is_grad_enabled():
        raise NotImplementedError(f"torch.distributions.{name}.rsample() of a parameter that requires a gradient: the derivative of its draws is not done here; sample() is")


class Dirichlet(Distribution):
    has_rsample = True
    _shown = ("concentration",)

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)
        self._require(concentration > 0, "concentration", "IndependentConstraint(GreaterThan(lower_bound=0.0), 1)", concentration)

    @property
    def mode(self):
        a = self.concentration
        less = torch.clamp(a - 1, min=0.0)
        inner = less / less.sum(-1, True)
        # Where all are below 1, the most likely corner.
        corner = torch.nn.functional.one_hot(inner.argmax(-1), a.shape[-1]).to(inner.dtype)
        return torch.where((a < 1).all(-1, True), corner, inner)

    def rsample(self, sample_shape=()):
        _refuse_derivative("Dirichlet", self.concentration)
        a = self.concentration.detach().expand(self._extended(sample_shape))
        drawn = torch._pellucid_wide_gamma(a)
        limits = torch.finfo(a.dtype)
        return (drawn / drawn.sum(-1, True)).to(a.dtype).clamp(limits.tiny, 1.0 - limits.eps / 2)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def log_prob(self, value):
        a = self.concentration
        return torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self):
        a = self.concentration
        k, total = a.shape[-1], a.sum(-1)
        return torch.lgamma(a).sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total) - ((a - 1.0) * torch.digamma(a)).sum(-1)


class Beta(Distribution):
    has_rsample = True
    def __init__(self, concentration1, concentration0, validate_args=None):
        first, second = _tensors(concentration1, concentration0)
        self._dirichlet = Dirichlet(torch.stack([first, second], -1), validate_args)
        super().__init__(first.shape, (), validate_args)

    @property
    def concentration1(self):
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value):
        (value,) = _tensors(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()


class Poisson(Distribution):
    _shown = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = _tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)
        self._require(self.rate >= 0, "rate", "GreaterThanEq(lower_bound=0.0)", self.rate)

    @property
    def mean(self):
        return self.rate

    @property
    def mode(self):
        return self.rate.floor()

    @property
    def variance(self):
        return self.rate

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended(sample_shape)))

    def log_prob(self, value):
        rate, value = _tensors(self.rate, value)
        return torch.xlogy(value, rate) - rate - torch.lgamma(value + 1)


class MixtureSameFamily(Distribution):
    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args)
        self._event_ndims = len(component_distribution.event_shape)
        _ = mixture_distribution.logits  # from here on its text has them, as PyTorch's

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"

    def _weights(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(list(probs.shape) + [1] * self._event_ndims)

    @property
    def mean(self):
        return (self._weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self):
        probs, dim = self._weights(), -1 - self._event_ndims
        within = (probs * self._component_distribution.variance).sum(dim)
        apart = self._component_distribution.mean - self.mean.unsqueeze(dim)
        return within + (probs * apart.pow(2.0)).sum(dim)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            size, batch, event = len(sample_shape), len(self.batch_shape), list(self.event_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            places = chosen.reshape(list(chosen.shape) + [1] * (len(event) + 1))
            drawn = self._component_distribution.sample(sample_shape)
            dim = size + batch
            shape = list(places.shape)
            wanted = shape[: dim + 1] + event
            return torch.gather(drawn, dim, places.expand(wanted)).squeeze(dim)

    def log_prob(self, value):
        value = value.unsqueeze(-1 - self._event_ndims)
        logs = self._component_distribution.log_prob(value)
        return torch.logsumexp(logs + torch.log_softmax(self._mixture_distribution.logits, -1), -1)


class Multinomial(Distribution):
    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count, self._categorical = total_count, Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    probs, logits = _of("_categorical", "probs"), _of("_categorical", "logits")

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            samples = self._categorical.sample([self.total_count] + list(sample_shape))
            order = list(range(1, samples.dim())) + [0]
            counts = torch.zeros(self._extended(sample_shape), dtype=torch.int64)
            samples = samples.permute(order)
            return counts.scatter_add_(-1, samples, torch.ones_like(samples)).to(self.probs.dtype)

    def log_prob(self, value):
        logits, value = torch.broadcast_tensors(self.logits, value)
        powers = torch.where((value == 0) & (logits == -math.inf), torch.zeros_like(logits), logits) * value
        return torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1) + powers.sum(-1)
