# --- transforms, and what is distributed as a transform of another; part of distributions.py's namespace


class Transform:
    bijective = False
    event_dim = 0
    # 1 where it rises, -1 where it falls: a number or a tensor.
    sign = 1

    def __init__(self, cache_size=0):
        self._cache_size, self._known = cache_size, None

    def __call__(self, x):
        if self._known is not None and self._known[0] is x:
            return self._known[1]
        y = self._call(x)
        if self._cache_size:
            self._known = (x, y)
        return y

    def _inv_call(self, y):
        if self._known is not None and self._known[1] is y:
            return self._known[0]
        x = self._inverse(y)
        if self._cache_size:
            self._known = (x, y)
        return x

    @property
    def inv(self):
        return _Inverse(self)

    def forward_shape(self, shape):
        return shape

    def inverse_shape(self, shape):
        return shape

    def __repr__(self):
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, transform):
        super().__init__()
        self._transform = transform
        self.bijective, self.event_dim = transform.bijective, transform.event_dim

    @property
    def inv(self):
        return self._transform

    @property
    def sign(self):
        return self._transform.sign

    def __call__(self, x):
        return self._transform._inv_call(x)

    def _inv_call(self, y):
        return self._transform(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._transform.log_abs_det_jacobian(y, x)

    def __repr__(self):
        return f"_InverseTransform({self._transform!r})"


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.bijective = all([part.bijective for part in self.parts])
        self.event_dim = max([part.event_dim for part in self.parts] + [0])

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
        for part in self.parts:
            after = part(x)
            total = total + _sum_rightmost(part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim)
            x = after
        return total


class ExpTransform(Transform):
    bijective = True

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    bijective = True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        (self.exponent,) = _tensors(exponent)

    @property
    def sign(self):
        return self.exponent.sign()

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    bijective = True

    def _call(self, x):
        info = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=info.tiny, max=1.0 - info.eps)

    def _inverse(self, y):
        info = torch.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(Transform):
    bijective = True

    def _call(self, x):
        return F.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x)


class TanhTransform(Transform):
    bijective = True

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    @property
    def sign(self):
        raise NotImplementedError

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    @property
    def sign(self):
        return self.scale.sign() if isinstance(self.scale, torch.Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        result = torch.abs(scale).log().expand(x.shape) if isinstance(scale, torch.Tensor) else torch.full_like(x, math.log(abs(scale)))
        return _sum_rightmost(result, self.event_dim)


class SoftmaxTransform(Transform):
    event_dim = 1

    def _call(self, x):
        odds = (x - x.max(-1, True)[0]).exp()
        return odds / odds.sum(-1, True)

    def _inverse(self, y):
        return y.log()


identity_transform = ComposeTransform([])


def _sum_rightmost(value, dims):
    return value.sum(list(range(-dims, 0))) if dims > 0 else value


class TransformedDistribution(Distribution):
    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        over = max([t.event_dim for t in self.transforms] + [0])
        shape = list(base_distribution.batch_shape) + list(base_distribution.event_shape)
        # Parameters of the transforms may be wider than the base.
        for t in self.transforms:
            for name in ("loc", "scale", "exponent"):
                held = getattr(t, name, None)
                if isinstance(held, torch.Tensor):
                    shape = list(torch.broadcast_shapes(tuple(shape), tuple(held.shape)))
        event = max(len(base_distribution.event_shape), over)
        if event > len(base_distribution.event_shape):
            self.base_dist = Independent(base_distribution, event - len(base_distribution.event_shape))
        elif shape != list(base_distribution.batch_shape) + list(base_distribution.event_shape):
            self.base_dist = base_distribution.expand(shape[: len(shape) - event])
        super().__init__(shape[: len(shape) - event], shape[len(shape) - event :], validate_args)
        self.has_rsample = self.base_dist.has_rsample

    def expand(self, batch_shape):
        return TransformedDistribution(self.base_dist.expand(batch_shape), self.transforms)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape=()):
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        event, total, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform._inv_call(y)
            total = total - _sum_rightmost(transform.log_abs_det_jacobian(x, y), event - transform.event_dim)
            y = x
        return total + _sum_rightmost(self.base_dist.log_prob(y), event - len(self.base_dist.event_shape))

    def _risen(self, share):
        """The share below is the share above where the transforms fall."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return share if isinstance(sign, int) and sign == 1 else sign * (share - 0.5) + 0.5

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        return self._risen(self.base_dist.cdf(value))

    def icdf(self, value):
        value = self.base_dist.icdf(self._risen(value))
        for transform in self.transforms:
            value = transform(value)
        return value


class LogNormal(TransformedDistribution):
    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    loc, scale = _of("base_dist", "loc"), _of("base_dist", "scale")

    @property
    def mean(self):
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class HalfNormal(TransformedDistribution):
    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, False), AbsTransform(), validate_args)

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self):
        return torch.zeros_like(self.scale)

    @property
    def variance(self):
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value):
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value):
        return 2 * self.base_dist.cdf(value) - 1

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class HalfCauchy(TransformedDistribution):
    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale), AbsTransform(), validate_args)

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return torch.full(self._extended(()), math.inf, dtype=self.scale.dtype)

    @property
    def mode(self):
        return torch.zeros_like(self.scale)

    @property
    def variance(self):
        return self.base_dist.variance

    def log_prob(self, value):
        (value,) = _tensors(value)
        logs = math.log(2) - math.log(math.pi) - self.scale.log() - (value / self.scale).pow(2).log1p()
        return torch.where(value >= 0, logs, -math.inf)

    def cdf(self, value):
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class Gumbel(TransformedDistribution):
    _shown = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _tensors(loc, scale)
        info = torch.finfo(self.loc.dtype)
        base = Uniform(torch.full_like(self.loc, info.tiny), torch.full_like(self.loc, 1 - info.eps), False)
        parts = [ExpTransform().inv, AffineTransform(0, -torch.ones_like(self.scale)), ExpTransform().inv, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, parts, validate_args)

    def log_prob(self, value):
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self):
        return self.loc + self.scale * 0.57721566490153286060

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def entropy(self):
        return self.scale.log() + (1 + 0.57721566490153286060)


class Pareto(TransformedDistribution):
    _shown = ("alpha", "scale")

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = _tensors(scale, alpha)
        super().__init__(Exponential(self.alpha), [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @property
    def mean(self):
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self):
        return self.scale

    @property
    def variance(self):
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    _shown = ("scale", "concentration")

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = _tensors(scale, concentration)
        base = Exponential(torch.ones_like(self.scale))
        super().__init__(base, [PowerTransform(self.concentration.reciprocal()), AffineTransform(0, self.scale)], validate_args)

    @property
    def mean(self):
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration.reciprocal()))

    @property
    def mode(self):
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self):
        inverse = self.concentration.reciprocal()
        return self.scale.pow(2) * (torch.exp(torch.lgamma(1 + 2 * inverse)) - torch.exp(2 * torch.lgamma(1 + inverse)))

    def entropy(self):
        inverse = self.concentration.reciprocal()
        return 0.57721566490153286060 * (1 - inverse) + torch.log(self.scale * inverse) + 1


class RelaxedBernoulli(TransformedDistribution):
    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        super().__init__(_LogitRelaxed(temperature, probs, logits), SigmoidTransform(), validate_args)

    probs, logits = _of("base_dist", "probs"), _of("base_dist", "logits")


class RelaxedOneHotCategorical(TransformedDistribution):
    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        super().__init__(_ExpRelaxed(temperature, probs, logits), ExpTransform(), validate_args)

    probs, logits = _of("base_dist", "probs"), _of("base_dist", "logits")
