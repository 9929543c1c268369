# --- what values distributions have and take; part of distributions.py's namespace
_Constraints.one_hot = Constraint("OneHot()", lambda v: (((v == 0) | (v == 1)) & (v.sum(-1, keepdim=True) == 1)).all(-1), 1, True)
_Constraints.half_open = Constraint("HalfOpenInterval(lower_bound=0.0, upper_bound=1.0)", lambda v: (v >= 0) & (v < 1))
_Constraints.positive_vector = _Constraints.independent(_Constraints.positive, 1)
_Constraints.nonnegative_count = Constraint("GreaterThanEq(lower_bound=0)", lambda v: v >= 0)


def _integers(upper):
    return Constraint(f"IntegerInterval(lower_bound=0, upper_bound={upper})", lambda v: (v % 1 == 0) & (v >= 0) & (v <= upper), 0, True)


def _from_scale(self):
    return Constraint(f"GreaterThanEq(lower_bound={self.scale})", lambda v: v >= self.scale)


def _multinomial(self):
    return Constraint("Multinomial()", lambda v: (v >= 0).all(-1) & (v.sum(-1) <= self.total_count), 1, True)


def _independent_support(self):
    return _Constraints.independent(self.base_dist.support, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else self.base_dist.support


# Each with its support and what its parameters have to be; those with a function say it of one distribution.
_LIKELIHOODS = "probs unit_interval logits real"
_ROWS = "probs simplex logits real_vector"
_PLACE = "loc real scale positive"
for _kind, _support, _parameters in (
    (Bernoulli, "boolean", _LIKELIHOODS),
    (Beta, "unit_interval", "concentration1 positive concentration0 positive"),
    (Binomial, lambda self: _integers(self.total_count), "total_count nonnegative_integer " + _LIKELIHOODS),
    (Categorical, lambda self: _integers(self._num_events - 1), _ROWS),
    (Cauchy, "real", _PLACE),
    (Gamma, "nonnegative", "concentration positive rate positive"),
    (Chi2, "nonnegative", "df positive"),
    (ContinuousBernoulli, "unit_interval", _LIKELIHOODS),
    (Dirichlet, "simplex", "concentration positive_vector"),
    (Exponential, "nonnegative", "rate positive"),
    (FisherSnedecor, "positive", "df1 positive df2 positive"),
    (Geometric, "nonnegative_integer", _LIKELIHOODS),
    (Gumbel, "real", _PLACE),
    (HalfCauchy, "nonnegative", "scale positive"),
    (HalfNormal, "nonnegative", "scale positive"),
    (InverseGamma, "positive", "concentration positive rate positive"),
    (Kumaraswamy, "unit_interval", "concentration1 positive concentration0 positive"),
    (Laplace, "real", _PLACE),
    (LogNormal, "positive", _PLACE),
    (LogisticNormal, "simplex", _PLACE),
    (Multinomial, _multinomial, _ROWS),
    (MultivariateNormal, "real_vector", "loc real_vector covariance_matrix positive_definite precision_matrix positive_definite scale_tril lower_cholesky"),
    (NegativeBinomial, "nonnegative_integer", "total_count nonnegative_count probs half_open logits real"),
    (Normal, "real", _PLACE),
    (OneHotCategorical, "one_hot", _ROWS),
    (Pareto, _from_scale, "alpha positive scale positive"),
    (Poisson, "nonnegative_integer", "rate nonnegative"),
    (RelaxedBernoulli, "unit_interval", _LIKELIHOODS),
    (RelaxedOneHotCategorical, "simplex", _ROWS),
    (StudentT, "real", "df positive " + _PLACE),
    (Uniform, lambda self: _Constraints.interval(self.low, self.high), "low real high real"),
    (VonMises, "real", "loc real concentration positive"),
    (Weibull, "positive", "scale positive concentration positive"),
    (Independent, _independent_support, ""),
):
    _kind.support = getattr(_Constraints, _support) if isinstance(_support, str) else property(_support)
    _names = _parameters.split()
    _kind.arg_constraints = {name: getattr(_Constraints, what) for name, what in zip(_names[::2], _names[1::2])}
Distribution.has_enumerate_support = False
Bernoulli.has_enumerate_support = Binomial.has_enumerate_support = Categorical.has_enumerate_support = OneHotCategorical.has_enumerate_support = True


def _within_support(self, value):
    if not isinstance(value, torch.Tensor):
        raise ValueError("The value argument to log_prob must be a Tensor")
    lacking = len(self._event_shape) - value.dim()
    if lacking > 0 or any(a != b for a, b in zip(reversed(list(value.shape)), reversed(list(self._event_shape)))):
        raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
    for have, want in zip(reversed(list(value.shape)), reversed(list(self._batch_shape) + list(self._event_shape))):
        if have != 1 and want != 1 and have != want:
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {self._batch_shape + self._event_shape}.")
    text = f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support of the distribution {type(self).__name__}, but found invalid values"
    torch._check_all(self.support.check(value), "ValueError", text)


def _validated(function):
    @functools.wraps(function)
    def validated(self, value):
        if self._validate_args and torch._is_script():
            _within_support(self, value)
        return function(self, value)

    return validated


# Mixtures and what is transformed ask their parts.
for _kind in (Bernoulli, Beta, Binomial, Categorical, Cauchy, Gamma, ContinuousBernoulli, Dirichlet, Exponential, FisherSnedecor, Geometric, Gumbel, HalfCauchy, HalfNormal, InverseGamma,
              Kumaraswamy, Laplace, LogNormal, Multinomial, MultivariateNormal, NegativeBinomial, Normal, OneHotCategorical, Pareto, Poisson, StudentT, Uniform, VonMises, Weibull):
    for _name in ("log_prob", "cdf"):
        setattr(_kind, _name, _validated(getattr(_kind, _name)))


def _expand(self, batch_shape):
    """A copy with each parameter expanded."""
    made = copy.copy(self)
    for name, constraint in self.arg_constraints.items():
        held = vars(self).get(name)
        if isinstance(held, torch.Tensor):
            setattr(made, name, held.expand(list(batch_shape) + list(held.shape)[held.dim() - constraint.event_dim :]))
    made._batch_shape = torch.Size(batch_shape)
    return made


for _kind in (Binomial, ContinuousBernoulli, Dirichlet, Exponential, Gamma, Geometric, Poisson, NegativeBinomial):
    if "expand" not in vars(_kind):
        _kind.expand = _expand


def _expand_beta(self, batch_shape):
    return Beta(self.concentration1.expand(list(batch_shape)), self.concentration0.expand(list(batch_shape)), False)


Beta.expand = _expand_beta
