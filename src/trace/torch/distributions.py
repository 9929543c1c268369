# SPDX-License-Identifier: Apache-2.0
"""torch.distributions: those that policies and autoencoders draw from."""
import copy
import functools
import math

import torch
import torch.nn.functional as F


def _tensors(*values):
    """Numbers and tensors as tensors of one shape."""
    first = [v for v in values if isinstance(v, torch.Tensor)]
    made = [v if isinstance(v, torch.Tensor) else torch.tensor(float(v), dtype=first[0].dtype if first else None) for v in values]
    return torch.broadcast_tensors(*made) if len(made) > 1 else made


def _of(part, name):
    """What one of its parts says under that name, as a property."""
    return property(lambda self: getattr(getattr(self, part), name))


class Distribution:
    has_rsample = False

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        self._validate_args = self._validates if validate_args is None else validate_args

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    def _extended(self, sample_shape):
        return list(sample_shape) + list(self._batch_shape) + list(self._event_shape)

    def _require(self, holds, name, constraint, value):
        if self._validate_args and not bool(holds.all()):
            raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to satisfy the constraint {constraint}, "
                             f"but found invalid values:\n{value}")

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def perplexity(self):
        return torch.exp(self.entropy())

    @property
    def mode(self):
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def variance(self):
        raise NotImplementedError

    def log_prob(self, value):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def cdf(self, value):
        raise NotImplementedError

    def icdf(self, value):
        raise NotImplementedError

    def expand(self, batch_shape):
        raise NotImplementedError(f"{type(self).__name__}.expand()")

    def sample_n(self, n):
        return self.sample(torch.Size((n,)))

    _extended_shape = _extended

    @staticmethod
    def set_default_validate_args(value):
        if value not in (True, False):
            raise ValueError
        Distribution._validates = value

    _validates = True
    _shown = ()

    def __repr__(self):
        parts = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in [(name, getattr(self, name)) for name in self._shown]]
        return f"{type(self).__name__}({', '.join(parts)})"


