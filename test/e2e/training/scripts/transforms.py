# SPDX-License-Identifier: Apache-2.0
"""torch.func and torch.autograd.functional against what can be written down: forward products, Jacobians, gradients inside of vmap,
modules called with other parameters; ASGD and Rprop against their rules in Python's floats."""
import torch
import torch.nn as nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp, vmap


def near(got, want, bound=1e-12):
    want = torch.as_tensor(want, dtype=got.dtype)
    assert got.shape == want.shape, (got.shape, want.shape)
    assert torch.allclose(got, want, rtol=bound, atol=bound), (got, want)


def refused(function, error, words):
    try:
        function()
    except error as caught:
        assert words in str(caught), caught
        return
    assert False, "not refused"


x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
v = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def wave(x):
    return torch.sin(x) * x


def cubes(x):
    return (x**3).sum()


slope = torch.cos(x) * x + torch.sin(x)
# Forward products.
value, tangent = jvp(wave, (x,), (v,))
near(value, wave(x))
near(tangent, slope * v)
near(jvp(lambda a, b: a * b + a, (x, x + 1), (v, 2 * v))[1], v * (x + 1) + x * 2 * v + v)
both = jvp(lambda a: (a * 2, {"one": torch.ones(2), "sum": a.sum()}), (x,), (v,))[1]
near(both[0], v * 2)
near(both[1]["one"], [0.0, 0.0])
near(both[1]["sum"], 6.0)
near(jvp(lambda a: a, (x,), (v,))[1], v)
near(grad(lambda a: jvp(cubes, (a,), (v,))[1])(x), 6 * x * v)
near(jvp(grad(cubes), (x,), (v,))[1], 6 * x * v)
near(linearize(wave, x)[1](v), slope * v)
near(torch.autograd.functional.jvp(wave, x, v)[1], slope * v)
refused(lambda: jvp(wave, x, v), RuntimeError, "Expected primals to be a tuple")
refused(lambda: jvp(wave, (x,), (v[:2],)), RuntimeError, "different size than that of the original Tensor")
# Jacobians.
for jacobian in (jacrev, jacfwd):
    near(jacobian(wave)(x), torch.diag(slope))
near(hessian(cubes)(x), torch.diag(6 * x))
near(jacfwd(jacrev(cubes))(x), torch.diag(6 * x))
near(vjp(wave, x)[1](v)[0], slope * v)
# vmap around gradients, and gradients around vmap.
rows = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
near(vmap(grad(cubes))(rows), 3 * rows**2)
near(vmap(grad(cubes), out_dims=1)(rows), (3 * rows**2).t())
slopes, values = vmap(grad_and_value(cubes))(rows)
near(slopes, 3 * rows**2)
near(values, (rows**3).sum(1))
near(vmap(lambda row: grad(lambda w: (w * row).sum())(x))(rows), rows)
near(vmap(vmap(grad(torch.sin)))(rows), torch.cos(rows))
near(vmap(lambda t: jvp(wave, (x,), (t,))[1])(rows), slope * rows)
near(vmap(jacrev(wave))(rows), torch.stack([torch.diag(torch.cos(r) * r + torch.sin(r)) for r in rows]))
near(grad(lambda a: vmap(cubes)(a).sum())(rows), 3 * rows**2)
refused(lambda: vmap(lambda row: row.clone().requires_grad_())(rows), RuntimeError, "inside of a function being transformed")

# Modules with other parameters: gradients of every sample.
torch.manual_seed(0)
layer = nn.Sequential(nn.Linear(3, 2), nn.Tanh()).double()
named = dict(layer.named_parameters())
before = {name: p.detach().clone() for name, p in named.items()}
ones = {"0.weight": torch.ones(2, 3, dtype=torch.float64), "0.bias": torch.zeros(2, dtype=torch.float64)}
near(functional_call(layer, ones, (x,)), torch.tanh(torch.tensor([1.5, 1.5], dtype=torch.float64)))
near(functional_call(layer, ({"0.weight": ones["0.weight"]}, {"0.bias": ones["0.bias"]}), x), torch.tanh(torch.tensor([1.5, 1.5], dtype=torch.float64)))
assert all([torch.equal(p, before[name]) for name, p in layer.named_parameters()]) and layer[0].weight is named["0.weight"]


