# SPDX-License-Identifier: Apache-2.0
"""Programs that draw."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def sources(x):
    return (torch.rand(37), torch.rand(37), torch.randn(37), torch.randint(-3, 1000, (37,)), torch.rand(9, dtype=torch.float64),
            torch.randn(9, dtype=torch.float64), torch.empty(37).exponential_(), torch.rand(64, dtype=torch.bfloat16), torch.rand(64, dtype=torch.float16))


def distributions(x):
    wide = torch.empty(4000)
    return (torch.empty(4000).normal_(2.0, 0.5), torch.empty(4000).uniform_(-1, 3), torch.bernoulli(torch.full((4000,), 0.3)),
            torch.empty(4000).bernoulli_(0.25), torch.empty(4000).exponential_(2.0), torch.randint(0, 10, (4000,)), F.dropout(torch.ones(4000), 0.25),
            torch.normal(wide.fill_(1.0), 2.0), torch.empty(4000, dtype=torch.int32).random_(0, 7), torch.randperm(500),
            torch.multinomial(torch.arange(8, dtype=torch.float32), 4000, True), F.dropout2d(torch.ones(50, 80, 3), 0.5), F.alpha_dropout(torch.randn(4000), 0.2, True))


def shapes(x):
    """Draws fused into what uses them, over operands of any strides, and the same draws by themselves."""
    drawn, turned = torch.rand_like(x), torch.rand_like(x.t())
    return drawn, x + drawn, drawn * 2, turned, x.t() * turned, torch.rand(x.shape[0], 1) + x, torch.rand(()), torch.rand(0, 3), drawn.sum(0)


def unused_and_used(x):
    torch.rand(5)
    return torch.rand(5), x + 1


def attention(x):
    q = x[:, :8].reshape(1, 2, -1, 4)
    return F.scaled_dot_product_attention(q, q, q, dropout_p=0.5), F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, torch.ones_like(q), None, 0.25, True)


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.drop = nn.Linear(16, 32), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(F.relu(self.first(x)))


def branches(x):
    return torch.cond(x.sum() > 0, lambda y: y + torch.rand_like(y), lambda y: y - torch.rand_like(y), (x,))


def in_a_scan(x):
    from torch._higher_order_ops.scan import scan

    def step(carried, y):
        return carried + torch.rand_like(y), y + torch.rand_like(y)

    return scan(step, x.sum(0), x)


def in_a_loop(x):
    """Condition, body, a branch in the body and a loop in it draw; so does what comes before and behind."""
    from torch._higher_order_ops.while_loop import while_loop
    from torch._higher_order_ops.scan import scan

    before = torch.rand(3)

    def goes_on(i, y, last):
        return (i < 3) | (torch.rand(()) < -1)

    def turn(i, y, last):
        y = torch.cond(i > 0, lambda a: a + torch.rand_like(a), lambda a: a - torch.rand_like(a), (y,))
        total, rows = scan(lambda c, z: (c + torch.rand_like(z), z + torch.rand_like(z)), y.sum(0), y)
        return i + 1, y, rows + total * 0

    i, y, last = while_loop(goes_on, turn, (torch.tensor(0), x.clone(), torch.zeros_like(x)))
    return before, i, y, last, torch.rand(3)


def in_a_map(x):
    from torch._higher_order_ops.map import map as each

    return each(lambda y: F.dropout(y, 0.5), x), torch.multinomial(torch.ones(4), 20, True)


def in_an_associative_scan(x):
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(lambda a, b: a + b * torch.rand_like(b), x, 0)
