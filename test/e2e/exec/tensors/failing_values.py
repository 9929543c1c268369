# SPDX-License-Identifier: Apache-2.0
# What fails by the values of its operands fails where PyTorch's operators do, also where nobody holds the result; what was
# recorded beside it is right.
import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F

x = torch.arange(12.0).reshape(3, 4)


def indices(*values):
    return torch.tensor(list(values))


def tried(name, function, *operands):
    """With values that are known, and with the same ones when they have to be computed."""
    for kind in ("known", "computed"):
        given = operands if kind == "known" else [operand * 1 for operand in operands]
        try:
            function(*given)
            print(name, kind, "no error")
        except Exception as error:
            print(name, kind, type(error).__name__, str(error).split("\n")[0])


def written(i):
    y = x.clone()
    y[i] = 1.0


tried("gather", lambda i: torch.gather(x, 1, i), torch.tensor([[9]]))
tried("gather below", lambda i: torch.gather(x, 1, i), torch.tensor([[-1]]))
tried("index_select", lambda i: torch.index_select(x, 0, i), indices(0, 7))
tried("index_select of columns", lambda i: torch.index_select(x, 1, i), indices(0, 7))
tried("embedding", lambda i: F.embedding(i, x), indices(0, 7))
tried("nn.Embedding", lambda i: nn.Embedding(3, 2)(i), indices(0, -1))
tried("index", lambda i: x[i], indices(0, 7))
tried("index from the end", lambda i: x[i], indices(-1, -3))
tried("index below", lambda i: x[i], indices(-4))
tried("index of columns", lambda i: x[:, i], indices(0, 7))
tried("take", lambda i: torch.take(x, i), indices(0, 12))
tried("scatter", lambda i: x.scatter(1, i, 1.0), torch.tensor([[9]]))
tried("scatter_add", lambda i: x.scatter_add(1, i, x), torch.tensor([[9]]))
tried("scatter_reduce", lambda i: x.scatter_reduce(1, i, x, "amax"), torch.tensor([[9]]))
tried("index_add", lambda i: x.index_add(0, i, x[:2]), indices(0, 7))
tried("index_add below", lambda i: x.index_add(0, i, x[:2]), indices(0, -1))
tried("index_copy", lambda i: x.index_copy(0, i, x[:2]), indices(0, -1))
tried("index_fill", lambda i: x.index_fill(0, i, 3.0), indices(0, 7))
tried("index_put", lambda i: x.index_put((i,), torch.tensor(1.0)), indices(0, 7))
tried("a written place", written, indices(0, 7))
tried("cross_entropy", lambda i: F.cross_entropy(x, i), indices(0, 1, 9))
tried("cross_entropy below", lambda i: F.cross_entropy(x, i), indices(0, 1, -1))
tried("cross_entropy of what is ignored", lambda i: F.cross_entropy(x, i), indices(0, 1, -100))
tried("CrossEntropyLoss", lambda i: nn.CrossEntropyLoss(label_smoothing=0.1)(x, i), indices(0, 1, 4))
tried("nll_loss", lambda i: F.nll_loss(x, i, weight=torch.ones(4)), indices(0, 1, 9))
tried("one_hot", lambda i: F.one_hot(i, 4), indices(0, 9))
tried("one_hot below", lambda i: F.one_hot(i), indices(0, -1))
tried("bincount", lambda i: torch.bincount(i), indices(0, -1))
tried("repeat_interleave", lambda i: torch.repeat_interleave(x, i, dim=0), indices(1, 0, -1))
tried("divisor", lambda i: torch.ones(2, dtype=torch.long) // i, indices(1, 0))
tried("remainder", lambda i: torch.ones(2, dtype=torch.long) % i, indices(1, 0))
tried("binary_cross_entropy", lambda p: F.binary_cross_entropy(p, torch.ones(2)), torch.tensor([0.5, 1.5]))
tried("its target", lambda p: F.binary_cross_entropy(torch.full((2,), 0.5), p), torch.tensor([0.5, 1.5]))
tried("multinomial", lambda p: torch.multinomial(p, 1), torch.tensor([0.5, -1.5]))
tried("quantile", lambda q: torch.quantile(x, q), torch.tensor([0.5, 1.5]))

# What was recorded beside it stays.
places = indices(0, 5) * 1
before = x + 1
held = (before * 2).square()
try:
    wrong = x[places]
    chained = wrong + 1
    print(chained.sum())
except IndexError as error:
    print("IndexError", error)
print(before.sum(), held.sum(), (held + before).sum())
layer = nn.Linear(4, 3)
with torch.no_grad():
    layer.weight.fill_(0.5)
    layer.bias.fill_(0.25)
weight = layer.weight.detach() * 3
try:
    F.cross_entropy(layer(x), places[:1] + indices(1, 7, 2)).backward()
except IndexError as error:
    print("IndexError", error)
print(weight.sum(), layer.weight.grad, layer(x).sum())


# Every kind of block.
def returned(i):
    try:
        return x[i * 1].sum()
    except IndexError:
        return "returned"
    finally:
        print("finally")


print(returned(indices(7)), returned(indices(1)))
with contextlib.suppress(IndexError):
    x[indices(7) * 1]
    print("entered")
print("behind")
for i in range(4):
    try:
        x[indices(i) * 2]
    except IndexError:
        print("turn", i)
        continue
    else:
        print("fits", i)


class Catches:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        print("left with", None if kind is None else kind.__name__)
        return True


with Catches():
    late = x[indices(3) * 1]


@contextlib.contextmanager
def catching():
    try:
        yield
    except IndexError as error:
        print("caught", error)


with catching():
    x[indices(4) * 1]

# What was put off before a block is not its own.
try:
    x[indices(6) * 1]
    try:
        print("inside")
    except IndexError:
        print("not here")
except IndexError:
    print("here")
