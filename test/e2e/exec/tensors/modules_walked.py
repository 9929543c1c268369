# SPDX-License-Identifier: Apache-2.0
"""Walks over modules and calls of methods, as far as a program may say otherwise."""
import torch
import torch.nn as nn


class Leaf(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n))
        self.register_buffer("seen", torch.zeros(n))
        self.label = "leaf"

    def forward(self, x):
        return x + self.w


class Secretive(nn.Module):
    """Says itself which modules it has."""

    def __init__(self):
        super().__init__()
        self.hidden = Leaf(2)
        self.shown = Leaf(3)

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        yield prefix + "!", self.shown


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Leaf(1)
        self.again = self.a
        self.list = nn.ModuleList([Leaf(4), self.a])
        self.secretive = Secretive()
        self.own = nn.Parameter(torch.zeros(5))
        self.tied = self.own

    def forward(self, x):
        return self.list[0](self.a(x))


net = Net()
print([name for name, _ in net.named_modules()])
print([name for name, _ in net.named_modules(prefix="p")])
print([name for name, _ in net.named_modules(remove_duplicate=False)])
print([(name, tuple(p.shape)) for name, p in net.named_parameters()])
print([(name, tuple(p.shape)) for name, p in net.named_parameters("net")])
print([(name, tuple(p.shape)) for name, p in net.named_parameters(recurse=False)])
print([name for name, _ in net.named_parameters(remove_duplicate=False)])
print([(name, tuple(b.shape)) for name, b in net.named_buffers()])
print(len(list(net.modules())), len(list(net.parameters())), sum(p.numel() for p in net.parameters()))

memo = set()
print([name for name, _ in net.a.named_modules(memo, "first")], len(memo))
print([name for name, _ in net.named_modules(memo)])

inside = nn.Module()
inside.itself = inside
print([name for name, _ in inside.named_modules()])
try:
    list(inside.named_modules(remove_duplicate=False))
except RecursionError as error:
    print(type(error).__name__)

# Calls: forward of the class, of the instance, and with hooks around.
x = torch.ones(1)
print(net.a(x), net.a(x=x), net.a.__call__(x), nn.Module.__call__(net.a, x))
net.a.forward = lambda x: x * 7
print(net.a(x))
del net.a.forward
handle = net.a.register_forward_hook(lambda module, args, out: out + 100)
print(net.a(x))
handle.remove()
print(net.a(x), torch.nn.Module.named_modules is nn.Module.named_modules)
try:
    nn.Module()(x)
except NotImplementedError as error:
    print(type(error).__name__, error)


class Loud(Leaf):
    def __call__(self, *args, **kwargs):
        print("called", len(args), sorted(kwargs))
        return super().__call__(*args, **kwargs)


print(Loud(1)(x), Loud(1)(x=x))


# Methods that are called, found on the class, the instance, or by what the class says.
class Counted:
    def __init__(self):
        self.calls = []

    def add(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return len(self.calls)

    @staticmethod
    def fixed(*args):
        return args

    @classmethod
    def named(cls, *args):
        return cls.__name__, args

    @property
    def chosen(self):
        return lambda *args: ("chosen", args)


class Dynamic(Counted):
    def __getattr__(self, name):
        return lambda *args: (name, args)


class Watched(Counted):
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


for cls in (Counted, Dynamic, Watched):
    one = cls()
    print(one.add(1, k=2), one.fixed(3), one.named(4), one.chosen(5), one.calls)
    one.add = lambda *args: ("own", args)
    print(one.add(6), cls.add(one, 7), one.calls)
    cls.fixed = lambda *args: len(args)
    print(one.fixed(8))
print(Dynamic().anything(9))


class Words(list):
    def last(self):
        return self[-1]


words = Words(["a"])
words.append("b")
print(words.last(), words.index("b"), "x,y".split(","), {"k": 1}.get("k"), (3).bit_length(), [3, 1].count(3))
t = torch.arange(6.0).reshape(2, 3)
t.note = "kept"
print(t.dim(), t.size(), t.size(dim=1), t.size(-1), t.note, t.view(3, -1).shape, t.t().contiguous().stride())
try:
    t.dim(1)
except TypeError as error:
    print(type(error).__name__)
try:
    t.missing(1)
except AttributeError as error:
    print(error)
try:
    None.missing()
except AttributeError as error:
    print(error)

# Long chains are dropped without a deep stack; what they hold goes too.
chain = None
for i in range(200000):
    chain = [chain]
del chain


class Link:
    def __init__(self, after):
        self.after = after


link = None
for i in range(50000):
    link = Link(link)
link = (link, {"k": link})
del link
print("dropped")
