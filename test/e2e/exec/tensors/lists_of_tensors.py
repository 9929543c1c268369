# SPDX-License-Identifier: Apache-2.0
"""torch._foreach_*, which optimizers are written with, and functions that give several tensors: tuples."""
import torch

a, b = [torch.ones(2), torch.ones(3) * 2], [torch.ones(2) * 3, torch.ones(3) * 4]
print(torch._foreach_add(a, b), torch._foreach_add(a, 1), torch._foreach_add(a, b, alpha=2), torch._foreach_mul(a, [2.0, 3.0]), torch._foreach_mul(a, torch.tensor(2.0)))
torch._foreach_add_(a, b, alpha=-0.5)
torch._foreach_mul_(a, 0.5)
torch._foreach_lerp_(a, b, 0.25)
print(a)
torch._foreach_addcmul_(a, b, b, value=0.5)
torch._foreach_addcdiv_(a, b, b, -0.5)
print(a, torch._foreach_addcdiv(a, b, b, [1.0, 2.0]))
torch._foreach_sqrt_(b)
print(b, torch._foreach_norm(b), torch._foreach_neg(b))
torch._foreach_zero_(a)
torch._foreach_copy_(a, b)
print(a, torch._foreach_sub(a, b), torch._foreach_div(a, b), torch._foreach_pow(a, 2), torch._foreach_maximum(a, [0.5, 3.0]), torch._foreach_clamp_max(a, 1.0))
print(torch._foreach_abs(a), torch._foreach_sign(a), torch._foreach_max(a), torch._foreach_clamp_min_(a, 2.0), torch._foreach_reciprocal(a), torch._foreach_lerp(a, b, 0.5))
empty = [torch.empty(0), torch.ones(1, 2)]
print(torch._foreach_mul(empty, 3), torch._foreach_add(empty, empty))
for wrong in (lambda: torch._foreach_add(a, [b[0]]), lambda: torch._foreach_add([], [])):
    try:
        wrong()
    except RuntimeError as error:
        print("RuntimeError", error)


class Momentum(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            held = [p for p in group["params"] if p.grad is not None]
            momenta = [self.state[p].setdefault("momentum", torch.zeros_like(p)) for p in held]
            torch._foreach_mul_(momenta, 0.5)
            torch._foreach_add_(momenta, [p.grad for p in held])
            torch._foreach_add_(held, momenta, alpha=-group["lr"])


layer = torch.nn.Linear(2, 1)
with torch.no_grad():
    layer.weight.fill_(0.5)
    layer.bias.fill_(0.25)
optimizer = Momentum(layer.parameters(), 0.125)
for _ in range(3):
    layer.zero_grad()
    layer(torch.ones(1, 2)).pow(2).sum().backward()
    optimizer.step()
    print(layer.weight.data, layer.bias.data)

x = torch.tensor([1.0, 5.0, 2.0])
(places,) = torch.where(x > 1)
print(torch.where(x > 1), places, torch.gradient(x), torch.gradient(torch.stack([x, x]), dim=(0, 1)))
print(torch.autograd.Variable(x), isinstance(x, torch.autograd.Variable), isinstance(1, torch.autograd.Variable))
