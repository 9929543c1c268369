# Bodies of loops that ask for values; each loop beside the same one written out. PyTorch captures few of them: recorded with the loops
# of control_flow/fuzz.py (PLAIN) in the place of its own.
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

x = torch.tensor([1.0, -2.0, 3.0, 4.0])
rows = torch.arange(12.0).reshape(3, 4) - 5
above = lambda t, n: t[t > n].sum()
print(while_loop(lambda i, c: i < 3, lambda i, c: (i + 1, c + above(x, 0) * i), (torch.tensor(0), x.amax() * 1)))
i, c = torch.tensor(0), x.amax() * 1
while i < 3:
    i, c = i + 1, c + above(x, 0) * i
print((i, c))
print(while_loop(lambda i, c: i < int(c.sum().item()), lambda i, c: (i + 1, c - 1), (0, x * 1)))
print(while_loop(lambda c: c.nonzero().shape[0] > 2, lambda c: (torch.where(c == c.max(), 0.0, c),), (x * 1,)))
print(while_loop(lambda i, c: i < 0, lambda i, c: (i + 1, c + above(c, 0)), (torch.tensor(0), x * 1)))
for reverse in (False, True):
    print(scan(lambda c, r: (c + above(r, 0), c * r[r > -3].numel()), torch.tensor(1.0), rows, reverse=reverse))
    c, found = torch.tensor(1.0), []
    for r in reversed(rows) if reverse else rows:
        found.append(c * r[r > -3].numel())
        c = c + above(r, 0)
    print((c, torch.stack(found[::-1] if reverse else found)))
print(each(lambda r, k: r * k + above(r, 0), rows, x), torch.stack([above(r, 0) for r in rows]))
print(each(lambda r: torch.cond(r.sum() > 0, lambda r: (r[r > 2].sum(),), lambda r: (r.sum(),), (r,))[0], rows))
print(associative_scan(lambda a, b: a + b * int(x.max().item()), rows, 0, combine_mode="generic"))
try:
    each(lambda r: above(r, 0), rows[:0])
except RuntimeError as error:
    print("raised")
try:
    scan(lambda c, r: (c + above(r, 0), c * 1), torch.tensor(1.0), rows[:0])
except RuntimeError as error:
    print("refused")
print(x + 1)
