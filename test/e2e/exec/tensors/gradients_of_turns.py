# The same derivatives asked for in turn after turn, of which each changes something: who shares memory, sizes, types, strides, constants, hooks, modes,
# what was written, what is differentiated again. Every turn's numbers are its own.
import torch
import torch.nn.functional as F

torch.manual_seed(3)
double = torch.float64


def numbers(tensor):
    return None if tensor is None else [round(float(v), 5) + 0.0 for v in tensor.detach().flatten()]


def leaf(*shape, dtype=double):
    return torch.linspace(-1.3, 1.9, torch.Size(shape).numel(), dtype=dtype).sin().reshape(shape).requires_grad_()


def turns(name, function, *choices):
    """`function` of each choice, three times over."""
    for turn in range(3):
        for choice in choices:
            leaves = choice() if callable(choice) else choice
            for one in leaves:
                one.grad = None
            function(*leaves).backward()
            print(name, turn, *[numbers(one.grad) for one in leaves])


a, b, c = leaf(2, 3), leaf(2, 3), leaf(3, 2)
turns("product", lambda x, y: (x * y * 2).sum(), (a, b), (a, a), (b, a), (b, b))
turns("matmul", lambda x, y: (x @ y).sin().sum(), (a, c), (c, a), (leaf(2, 2), c.detach()[:2].clone().requires_grad_()))
square = leaf(3, 3)
turns("square", lambda x, y: (x @ y).cos().sum(), (square, square), (square, leaf(3, 3)), (square, square.detach().T.contiguous().requires_grad_()))
turns("turned", lambda x: (x @ x.t() * x.sum()).sum(), (a,), (c,), (square,))
turns("sizes", lambda x: (F.softmax(x, -1) * x).sum(), lambda: (leaf(2, 3),), lambda: (leaf(1, 3),), lambda: (leaf(3, 1),), lambda: (leaf(4, 5),), lambda: (leaf(0, 3),), lambda: (leaf(3),))
turns("types", lambda x: (F.gelu(x) / (1 + x * x)).sum(), lambda: (leaf(3),), lambda: (leaf(3, dtype=torch.float32),))
turns("broadcast", lambda x, y: (x / (2.5 + y)).sum(), lambda: (leaf(2, 3), leaf(3)), lambda: (leaf(2, 3), leaf(2, 1)), lambda: (leaf(2, 1), leaf(1, 3)), lambda: (leaf(3), leaf(2, 3)), lambda: (leaf(), leaf(2, 3)))
for turn in range(4):
    whole = leaf(4, 6)
    for start in (0, 1, 2):
        part = whole[start:start + 2, start:start + 3]
        (part * part.exp()).sum().backward()
    whole[:, turn].square().sum().backward()
    whole.t()[turn:turn + 2].reshape(-1).cumsum(0).sum().backward()
    print("parts", turn, numbers(whole.grad))
for turn in range(4):
    x = leaf(3)
    y = (x ** (turn + 1)).mul(1.5 + turn).add(x, alpha=turn).clamp(-turn, turn + 0.5)
    F.leaky_relu(y, 0.1 * turn).sum().backward()
    print("constants", turn, numbers(x.grad))
for turn in range(3):
    for dim in (0, 1, -1, None):
        x = leaf(2, 3)
        (x.sum(dim) if dim is not None else x.sum()).square().sum().backward()
        x.amax(dim if dim is not None else (0, 1)).sum().backward()
        print("dims", turn, dim, numbers(x.grad))
for turn in range(5):
    x, w = leaf(2, 3), leaf(2, 3)
    y = x * w
    if turn == 1:
        y.register_hook(lambda g: g * 3)
    if turn == 2:
        x.register_hook(lambda g: torch.zeros_like(g))
    if turn == 3:
        y.grad_fn.register_hook(lambda inputs, outputs: tuple(g + 1 for g in inputs))
    z = y.tanh()
    if turn == 4:
        z.retain_grad()
    z.sum().backward(retain_graph=turn % 2 == 0)
    if turn % 2 == 0:
        z.sum().backward()
    print("hooks", turn, numbers(x.grad), numbers(w.grad), numbers(z.grad) if turn == 4 else None)
for turn in range(4):
    x = leaf(3)
    y = (x * x).exp() * x
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=turn % 2 == 1)
    print("first", turn, numbers(first), first.requires_grad)
    if turn % 2:
        print("second", turn, *map(numbers, torch.autograd.grad(first.sum(), x)))
for turn in range(4):
    x, w = leaf(3), leaf(3)
    v = w.clone()
    y = x * v
    if turn == 2:
        v.mul_(2)
    try:
        (y + v).sum().backward()
        print("written", turn, numbers(x.grad), numbers(w.grad))
    except RuntimeError as error:
        print("written", turn, "modified by an inplace operation" in str(error))
    with torch.no_grad():
        w.add_(turn)
        print("left", numbers(w))
for turn in range(4):
    x, w = leaf(2, 3), leaf(3, 2)
    x.requires_grad_(turn != 1)
    w.requires_grad_(turn != 2)
    (x @ w).square().sum().backward()
    print("asked", turn, numbers(x.grad), numbers(w.grad))


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        ctx.save_for_backward(x)
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        if ctx.factor == 4:
            raise ValueError("no gradient by four")
        return grad * ctx.factor + 0 * x, None


for turn in range(6):
    x = leaf(2)
    try:
        (Scaled.apply(x.sin(), turn).cos() * x).sum().backward()
    except ValueError as error:
        print(error)
    print("function", turn, numbers(x.grad))
for turn in range(3):
    x, w = leaf(2, 4), leaf(3, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=turn == 1):
        y = F.linear(x.float(), w.float()).float()
    y.square().sum().backward()
    print("autocast", turn, [round(v, 1) for v in numbers(x.grad)], w.grad.dtype)
for turn in range(3):
    x = leaf(3, 4)
    y = x * 2 if turn else x + 0
    picked = y[torch.tensor([0, turn, 2])]
    total = picked.sum() * (x.detach().max() if turn == 1 else 1)
    if total.item() > 0:
        total = -total
    total.backward()
    print("picked", turn, numbers(x.grad))
for turn in range(4):
    x = leaf(5)
    line = x.unsqueeze(0).expand(3, 5) if turn % 2 else x.repeat(3, 1)
    out = F.layer_norm(line, [5], eps=10.0 ** -(turn + 1)) * x
    out.sum(0).prod().backward()
    print("expanded", turn, numbers(x.grad))
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
for number, parameter in enumerate(model.parameters()):
    parameter.data.copy_(leaf(*parameter.shape, dtype=torch.float32) * (1 + number))
model.eval()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
for turn in range(12):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 / (turn + 1)
    given = leaf(2 + (turn % 3 == 2), 3, dtype=torch.float32).detach()
    loss = F.mse_loss(model(given), torch.ones(given.shape[0], 1))
    if turn != 5:
        optimizer.zero_grad(set_to_none=turn % 2 == 0)
    loss.backward()
    if turn == 7:
        model[2] = torch.nn.Linear(4, 4)
        for parameter in model[2].parameters():
            parameter.data.fill_(0.25)
    if turn == 9:
        model[0].weight.requires_grad_(False)
    optimizer.step()
    print("step", turn, f"{loss.item():.3g}", [round(float(p.detach().double().sum()), 2) for p in model.parameters()])
