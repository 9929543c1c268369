# SPDX-License-Identifier: Apache-2.0
"""Models with control flow, for PyTorch and for the compiler: one function each, tensors in and tensors out."""
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop


def branch(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin() * 2, lambda x: x.cos() - 1, (x,))


def branch_of_float(x, flag):
    """A predicate of another type, of one dim."""
    return torch.cond(flag, lambda x: x + 1, lambda x: x - 1, (x,))


def branch_of_size(x):
    return torch.cond(x.shape[0] > 4, lambda x: x * 2, lambda x: x * 3, (x,))


def branch_known(x):
    return torch.cond(True, lambda x: x * 2, lambda x: x * 3, (x,))


def branch_lookup(x, table, index):
    """A lookup that would end the run where the model does not do it."""

    def inside(x, index):
        return x + table[index]

    return torch.cond((index < table.shape[0]).all(), inside, lambda x, index: x * 0 - 1, (x, index))


def branch_nested(x, flag):
    def deeper(x):
        total = x.sum(1, keepdim=True)
        return torch.cond(total.max() > 1, lambda x, t: (x / t, t + 0), lambda x, t: (x * t, t * 2), (x, total))

    return torch.cond(flag, deeper, lambda x: (x + 1, x[:, :1] * 1), (x,))


def branch_views(x, flag):
    """Operands and what is closed over are views, at offsets and with other strides."""
    left, turned = x[1:, 2:], (x + 0.5).t()
    whole = x * 2
    return torch.cond(flag, lambda a, b: a + b[2:, 1:].t() + whole[1:, 2:], lambda a, b: (b[2:, 1:] * a.t()).t() - whole[:-1, 2:], (left, turned))


def branch_tree(x, flag):
    def yes(tree):
        return {"sum": tree["a"] + tree["b"][0], "all": [tree["a"] * 2, tree["b"][0].sum(0)]}

    def no(tree):
        return {"sum": tree["a"] - tree["b"][0], "all": [tree["a"] * 3, tree["b"][0].amax(0)]}

    result = torch.cond(flag, yes, no, ({"a": x, "b": (x * x,)},))
    return result["sum"], result["all"][0], result["all"][1]


def branch_types(x, i, flag):
    return torch.cond(
        flag,
        lambda x, i: (x.half() * 2, i // 2, x > 0, x.double()),
        lambda x, i: (x.half() - 1, i * 3, x <= 0, x.double() / 3),
        (x, i),
    )


def newton(x):
    """Until it is close enough: how many turns, and where."""

    def goes_on(i, y):
        return (i < 40) & ((y * y - x).abs().max() > 1e-6)

    return while_loop(goes_on, lambda i, y: (i + 1, (y + x / y) * 0.5), (torch.tensor(0), torch.ones_like(x)))


def count_down(n, x):
    """No turn at all where n is 0; carries that change places."""
    return while_loop(lambda n, a, b: n > 0, lambda n, a, b: (n - 1, b.clone(), a + b), (n, x, x * 2))


def loop_tree(n, x):
    def body(state):
        return ({"n": state["n"] - 1, "x": [state["x"][0] * 0.5 + 1, state["x"][1].clone()]},)

    return while_loop(lambda state: state["n"] > 0, body, ({"n": n, "x": [x.t(), x.sum()]},))[0]["x"]


def loop_in_loop(n, x):
    """A loop and a branch in the body of a loop, which runs an odd and an even number of turns."""

    def outer(i, x):
        _, inner = while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y * 1.5 + 0.25), (torch.zeros((), dtype=torch.int64), x))
        return i + 1, torch.cond(inner.sum() > 8, lambda y: y * 0.25, lambda y: y + 1, (inner,))

    return while_loop(lambda i, x: i < n, outer, (torch.tensor(0), x))


def loop_beside_loop(n, x):
    """Memory that both use, one after the other, and a result of the first that outlives the second."""
    i, y = while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + x), (torch.tensor(0), x * 0))
    j, z = while_loop(lambda i, z: i < n, lambda i, z: (i + 1, z * 0.5 + y), (torch.tensor(0), y * 1))
    return i + j, y - z, z


def cumulative(init, x):
    def step(carry, x):
        total = carry + x
        return total, total * 2

    return scan(step, init, x)


def scan_backwards(init, x, w):
    def step(carry, x):
        a = torch.tanh(carry["a"] @ w + x[0])
        return {"a": a, "n": carry["n"] + 1}, {"y": a * 2, "z": x[1].sum(-1) + a.sum(-1)}

    carry, ys = scan(step, {"a": init, "n": torch.tensor(0)}, (x, x * x), dim=1, reverse=True)
    return carry["a"], carry["n"], ys["y"], ys["z"]


def scan_counted(x):
    """No xs, only turns; y has another type."""
    return scan(lambda c, nothing: (c * 0.5, (c > 1).clone()), x, None, length=5)


