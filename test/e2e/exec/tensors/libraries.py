# SPDX-License-Identifier: Apache-2.0
# Parts of torch beside layers and operators, as scripts use them.
import io
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize
import torch.nn.utils.prune as prune
from torch import distributions as D
from torch.nn.utils.parametrizations import spectral_norm, weight_norm
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


def rounded(values):
    return [round(v, 3) + 0.0 for v in torch.as_tensor(values).detach().double().reshape(-1).tolist()]


# Another default type.
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
whole = torch.arange(3)
print(torch.get_default_dtype(), torch.ones(2), torch.tensor([1.5]), nn.Linear(2, 2).weight.dtype, torch.rand(2), torch.arange(3.0).dtype, whole.float())
print((whole / 2).dtype, (whole + 0.5).dtype, whole.sqrt().dtype, whole.exp().dtype, torch.linspace(0, 1, 3), torch.eye(2), torch.full((1,), 2.5), torch.randn(2).dtype, torch.hann_window(3).dtype, torch.zeros(1, dtype=torch.float32))
torch.set_default_dtype(torch.float32)
print(torch.ones(1).dtype, (whole / 2).dtype)
try:
    torch.set_default_dtype(torch.int32)
except TypeError as error:
    print(error)

# Bytes.
buffer = io.BytesIO()
torch.save({"a": torch.arange(3.0), "n": 5}, buffer)
print(buffer.tell() > 0, len(buffer.getvalue()) == buffer.tell(), buffer.getvalue()[:2])
buffer.seek(0)
print(torch.load(buffer), buffer.read(1), io.BytesIO(buffer.getvalue()).read(4))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "t.pt")
    with open(path, "wb") as file:
        torch.save([torch.ones(2)], file)
    with open(path, "rb") as file:
        print(torch.load(file))
    with open(path, "rb") as file:
        print(torch.load(io.BytesIO(file.read())))
    with open(path, "wb") as file:
        print(file.write(buffer.getvalue()) == os.path.getsize(path) or os.path.getsize(path) >= 0)
    open(path, "w").close()
    try:
        torch.load(path)
    except EOFError as error:
        print(error)

# Parametrisations.
torch.manual_seed(0)
x = torch.randn(2, 3)
layer = weight_norm(nn.Linear(3, 4))
print(layer, [name for name, _ in layer.named_parameters()], rounded(layer(x)))
layer(x).sum().backward()
print(rounded(layer.parametrizations.weight.original0.grad), list(layer.state_dict()))
layer = spectral_norm(nn.Linear(3, 4))
print([name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()], rounded(layer(x)))
print(rounded(torch.linalg.matrix_norm(layer.eval().weight, 2)))


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu()


layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
print(torch.allclose(layer.weight, layer.weight.T), type(layer).__name__, type(nn.Linear(1, 1)).__name__, parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias"))
layer.weight = torch.ones(3, 3)
print(layer.weight, layer.parametrizations.weight.original)
with parametrize.cached():
    print(layer.weight is layer.weight)
layer(torch.ones(1, 3)).sum().backward()
print(layer.parametrizations.weight.original.grad.shape)
parametrize.remove_parametrizations(layer, "weight")
print(layer, type(layer.weight).__name__)
old = nn.utils.weight_norm(nn.Linear(3, 4), name="weight")
print([name for name, _ in old.named_parameters()], rounded(old(x)))
nn.utils.remove_weight_norm(old)
print([name for name, _ in old.named_parameters()], rounded(old(x)))
old = nn.utils.spectral_norm(nn.Conv2d(2, 3, 3))
print([name for name, _ in old.named_parameters()], [name for name, _ in old.named_buffers()], old(torch.randn(1, 2, 4, 4)).shape)

# Pruning.
layer = nn.Linear(3, 4)
prune.l1_unstructured(layer, "weight", amount=0.5)
print([name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()], rounded(layer.weight), layer.weight_mask)
prune.random_unstructured(layer, "bias", amount=2)
print(layer.bias_mask, prune.is_pruned(layer))
prune.l1_unstructured(layer, "weight", amount=2)
print((layer.weight == 0).sum())
prune.remove(layer, "weight")
print([name for name, _ in layer.named_parameters()], (layer.weight == 0).sum())
prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
layer(torch.ones(1, 3)).sum().backward()
print(rounded(layer.weight_orig.grad), rounded(layer.weight))
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
prune.global_unstructured([(net[0], "weight"), (net[1], "weight")], pruning_method=prune.L1Unstructured, amount=0.3)
print([int((part.weight == 0).sum()) for part in net])

# Trees.
tree = {"a": [torch.ones(2), 3], "b": (torch.zeros(1), {"c": None})}
leaves, spec = tree_flatten(tree)
print(tree_map(lambda v: v * 2 if isinstance(v, torch.Tensor) else v, tree), leaves, tree_unflatten(leaves, spec) == tree or "tensors", len(tree_leaves(tree)))

# Windows and small functions.
for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"):
    print(name, rounded(getattr(torch, name)(6)), rounded(getattr(torch, name)(5, periodic=False)), getattr(torch, name)(1))
print(torch.vander(torch.arange(3.0)), torch.unravel_index(torch.tensor([5, 2]), (2, 3)), torch.frexp(torch.tensor([3.0, 4.5, 0.0, -0.3])), torch.arcsin(torch.tensor(0.5)), torch.greater_equal(torch.tensor(1), 1), torch.is_floating_point(torch.ones(1)), torch.typename(torch.ones(1)), torch.typename(nn.Linear(1, 1)))
print(torch.aminmax(torch.tensor([3.0, 1.0])), type(torch.max(torch.ones(2, 2), 1)), torch.nanmedian(torch.tensor([[1.0, 2.0, 3.0]]), 1), rounded(torch.corrcoef(torch.tensor([[1.0, 2, 3], [1, 0, 3]]))))

# Distributions, with PyTorch's draws.
torch.manual_seed(0)
one, two = torch.tensor([0.5, 1.5]), torch.tensor([1.0, 2.0])
for made in (D.Exponential(two), D.Laplace(0.0, two), D.Cauchy(0.0, 1.0), D.Gumbel(0.0, two), D.HalfNormal(two), D.LogNormal(0.0, 1.0), D.Geometric(torch.tensor([0.3, 0.6])), D.Pareto(1.0, 2.0), D.Weibull(1.0, two), D.HalfCauchy(1.0), D.Uniform(0.0, two), D.Normal(one, two), D.OneHotCategorical(torch.tensor([0.2, 0.8]))):
    drawn = made.sample((3,))
    print(made, rounded(drawn), rounded(made.log_prob(drawn)), rounded(made.entropy()), rounded(made.mean))
normal = D.MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
drawn = normal.rsample((3,))
print(normal, rounded(drawn), rounded(normal.log_prob(drawn)), rounded(normal.entropy()), rounded(D.kl_divergence(normal, D.MultivariateNormal(torch.ones(2), torch.eye(2)))))
mixture = D.MixtureSameFamily(D.Categorical(torch.tensor([0.3, 0.7])), D.Normal(torch.tensor([-1.0, 1.0]), torch.tensor([0.5, 0.5])))
drawn = mixture.sample((4,))
print(rounded(drawn), rounded(mixture.log_prob(drawn)), rounded(mixture.mean), rounded(mixture.variance))
squashed = D.TransformedDistribution(D.Normal(torch.zeros(2), torch.ones(2)), [D.transforms.TanhTransform(cache_size=1)])
drawn = squashed.rsample()
print(rounded(drawn), rounded(squashed.log_prob(drawn)))
print(rounded(D.TransformedDistribution(D.Normal(0.0, 1.0), [D.AffineTransform(1.0, 2.0), D.ExpTransform()]).sample((2,))))
print(rounded(D.RelaxedBernoulli(torch.tensor(0.5), probs=torch.tensor([0.3])).rsample()), rounded(D.RelaxedOneHotCategorical(torch.tensor(0.5), probs=torch.tensor([0.3, 0.7])).rsample()), D.Multinomial(5, torch.tensor([0.3, 0.7])).sample())
gamma, beta, dirichlet = D.Gamma(two, 1.5), D.Beta(one, two), D.Dirichlet(torch.tensor([0.5, 2.0, 3.0]))
print(rounded(gamma.log_prob(one)), rounded(gamma.entropy()), rounded(beta.log_prob(torch.tensor(0.3))), rounded(beta.entropy()), rounded(dirichlet.log_prob(torch.tensor([0.2, 0.3, 0.5]))), rounded(dirichlet.entropy()), rounded(D.Poisson(two).log_prob(torch.tensor(3.0))))
for a, b in ((D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)), (D.Gamma(2.0, 1.0), D.Gamma(1.0, 3.0)), (D.Beta(2.0, 1.0), D.Beta(1.0, 3.0)), (D.Exponential(1.0), D.Exponential(3.0)), (D.Laplace(0.0, 1.0), D.Laplace(1.0, 2.0)), (D.Poisson(1.0), D.Poisson(2.0)), (D.Geometric(0.3), D.Geometric(0.5)), (dirichlet, D.Dirichlet(torch.ones(3)))):
    print(rounded(D.kl_divergence(a, b)))
