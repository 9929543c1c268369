# SPDX-License-Identifier: Apache-2.0
# Tensors that a function makes on the device of its argument, by every way to say so, on every road that traces the function.
import torch
import triton
import triton.language as tl
from torch.fx.experimental.proxy_tensor import make_fx
from torch.library import triton_op, wrap_triton

WAYS = {"device of": lambda x: x.device, "text": lambda x: "cuda", "numbered": lambda x: "cuda:0", "number": lambda x: 0, "object": lambda x: torch.device("cuda", 0), "kind": lambda x: torch.device("cuda")}
# Those whose numbers are drawn, or are none at all, are held against shape and device alone.
FACTORIES = {
    "zeros": lambda x, d: torch.zeros(4, 6, device=d),
    "ones": lambda x, d: torch.ones(4, 6, device=d),
    "full": lambda x, d: torch.full((4, 6), 3.5, device=d),
    "arange": lambda x, d: torch.arange(6, device=d),
    "arange of floats": lambda x, d: torch.arange(0.0, 3.0, 0.5, device=d),
    "linspace": lambda x, d: torch.linspace(0.0, 1.0, 6, device=d),
    "logspace": lambda x, d: torch.logspace(0.0, 1.0, 6, device=d),
    "eye": lambda x, d: torch.eye(4, 6, device=d),
    "tril_indices": lambda x, d: torch.tril_indices(4, 3, device=d)[:1, :6],
    "triu_indices": lambda x, d: torch.triu_indices(2, 6, device=d)[:1, :6],
    "scalar_tensor": lambda x, d: torch.scalar_tensor(2.5, device=d),
    "tensor": lambda x, d: torch.tensor([1.0, 2, 3, 4, 5, 6], device=d),
    "tensor of one number": lambda x, d: torch.tensor(2.5, device=d),
    "as_tensor": lambda x, d: torch.as_tensor([1.0, 2, 3, 4, 5, 6], device=d),
    "hann_window": lambda x, d: torch.hann_window(6, device=d),
    "zeros_like": lambda x, d: torch.zeros_like(x, device=d),
    "ones_like": lambda x, d: torch.ones_like(x, device=d),
    "full_like": lambda x, d: torch.full_like(x, 2.5, device=d),
    "new_zeros": lambda x, d: x.new_zeros((4, 6), device=d),
    "new_ones": lambda x, d: x.new_ones((4, 6), device=d),
    "new_full": lambda x, d: x.new_full((4, 6), 2.5, device=d),
    "new_tensor": lambda x, d: x.new_tensor([1.0, 2, 3, 4, 5, 6], device=d),
    "to": lambda x, d: torch.ones(4, 6).to(d),
    "to with a type": lambda x, d: torch.ones(4, 6, dtype=torch.int32).to(d, torch.float32),
    "to by name": lambda x, d: torch.ones(4, 6).to(device=d),
    "to another": lambda x, d: torch.ones(4, 6).to(x),
    "cuda": lambda x, d: torch.ones(4, 6).cuda(d),
    "there and back": lambda x, d: x.cpu().to(d),
    "aten.ones": lambda x, d: torch.ops.aten.ones.default([4, 6], device=torch.device("cuda", 0)),
    "rand": lambda x, d: torch.rand(4, 6, device=d),
    "randn": lambda x, d: torch.randn(4, 6, device=d),
    "randint": lambda x, d: torch.randint(0, 9, (4, 6), device=d),
    "randperm": lambda x, d: torch.randperm(6, device=d),
    "normal": lambda x, d: torch.normal(0.0, 1.0, (4, 6), device=d),
    "rand_like": lambda x, d: torch.rand_like(x, device=d),
    "randn_like": lambda x, d: torch.randn_like(x, device=d),
    "randint_like": lambda x, d: torch.randint_like(x, 9, device=d),
    "empty": lambda x, d: torch.empty(4, 6, device=d),
    "empty_strided": lambda x, d: torch.empty_strided((4, 6), (6, 1), device=d),
    "empty_like": lambda x, d: torch.empty_like(x, device=d),
    "new_empty": lambda x, d: x.new_empty((4, 6), device=d),
}
LISTED = ("tril_indices", "triu_indices", "tensor", "as_tensor", "new_tensor")
DRAWN = [name for name in FACTORIES if name.startswith(("rand", "normal", "empty", "new_empty"))]