def scan_in_scan(x):
    def row(carry, line):
        last, sums = scan(lambda c, v: (c + v, c * v), carry, line)
        return last, sums

    return scan(row, torch.zeros(()), x)


def mapped(x, y):
    return each(lambda pair, y: (pair[0] @ y, pair[1].sum() + y.sum()), (x, x * 2), y)


def products(x):
    """Affine maps one after another: not commutative."""

    def combine(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    return associative_scan(combine, (x, x + 1), dim=1, combine_mode="generic")


def matrix_products(x):
    return associative_scan(lambda a, b: a @ b, x, dim=0, combine_mode="generic")


def products_backwards(x):
    return associative_scan(lambda a, b: a * b + 1 - 1, x, dim=-1, reverse=True, combine_mode="generic")


def largest(x):
    return associative_scan(lambda a, b: torch.maximum(a, b), x, dim=0, combine_mode="pointwise")


def whole_numbers(x):
    """Ints that a loop carries, and one that it changes in no turn."""

    def body(i, step, y):
        return i + step, step, y * i + step

    i, step, y = while_loop(lambda i, step, y: i < 7, body, (0, 2, x))
    return y + i * step


def given_up(x):
    """A body that the model gives up, with what it made; a condition that is carried."""

    def refused(x):
        deeper = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,))
        raise ValueError("not this one")

    try:
        x = torch.cond(x.sum() > 0, refused, lambda x: x * 4, (x,))
    except ValueError:
        x = x + 1
    return while_loop(lambda more, x: more, lambda more, x: (x.sum() < 50, x * 2), (torch.tensor(True), x))[1]


def constant_inside(x):
    """Numbers that only a body has, in a body and in a body in it."""

    def body(i, y):
        y = y + torch.tensor([1.0, 2.0, 3.0])
        return i + 1, torch.cond(y.sum() > 9, lambda y: y * torch.tensor([0.5, 0.25, 2.0]), lambda y: y - 1, (y,))

    return while_loop(lambda i, y: i < torch.tensor(4), body, (torch.tensor(0), x))


def places_in_a_branch(x):
    """How many elements there are is read in the branch that is taken, and for what comes behind."""

    def yes(x):
        found = x[x > 0]
        return found.sum() * found.shape[0], torch.nonzero(x > 1).sum()

    def no(x):
        return torch.unique(x).sum(), torch.zeros((), dtype=torch.int64)

    total, places = torch.cond(x.sum() > 0, yes, no, (x,))
    return total, places, x[x > total * 0].sort()[0]


def places_in_a_scan(x):
    """Sizes that hang on one another, others in each turn: growing, shrinking and none."""

    def step(seen, row):
        found = row[row > 0]
        larger = found[found > 0.5]
        together = torch.cat([larger, found.sort(descending=True)[0], row[:1]])
        return seen + found.shape[0], torch.cat([together.cumsum(0).sum().reshape(1), torch.where(row > 0, row, 0.0) + larger.sum()])

    return scan(step, torch.zeros((), dtype=torch.int64), x)


def places_in_a_loop(n, x):
    """Reads in a body, in a branch in it and in a loop in it."""

    def inner(row, y):
        kept = y[y > row]
        return kept.sum() + kept.shape[0]

    def body(i, y):
        ends = y[y > 0.5]
        mean = torch.cond(i > 1, lambda y: y[y < 0].sum(), lambda y: y[y >= 0].prod(), (y,))
        sums = each(inner, y[:3], y)
        return i + 1, y * 0.75 + (ends.sum() + mean + sums.sum()) * 0.01

    return while_loop(lambda i, y: (i < n) & (torch.nonzero(y > -9).shape[0] > -1), body, (torch.tensor(0), x))


def lengths(x, n):
    """item() as a size in a body."""

    def row(pair):
        line, count = pair
        k = count.item()
        torch._check(k >= 0)
        torch._check(k <= line.shape[0])
        return line[:k].sum() + torch.arange(k).sum() + k

    return each(row, (x, n))


def gradient_of_a_loop(n, x, w):
    """The turns, whose number is not known, once more and backwards; a branch in them, and one carry that is left as it is."""
    x, w = x.requires_grad_(), w.requires_grad_()

    def body(i, y, w):
        y = torch.cond(i % 2 == 0, lambda y, w: y.sin() * w, lambda y, w: y * 0.5 + w, (y, w))
        return i + 1, y, w.clone()

    _, y, kept = while_loop(lambda i, y, w: i < n, body, (torch.tensor(0), x * 2, w))
    return torch.autograd.grad((y * y).sum() + kept.sum(), (x, w))


class Net(torch.nn.Module):
    """Layers inside of branches and loops."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 6)
        self.second = torch.nn.Linear(6, 6)

    def forward(self, x, n):
        def turn(i, y):
            return i + 1, torch.cond(y.mean() > 0, lambda y: self.first(y).relu(), lambda y: self.second(y) + 1, (y,))

        return while_loop(lambda i, y: i < n, turn, (torch.tensor(0), x))[1]