print(rounded(D.Normal(0.0, 1.0).cdf(torch.tensor(0.3))), rounded(D.Normal(0.0, 1.0).icdf(torch.tensor(0.3))), D.Normal(0.0, 1.0).expand((2,)).batch_shape, D.constraints.positive)
for wrong in (lambda: D.Normal(torch.tensor(0.0), torch.tensor(-1.0)), lambda: D.Exponential(torch.tensor(-1.0)), lambda: D.MultivariateNormal(torch.zeros(2))):
    try:
        wrong()
    except ValueError as error:
        print(str(error).split("\n")[0])

# Anomalies.
x = torch.tensor([-1.0], requires_grad=True)
try:
    with torch.autograd.set_detect_anomaly(True):
        (torch.sqrt(x) * 0).sum().backward()
except RuntimeError as error:
    print(error)
with torch.autograd.detect_anomaly():
    (x * 2).sum().backward()
print(x.grad, torch.is_anomaly_enabled())


# What classes and objects say.
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("b", torch.ones(2))

    def forward(self, x):
        return self.linear(x) + self.b


net = Net()
print(Net, type(net), type(net.linear), type(net.linear.weight), type(torch.ones(1)), torch.ones(1).__class__, type(torch.optim.SGD(net.parameters(), 0.1)), Net.__module__, net.state_dict().keys())
print(repr(object.__new__(Net).__class__), str((net.linear.weight * 2).grad_fn).split(" at ")[0], (net.linear.weight * 2).grad_fn.next_functions[0][0].name(), type((net.linear.weight * 2).grad_fn.next_functions[0][0]).__name__)
try:
    net.linear.weight = torch.ones(2, 3)
except TypeError as error:
    print(error)
net.linear.bias = None
print([name for name, _ in net.named_parameters()])

# Other memory for a parameter.
kept = net.linear.weight.data
net.linear.weight.data = torch.ones(2, 3)
print(net.linear.weight, net.linear.weight.is_leaf, rounded(net(torch.ones(1, 3))))
net.linear.weight.data = kept
net.linear.weight.data = net.linear.weight.data.clamp(-0.1, 0.1)
print(float(net.linear.weight.abs().max()) <= 0.1)

# An exported program's own words, and its gradients.
torch.manual_seed(0)
net = Net()
exported = torch.export.export(net, (torch.ones(4, 3),))
signature = exported.graph_signature
print(signature.user_inputs, signature.user_outputs, signature.parameters, signature.buffers, signature.inputs_to_parameters, signature.inputs_to_buffers, signature.buffers_to_mutate)
module = exported.module()
before = module(torch.ones(4, 3))
before.sum().backward()
print([(name, rounded(p.grad)) for name, p in module.named_parameters()], list(exported.state_dict))
torch.optim.SGD(module.parameters(), lr=0.1).step()
with torch.no_grad():
    print(torch.allclose(module(torch.ones(4, 3)), before), torch.allclose(module(torch.ones(4, 3)), net(torch.ones(4, 3))))


class Twice(nn.Module):
    def forward(self, x):
        return x * 2


exported = torch.export.export(Twice(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: torch.export.Dim("d", min=2, max=8)}})
for size in ((3, 3), (9, 3), (4, 4)):
    try:
        print(exported.module()(torch.ones(size)).shape)
    except AssertionError as error:
        print(str(error).split("\n")[0])