class Normal(Distribution):
    has_rsample = True
    _shown = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _tensors(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)
        self._require(self.loc == self.loc, "loc", "Real()", self.loc)
        self._require(self.scale > 0, "scale", "GreaterThan(lower_bound=0.0)", self.scale)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.scale.pow(2)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            shape = self._extended(sample_shape)
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        return self.loc + torch.randn(self._extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device) * self.scale

    def log_prob(self, value):
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        return 0.5 * (1 + torch.erf((value - self.loc) / self.scale / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def expand(self, batch_shape):
        return Normal(self.loc.expand(batch_shape), self.scale.expand(batch_shape), False)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class Uniform(Distribution):
    has_rsample = True
    _shown = ("low", "high")

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = _tensors(low, high)
        super().__init__(self.low.shape, (), validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def variance(self):
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=()):
        return self.low + torch.rand(self._extended(sample_shape), dtype=self.low.dtype, device=self.low.device) * (self.high - self.low)

    def log_prob(self, value):
        inside = torch.logical_and(self.low <= value, self.high > value).to(self.low.dtype)
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value):
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def expand(self, batch_shape):
        return Uniform(self.low.expand(batch_shape), self.high.expand(batch_shape), False)

    def entropy(self):
        return torch.log(self.high - self.low)


class _Lazily(Distribution):
    """Of `probs` and `logits` the one that was not given is computed when it is first asked for; from then on the text has both."""

    def __getattr__(self, name):
        if name not in ("probs", "logits") or "_is_given" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        # The first who asks may be a draw, which has no gradient; entropies and log_prob that ask later have one.
        with torch.enable_grad():
            value = self._other()
        setattr(self, name, value)
        self._shown = tuple(shown for shown in self._shown if shown not in ("probs", "logits")) + ("probs", "logits")
        return value

    def _other(self):
        if not self._is_given:
            return torch.sigmoid(self.logits)
        least = torch.finfo(self.probs.dtype).eps
        kept = self.probs.clamp(min=least, max=1 - least)
        return torch.log(kept) - torch.log1p(-kept)

    def _given(self, probs, logits):
        self._is_given = logits is None
        self._shown = ("probs",) if logits is None else ("logits",)
        if logits is None:
            self.probs = probs
        else:
            self.logits = logits


def _probabilities(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    given = probs if logits is None else logits
    return given if isinstance(given, torch.Tensor) else torch.tensor(float(given))


class Categorical(_Lazily):
    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if logits is None else logits
        if given.dim() < 1:
            raise ValueError(f"`{'probs' if logits is None else 'logits'}` parameter must be at least one-dimensional.")
        super().__init__(given.shape[:-1], (), validate_args)
        if logits is None:
            self._given(probs / probs.sum(-1, keepdim=True), None)
            self._require((probs >= 0) & (probs.sum(-1, keepdim=True) > 0), "probs", "Simplex()", self.probs)
        else:
            self._given(None, logits - logits.logsumexp(-1, keepdim=True))
            self._require(logits == logits, "logits", "IndependentConstraint(Real(), 1)", self.logits)
        self._num_events = given.shape[-1]

    def _other(self):
        if not self._is_given:
            return torch.softmax(self.logits, -1)
        least = torch.finfo(self.probs.dtype).eps
        return torch.log(self.probs.clamp(min=least, max=1 - least))

    @property
    def param_shape(self):
        return (self.probs if self._is_given else self.logits).shape

    @property
    def mean(self):
        return torch.full(self._extended(()), math.nan, dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self):
        return self.probs.argmax(-1)

    def expand(self, batch_shape):
        shape = list(batch_shape) + [self._num_events]
        return Categorical(self.probs.expand(shape)) if self._is_given else Categorical(logits=self.logits.expand(shape))

    def sample(self, sample_shape=()):
        with torch.no_grad():
            count = 1
            for size in sample_shape:
                count *= size
            rows = self.probs.reshape(-1, self._num_events)
            return torch.multinomial(rows, count, True).T.reshape(self._extended(sample_shape))

    def log_prob(self, value):
        value = value.long().unsqueeze(-1)
        shape = torch.broadcast_shapes(value.shape[:-1], self.logits.shape[:-1])
        logits = self.logits.expand(list(shape) + [self._num_events])
        return logits.gather(-1, value.expand(list(shape) + [1])).squeeze(-1)

    def entropy(self):
        least = torch.finfo(self.logits.dtype).min
        return -(torch.clamp(self.logits, min=least) * self.probs).sum(-1)


class Bernoulli(_Lazily):
    def __init__(self, probs=None, logits=None, validate_args=None):
        given = _probabilities(probs, logits)
        super().__init__(given.shape, (), validate_args)
        if logits is None:
            self._given(given, None)
            self._require((given >= 0) & (given <= 1), "probs", "Interval(lower_bound=0.0, upper_bound=1.0)", given)
        else:
            self._given(None, given)

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def mode(self):
        half = (self.probs >= 0.5).to(self.probs.dtype)
        return torch.where(self.probs == 0.5, math.nan, half)

    def expand(self, batch_shape):
        if not self._is_given:
            return Bernoulli(logits=self.logits.expand(batch_shape))
        return Bernoulli(probs=self.probs.expand(batch_shape))

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended(sample_shape)))

    def log_prob(self, value):
        logits, value = torch.broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        shape = list(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > len(shape):
            raise ValueError(f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {reinterpreted_batch_ndims} vs {len(shape)}")
        cut = len(shape) - reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        self.has_rsample = base_distribution.has_rsample

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def variance(self):
        return self.base_dist.variance

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    @property
    def mode(self):
        return self.base_dist.mode

    def expand(self, batch_shape):
        tail = list(self.event_shape)[: self.reinterpreted_batch_ndims]
        return Independent(self.base_dist.expand(list(batch_shape) + tail), self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"

    def _summed(self, value):
        return value.sum(list(range(-self.reinterpreted_batch_ndims, 0))) if self.reinterpreted_batch_ndims else value

    def log_prob(self, value):
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self):
        return self._summed(self.base_dist.entropy())
