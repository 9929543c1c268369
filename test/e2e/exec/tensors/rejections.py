# SPDX-License-Identifier: Apache-2.0
"""Draws that reject what they drew: gammas and what is made of them, Poisson's counts."""
import torch
from torch.distributions import Beta, Chi2, Dirichlet, Gamma, Poisson

torch.manual_seed(3)
print(torch.poisson(torch.tensor([0.0, 0.5, 3.0, 9.99, 10.0, 55.5, 1e4])))
print(torch.poisson(torch.full((2, 3), 4.0)), torch.rand(2))
print(torch._standard_gamma(torch.tensor([0.01, 0.5, 1.0, 2.5, 100.0])), torch.randn(3))
print(Gamma(2.0, 0.5).sample((3,)), Gamma(torch.tensor([0.3, 5.0]), torch.tensor([1.0, 2.0])).sample((2,)))
print(Beta(2.0, 3.0).sample((3,)), Beta(torch.tensor([0.1, 8.0]), torch.tensor([0.2, 1.0])).sample((2,)))
print(Dirichlet(torch.tensor([0.5, 1.0, 4.0])).sample((2,)))
print(Chi2(torch.tensor([1.0, 7.0])).sample((2,)), Poisson(torch.tensor([1.0, 30.0])).sample((3,)))
print(torch.poisson(torch.tensor([2.0, 20.0], dtype=torch.float64)), Gamma(torch.tensor(0.7, dtype=torch.float64), 1.0).sample((2,)))
generator = torch.Generator().manual_seed(11)
print(torch.poisson(torch.ones(4) * 6, generator=generator), torch.rand(1, generator=generator), torch.rand(1))
print(torch.poisson(torch.zeros(0)).shape, torch.poisson(torch.ones(2, requires_grad=False)).requires_grad)
rate = torch.tensor(2.0, requires_grad=True)
Gamma(torch.tensor([1.5, 2.5]), rate).rsample((4,)).sum().backward()
print(rate.grad)
try:
    torch.poisson(torch.tensor([-1.0]))
except RuntimeError as error:
    print(error)
counts = Poisson(torch.tensor(4.0)).sample((2000,))
print(3.8 < counts.mean() < 4.2, 3.5 < counts.var() < 4.5)
