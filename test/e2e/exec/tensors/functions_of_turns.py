# SPDX-License-Identifier: Apache-2.0
"""Functions with everything that their contexts may be told, and norms of gradients, in turns that differ."""
import torch


def told(name, call):
    try:
        print(name, call())
    except (RuntimeError, TypeError, ValueError) as error:
        print(name, type(error).__name__, str(error).splitlines()[0][:70])


class Several(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, y):
        print("grad mode", torch.is_grad_enabled(), ctx.needs_input_grad)
        product, order = x * y * factor, torch.argsort(x)
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(x, product, None, y)
        ctx.factor = factor
        return product, order, x.sum()

    @staticmethod
    def backward(ctx, *gradients):
        x, product, nothing, y = ctx.saved_tensors
        print("gradients", [None if g is None else g.tolist() for g in gradients], nothing, product.tolist(), torch.is_grad_enabled())
        return gradients[0] * y * ctx.factor + gradients[2], None, gradients[0] * x * ctx.factor if ctx.needs_input_grad[2] else None


class Unmaterialized(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        print("given", first is None, second is None)
        return (first if first is not None else 0) * 2 + (second if second is not None else 0) * 3


class Returns(torch.autograd.Function):
    result = None

    @staticmethod
    def forward(ctx, x, n):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return Returns.result(gradient)


class SetUp(torch.autograd.Function):
    @staticmethod
    def forward(x, n):
        print("grad mode", torch.is_grad_enabled())
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.n = inputs[1]

    @staticmethod
    def backward(ctx, gradient):
        x, output = ctx.saved_tensors
        return gradient * ctx.n * x ** (ctx.n - 1), None


class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


class GivesBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 5


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("not today")


x = torch.tensor([3.0, -1.0, 2.0], requires_grad=True)
y = torch.tensor([0.5, 4.0, 1.0])
for turn in range(4):
    if turn == 2:
        y.requires_grad_()
    product, order, total = Several.apply(x, turn + 0.5, y)
    print(product.requires_grad, order.requires_grad, total.requires_grad, product.grad_fn is total.grad_fn)
    (product.sum() if turn % 2 else total * 2).backward()
    print(turn, x.grad.tolist(), None if y.grad is None else y.grad.tolist())
    told("again", lambda: product.sum().backward())
    with torch.no_grad():
        print(Several.apply(x, 1.0, y)[0].requires_grad)

for turn in range(3):
    first, second = Unmaterialized.apply(x)
    x.grad = None
    (first.sum() if turn == 0 else second.sum() if turn == 1 else (first + second).sum()).backward()
    print(x.grad.tolist())

for result in (lambda g: g, lambda g: (g, None), lambda g: [g, None, None], lambda g: (g, g), lambda g: (g, 1), lambda g: (1.0, None), lambda g: (None, None), lambda g: (g, None, g), lambda g: ()):
    Returns.result = staticmethod(result).__func__
    x.grad = None
    told("returns", lambda: Returns.apply(x, 3).sum().backward())
    print(x.grad if x.grad is None else x.grad.tolist())

for n in (2, 3, 2):
    x.grad = None
    gradient, = torch.autograd.grad(SetUp.apply(x, n).sum(), x, create_graph=True)
    print(gradient.tolist(), torch.autograd.grad(gradient.sum(), x)[0].tolist())

z = x * 1
print(InPlace.apply(z).tolist(), z.tolist(), torch.autograd.grad(z.sum(), x)[0].tolist())
w = GivesBack.apply(x)
print(w is x, torch.autograd.grad(w.sum(), x)[0].tolist())
told("fails", lambda: Fails.apply(x))
print(torch.is_grad_enabled())
print(SetUp.apply(torch.ones(0, requires_grad=True), 2).sum().item())


# --- norms of gradients

torch.manual_seed(1)
sizes = [(3, 4), (4,), (), (0, 2), (2, 3, 5)]
parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes]
for turn in range(12):
    for i, p in enumerate(parameters):
        p.grad = None if (turn, i) == (5, 1) else (torch.arange(p.numel(), dtype=p.dtype).reshape(p.shape) - turn) * (i + 1)
        if turn in (7, 8) and i == 0:
            p.grad = p.grad.t().contiguous().t()
    if turn == 9:
        parameters[3].grad = torch.ones(0, 2)
        parameters[4].grad[1, 2, 3] = float("inf")
    if turn == 10:
        parameters[0], parameters[1] = torch.nn.Parameter(torch.zeros(4, 3)), parameters[0]
        parameters[0].grad = torch.full((4, 3), 2.0)
    kind = [2.0, 2, 1, 0.5, 2.0, 2.0, 3][turn % 7]
    told(f"norm {turn}", lambda: torch.nn.utils.clip_grad_norm_(parameters, 2.5, kind, error_if_nonfinite=turn == 9).item().__format__(".5g"))
    print([None if p.grad is None else round(p.grad.sum().item(), 3) for p in parameters])
print(torch.nn.utils.clip_grad_norm_([], 1.0), torch.nn.utils.get_total_norm([p.grad.double() for p in parameters]).dtype)
print(torch.nn.utils.clip_grad_norm_([p for p in parameters if p.numel()], 1.0, float("inf")).item())
