# SPDX-License-Identifier: Apache-2.0
"""Distributions made of others: draws, moments, densities and texts."""
import torch
import torch.distributions as D
names = {
    "StudentT": lambda: D.StudentT(torch.tensor([3.0, 1.5, 0.5])), "StudentT of numbers": lambda: D.StudentT(4.0, 1.0, 2.0), "FisherSnedecor": lambda: D.FisherSnedecor(torch.tensor([3.0, 1.0]), torch.tensor([5.0, 2.0])), "InverseGamma": lambda: D.InverseGamma(torch.tensor([3.0, 0.5]), torch.tensor([2.0, 1.0])),
    "Kumaraswamy": lambda: D.Kumaraswamy(torch.tensor([2.0, 0.5]), torch.tensor([3.0, 0.5])), "GeneralizedPareto": lambda: D.GeneralizedPareto(torch.tensor([0.0, 1.0, 0.0]), torch.tensor(1.5), torch.tensor([0.2, 0.0, -0.5])), "LogisticNormal": lambda: D.LogisticNormal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5])),
    "NegativeBinomial": lambda: D.NegativeBinomial(torch.tensor([5.0, 2.5]), torch.tensor([0.4, 0.9])), "NegativeBinomial of logits": lambda: D.NegativeBinomial(3, logits=torch.tensor([0.2])), "ContinuousBernoulli": lambda: D.ContinuousBernoulli(torch.tensor([0.3, 0.5, 0.9])), "ContinuousBernoulli of logits": lambda: D.ContinuousBernoulli(logits=torch.tensor([-1.0, 0.001])),
    "VonMises": lambda: D.VonMises(torch.tensor([0.5, 3.0]), torch.tensor([2.0, 0.1])),
}
exact = ("Kumaraswamy", "GeneralizedPareto", "ContinuousBernoulli", "ContinuousBernoulli of logits")
for name, make in names.items():
    torch.manual_seed(0)
    d = make()
    print(name, d, d.batch_shape, d.event_shape, d.support, d.has_rsample)
    for what in ("mean", "variance", "stddev", "mode"):
        try:
            print("  ", what, getattr(d, what))
        except NotImplementedError:
            print("  ", what, "is not there")
    drawn = d.sample((2,))
    print("  ", drawn, d.log_prob(drawn))
    for what, ask in {"entropy": lambda: d.entropy(), "cdf": lambda: d.cdf(drawn) if name in exact else "", "icdf": lambda: d.icdf(torch.tensor([0.2])) if name in exact else "", "text": lambda: d}.items():
        try:
            print("  ", what, ask())
        except NotImplementedError:
            print("  ", what, "is not there")
b = D.Binomial(10, torch.tensor([0.2, 0.5]))
print(b, b.mean, b.variance, b.mode, b.log_prob(torch.tensor([3.0, 10.0])), b.entropy(), b.enumerate_support().shape, b.support)
print(D.Binomial(torch.tensor([3.0, 5.0]), logits=torch.tensor([0.5, -40.0])).log_prob(torch.tensor([0.0, 0.0])))
loc = torch.tensor([0.3], requires_grad=True)
torch.manual_seed(1)
d = D.StudentT(torch.tensor([5.0]), loc, torch.tensor([2.0]))
(d.rsample((3,)).sum() + d.log_prob(torch.tensor([1.0]))).backward()
print(loc.grad)
for wrong in (lambda: D.VonMises(0.0, torch.tensor([-2.0])), lambda: D.NegativeBinomial(3)):
    try:
        wrong()
        print("passes")
    except ValueError as error:
        print(str(error).splitlines()[0][:80])