@triton.jit
def doubled(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, i < n) * 2, i < n)


# What the operator's body makes: it is opened where a graph is compiled.
inside = {}


@triton_op("factories::made", mutates_args=())
def made(x: torch.Tensor) -> torch.Tensor:
    y = x + inside["factory"](x, inside["device"](x))
    z = torch.empty_like(y)
    wrap_triton(doubled)[(1,)](y, z, y.numel(), BLOCK=32)
    return z


class Made(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x + inside["factory"](x, inside["device"](x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * inside["factory"](x, inside["device"](x))


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def plain(x):
    t = inside["factory"](x, inside["device"](x))
    assert t.device == x.device, (t.device, x.device)
    return x + t, t


ROADS = {
    "eager": lambda f, x: f(x),
    "compiled": lambda f, x: torch.compile(f, fullgraph=True)(x),
    "exported": lambda f, x: torch.export.export(Module(f), (x,)).module()(x),
    "exported strictly": lambda f, x: torch.export.export(Module(f), (x,), strict=True).module()(x),
    "made by fx": lambda f, x: make_fx(f)(x)(x),
}
x = (torch.arange(24.0) / 8).reshape(4, 6).cuda()
wrong = []


def hold(name, way, road, got, want):
    for g, w in zip(got, want):
        if str(g.device) != "cuda:0" or g.dtype != w.dtype or g.shape != w.shape or (name not in DRAWN and not torch.equal(g.cpu(), w)):
            wrong.append((name, way, road, g.device, g.dtype, tuple(g.shape)))
            return


def on_cpu(factory):
    """What it gives, made without a device."""
    ways = {"device": torch.device("cpu")}
    cpu = x.cpu()
    t = factory(cpu, ways["device"]) if factory is not FACTORIES["cuda"] and factory is not FACTORIES["aten.ones"] else torch.ones(4, 6)
    return cpu + t, t


for name, factory in FACTORIES.items():
    want = on_cpu(factory)
    for way, device in WAYS.items():
        inside.update(factory=factory, device=device)
        for road, run in ROADS.items():
            try:
                hold(name, way, road, run(plain, x), want)
            except Exception as error:
                wrong.append((name, way, road, type(error).__name__, str(error)[:200]))
        try:
            hold(name, way, "operator", [made(x)], [want[0] * 2])
            # Listed values are constants of a program, and an operator's body has none of its own.
            if name not in LISTED:
                hold(name, way, "compiled operator", [torch.compile(lambda x: made(x), fullgraph=True)(x)], [want[0] * 2])
            hold(name, way, "function", [Made.apply(x), torch.compile(lambda x: Made.apply(x), fullgraph=True)(x)], [want[0]] * 2)
            if want[1].dtype.is_floating_point:
                leaf = x.clone().requires_grad_()
                Made.apply(leaf).backward(torch.ones_like(x))
                hold(name, way, "gradient", [leaf.grad], [torch.ones(4, 6) * want[1]])
        except Exception as error:
            wrong.append((name, way, "operator or function", type(error).__name__, str(error)[:200]))

# What stays on the CPU says so, and a copy is a copy.
def apart(x):
    y = x.cpu()
    y.add_(1)
    return y, torch.ones(3), torch.arange(3, device="cpu"), x * 2


for road, run in ROADS.items():
    y, ones, numbers, twice = run(apart, x)
    devices = [str(t.device) for t in (y, ones, numbers, twice)]
    if devices != ["cpu", "cpu", "cpu", "cuda:0"] or not torch.equal(y, x.cpu() + 1) or not torch.equal(twice, x + x):
        wrong.append(("apart", road, devices))
# A program for one device is not the other's.
where = torch.compile(lambda x: x * (2 if x.is_cuda else 3), fullgraph=True)
if not torch.equal(where(x), x * 2) or not torch.equal(where(x.cpu()), x.cpu() * 3):
    wrong.append("is_cuda")
for one in wrong:
    print(one)
print("right" if not wrong else "wrong")