def loss(parameters, sample):
    return functional_call(layer, parameters, (sample,)).sum()


each = vmap(grad(loss), in_dims=(None, 0))({name: p.detach() for name, p in named.items()}, rows)
for k, row in enumerate(rows):
    h = torch.tanh(row @ before["0.weight"].t() + before["0.bias"])
    near(each["0.bias"][k], 1 - h**2)
    near(each["0.weight"][k], (1 - h**2)[:, None] * row)
refused(lambda: functional_call(layer, {"none": x, **ones}, (x,), strict=True), RuntimeError, "none")
refused(lambda: functional_call(layer, {"0.bias": x[:2]}, (x,), strict=True), RuntimeError, "0.weight")
layers = [nn.Linear(3, 2).double() for _ in range(4)]
near(functional_call(layers[0], dict(layers[1].named_parameters()), kwargs={"input": x}).detach(), layers[1](x).detach())
stacked, buffers = stack_module_state(layers)
assert buffers == {} and stacked["weight"].shape == (4, 2, 3) and stacked["weight"].requires_grad
near(vmap(lambda p: functional_call(layers[0], p, (x,)))(stacked).detach(), torch.stack([one(x) for one in layers]).detach())


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.tensor(2.0))
        self.b = self.a

    def forward(self, x):
        return self.a * x + self.b


near(functional_call(Tied(), {"a": torch.tensor(5.0)}, (torch.tensor(1.0),)), 10.0)
near(functional_call(Tied(), {"a": torch.tensor(5.0)}, (torch.tensor(1.0),), tie_weights=False).detach(), 7.0)


# Optimisers.
def trained(make):
    p = nn.Parameter(torch.tensor([0.5, -1.0, 2.0, 0.25]))
    optimizer = make([p])
    for i in range(4):
        optimizer.zero_grad()
        ((p - 0.3) ** 2 * (i + 1) * (-1 if i == 2 else 1)).sum().backward()
        optimizer.step()
    return p.detach()


def averaged(start):
    p, eta = start, 0.01
    for i in range(4):
        g = 2 * (p - 0.3) * (i + 1) * (-1 if i == 2 else 1) + 0.1 * p
        p = p * (1 - 1e-2 * eta) - eta * g
        eta = 0.01 / (1 + 1e-2 * 0.01 * (i + 1)) ** 0.75
    return p


def resilient(start):
    p, size, last = start, 0.01, 0.0
    for i in range(4):
        g = 2 * (p - 0.3) * (i + 1) * (-1 if i == 2 else 1)
        if g * last > 0:
            size = min(size * 1.2, 50)
        elif g * last < 0:
            size, g = max(size * 0.5, 1e-6), 0.0
        p, last = p - size * (g > 0) + size * (g < 0), g
    return p


starts = [0.5, -1.0, 2.0, 0.25]
near(trained(lambda p: torch.optim.ASGD(p, lambd=1e-2, weight_decay=0.1)), [averaged(s) for s in starts], 1e-6)
near(trained(torch.optim.Rprop), [resilient(s) for s in starts], 1e-6)
# What comes beside the value asks for no gradient.
for found, aux in (grad(lambda t: (cubes(t), {"twice": t * 2, "rest": (t, 3)}), has_aux=True)(x), vjp(lambda t: (cubes(t), {"twice": t * 2, "rest": (t, 3)}), x, has_aux=True)[::2]):
    near(aux["twice"], x * 2)
    assert not aux["twice"].requires_grad and not aux["rest"][0].requires_grad and aux["rest"][1] == 3
# Saved tensors that wait elsewhere.
leaf = x.clone().requires_grad_()
with torch.autograd.graph.save_on_cpu(pin_memory=True):
    value = cubes(wave(leaf))
value.backward()
near(leaf.grad, 3 * wave(x) ** 2 * slope)
print("ok")
