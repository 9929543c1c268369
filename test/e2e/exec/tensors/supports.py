"""Distributions say what values they have and take, and refuse others; shares below a value where a transform falls."""
import torch
import torch.distributions as D

t = torch.tensor
MADE = [
    D.Bernoulli(t([0.25, 0.75])), D.Beta(t([1.0, 2.0]), t([3.0, 1.0])), D.Binomial(5, t([0.25, 0.75])), D.Categorical(t([0.25, 0.75])), D.Cauchy(0.0, 1.0), D.Chi2(t([2.0])), D.Dirichlet(t([1.0, 2.0])),
    D.Exponential(t([1.0, 2.0])), D.Gamma(t([1.0]), 2.0), D.Geometric(t([0.5])), D.HalfCauchy(t([1.0])), D.HalfNormal(t([1.0])), D.Laplace(0.0, t([1.0])), D.LogNormal(0.0, t([1.0])),
    D.MultivariateNormal(torch.zeros(2), torch.eye(2)), D.Normal(0.0, t([1.0])), D.OneHotCategorical(t([0.25, 0.75])), D.Poisson(t([1.0])), D.StudentT(t([3.0])), D.VonMises(0.0, t([1.0])), D.Weibull(t([1.0]), t([1.0])),
    D.Independent(D.Normal(torch.zeros(2), torch.ones(2)), 1), D.InverseGamma(t([1.0]), t([1.0])), D.Pareto(t([1.0]), t([2.0])),
]
VALUES = [t([-1.0, 0.0]), t([1.5, 0.5]), t([0.25, 0.75]), t([1.0, 0.0]), t([7.0, 1.0]), t([float("nan"), 1.0])]
for one in MADE:
    print(type(one).__name__, one.support, one.arg_constraints, one.has_enumerate_support)
    said = []
    for value in VALUES:
        try:
            said.append([round(v, 3) for v in one.log_prob(value).flatten().tolist()])
        except ValueError:
            said.append("ValueError")
    print("   ", said)
for one in (D.HalfCauchy(t([2.0])), D.HalfNormal(t([2.0])), D.Gamma(t([2.0]), t([3.0])), D.Chi2(t([3.0])), D.InverseGamma(t([2.0]), t([1.0]))):
    print(type(one).__name__, [round(v, 4) for v in one.cdf(t([0.25, 1.5, 3.0])).tolist()])
for transforms in ([D.transforms.AffineTransform(1.0, -2.0)], [D.transforms.AffineTransform(1.0, t([-2.0, 2.0]))], [D.transforms.ExpTransform(), D.transforms.PowerTransform(t(-2.0))], [D.transforms.TanhTransform().inv]):
    base = D.Uniform(t([0.0, 0.0]), t([1.0, 1.0])) if "Inverse" in repr(transforms) else D.Normal(torch.zeros(2), torch.ones(2))
    one = D.TransformedDistribution(base, transforms)
    print([round(v, 4) for v in one.cdf(t([0.25, 0.75])).tolist()], [round(v, 4) for v in one.icdf(t([0.25, 0.75])).tolist()] if "Inverse" not in repr(transforms) else "")
for make in (lambda: D.Categorical(t([0.5, -0.25])), lambda: D.Normal(0.0, -1.0), lambda: D.Bernoulli(t(1.5))):
    try:
        make()
    except ValueError as error:
        print(error)
print(D.Normal(0.0, 1.0, validate_args=False).log_prob(t(float("nan"))), D.Bernoulli(0.5, validate_args=False).log_prob(t(2.0)))
for one in (D.Exponential(t([1.0, 2.0])), D.Dirichlet(t([1.0, 2.0])), D.Beta(t([1.0]), t([2.0])), D.Poisson(t([1.0])), D.Binomial(3, t([0.5])), D.Gamma(t([1.0]), t([1.0]))):
    wide = one.expand((3,) + tuple(one.batch_shape))
    print(type(wide).__name__, wide.batch_shape, wide.event_shape, wide.mean.shape)
