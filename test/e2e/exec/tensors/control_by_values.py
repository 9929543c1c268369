# Branches and bodies of loops that ask for values: numbers that tensors hold, sizes that values decide, kinds of errors, gradients.
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

x = torch.tensor([1.0, -2.0, 3.0, 4.0])
rows = torch.arange(12.0).reshape(3, 4) - 5


def branches(pred, p):
    yield torch.cond(pred, lambda p: (p[p > 0].sum(),), lambda p: (p.sum(),), (p,))
    yield torch.cond(pred, lambda p: (p.nonzero().sum(),), lambda p: (p.sum().long(),), (p,))
    yield torch.cond(pred, lambda p: (p * int(p.sum().item()),), lambda p: (p * 2,), (p,))
    yield torch.cond(pred, lambda p: p[: int(p.max())].sum() * 2, lambda p: p[p < 0].sum(), (p,))
    yield torch.cond(pred, lambda p: {"a": p.unique().sum(), "b": [p + 1]}, lambda p: {"a": p.sum(), "b": [p - 1]}, (p,))


def nested(p):
    inner = lambda p: (torch.cond(p.sum() > 0, lambda p: (p[p > 1].sum(),), lambda p: (p.sum(),), (p,))[0] + 1,)
    return torch.cond(p.max() > 0, inner, lambda p: (p.min(),), (p,))


for pred in (x.sum() > 0, x.sum() < 0, torch.tensor(True), True):
    for result in branches(pred, x):
        print(result)
print(nested(x), nested(-x), nested(torch.zeros(4)))
print((x * 2 + torch.cond(x.sum() > 100, lambda p: (p[p > 0] * 1,), lambda p: (p * 1,), (x,))[0]).tolist())
leaf = x.clone().requires_grad_()
torch.cond(leaf.sum() > 0, lambda p: (p[p > 0].square().sum(),), lambda p: (p.sum(),), (leaf,))[0].backward()
print(leaf.grad)
try:
    torch.cond(x.sum() > 0, lambda p: (p.reshape(3, 3)[p > 0],), lambda p: (p * 1,), (x,))
except RuntimeError as error:
    print("raised")
print(x + 1)
