# SPDX-License-Identifier: Apache-2.0
"""What a compiled function shares with its arguments, and what it changes beside its results."""
import torch
from torch import nn
def t(name, f, *xs):
    g = torch.compile(f)
    y = g(*xs)
    y = y if isinstance(y, torch.Tensor) else y[0]
    print(name, y is xs[0], y.data_ptr() == xs[0].data_ptr(), y.stride())
    y.add_(1); print(xs[0].flatten()[:4].tolist())
torch.set_grad_enabled(False)
if True:
    x = torch.zeros(4, 4)
    t("same", lambda x: x, x)
    t("inplace", lambda x: x.add_(1), x)
    t("view", lambda x: x.view(-1), x)
    t("row", lambda x: x[0], x)
    t("t", lambda x: (x.t(), x * 2), x)
    t("tcontig", lambda x: x.t().contiguous(), x)
    t("inplace then view", lambda x: (x.mul_(1)).view(2, 8), x)
    w = torch.zeros(4)
    f = torch.compile(lambda x: w)
    y = f(x); print(y is w)
    @torch.compile
    def g(x, y):
        x.add_(1); return y * 2
    a = torch.zeros(5); print(g(a, a), a)
    b = torch.zeros(10); print(g(b[:6], b[4:]), b)
    print(g(torch.zeros(2), torch.zeros(2)))
    c = torch.zeros(4)
    @torch.compile
    def h(x):
        x.add_(1); return c * 2
    print(h(c), c)
    print(h(c), c)
    print(h(c[1:]), c)
    m = torch.nn.Linear(2, 2); m.weight.data.fill_(1.)
    @torch.compile
    def k(w):
        w.add_(1); return m.weight.sum()
    print(k(m.weight.data), m.weight)
    @torch.compile
    def q(l):
        l[0].add_(1); l.append(l[0]); return l[1].sum()
    l = [a, a]; print(q(l), len(l), l[2] is a)
    @torch.compile
    def r(x, y):
        return x + 1, y, x
    o = r(a, a); print(o[1] is a, o[2] is a)
    @torch.compile
    def o2(x):
        y = x * 2
        return y, y, y.view(-1), y[0]
    p = o2(torch.ones(2, 2)); p[0].add_(1); print(p[1], p[2], p[3], p[0] is p[1])

class M(nn.Module):
    def __init__(s): super().__init__(); s.n = 0; s.last = None; s.hist = []
    def forward(s, x):
        s.n += 1; s.last = x * 2; s.hist.append(x.sum())
        return x + s.n
m = M(); c = torch.compile(m)
for i in range(3): print(c(torch.ones(2)), m.n, m.last, len(m.hist), m.hist[-1])
class Cfg: pass
cfg = Cfg(); cfg.s = 2.0
f = torch.compile(lambda x, cfg: x * cfg.s)
print(f(torch.ones(2), cfg)); cfg.s = 3.0; print(f(torch.ones(2), cfg))
class Cache:
    def __init__(s): s.k = None; s.d = {}
    def update(s, k):
        s.k = k if s.k is None else torch.cat([s.k, k], 0); s.d["n"] = s.k.shape[0]
        return s.k
ca = Cache()
g = torch.compile(lambda x, ca: ca.update(x * 2).sum())
for i in range(4): print(g(torch.ones(2, 3), ca), ca.k.shape, ca.d, ca.k.sum())
h = torch.compile(lambda x, l, d: (l.append(x * 2), d.__setitem__("a", x + 1), x)[2])
l, d = [], {}
for i in range(3): h(torch.ones(2), l, d); print(len(l), d)
def store(x, out):
    out[0] = x * 2
    return x.sum()
o = [None]; s = torch.compile(store)
print(s(torch.ones(2), o), o)
log = []
def k(x):
    log.append(x.shape[0]); return x * 2
kk = torch.compile(k); kk(torch.ones(2)); kk(torch.ones(2)); kk(torch.ones(3)); print(log)
cnt = 0
def gl(x):
    global cnt
    cnt += 1; return x * cnt
gg = torch.compile(gl); print(gg(torch.ones(2)), gg(torch.ones(2)), gg(torch.ones(2)), cnt)
def outer():
    n = 0
    def inner(x):
        nonlocal n
        n += 1
        return x * n
    ic = torch.compile(inner)
    for _ in range(3): print(ic(torch.ones(1)))
    return n
print(outer())
it = iter(range(5))
ni = torch.compile(lambda x: x * next(it)); print(ni(torch.ones(1)), ni(torch.ones(1)), ni(torch.ones(1)))
class Acc:
    total = torch.zeros(())
    def add(s, x): Acc.total = Acc.total + x.sum(); return Acc.total * 1
a = Acc(); ac = torch.compile(a.add); print(ac(torch.ones(2)), ac(torch.ones(2)), Acc.total)
m2 = nn.BatchNorm1d(3); m2.train(); bc = torch.compile(m2)
for i in range(3): bc(torch.randn(4, 3) * 0 + i)
print(m2.running_mean, m2.num_batches_tracked)
dd = {"x": torch.ones(2)}
pp = torch.compile(lambda d: d.pop("x") * 2); print(pp(dd), dd)
import collections
st = collections.deque(maxlen=2)
def push(x, st):
    st.append(x * 1.0); return torch.stack(list(st)).sum(0)
ps = torch.compile(push)
for i in range(4): print(ps(torch.full((2,), float(i)), st))
import random, sys
random.seed(3)
rr = torch.compile(lambda x: x * random.random())
print([round(float(rr(torch.ones(1))), 6) for _ in range(3)])
nested = {"a": {"b": 1.0}, "l": [[2.0]]}
nn_ = torch.compile(lambda x: x * nested["a"]["b"] + nested["l"][0][0])
print(nn_(torch.ones(1))); nested["a"]["b"] = 5.0; print(nn_(torch.ones(1))); nested["l"][0][0] = 7.0; print(nn_(torch.ones(1)))
class Lazy(nn.Module):
    def forward(s, x):
        if not hasattr(s, "mask"): s.mask = torch.ones(2) * 3
        return x * s.mask
lz = torch.compile(Lazy())
for _ in range(3): print(lz(torch.ones(2)))
def raises(x, l):
    l.append(1)
    if len(l) == 2: raise ValueError("two")
    return x + len(l)
ra = torch.compile(raises); l = []
for _ in range(3):
    try: print(ra(torch.ones(1), l), l)
    except ValueError as e: print(e, l)
@torch.compile
def many(x):
    y = x.sin(); z = y.t()
    return y, z, y[0], z.contiguous(), [y, {"x": x}]
x = torch.zeros(2, 3); a, b, c, d, e = many(x); a.add_(1); print(b, c, d, e, b.stride(), e[0] is a, e[1]["x"] is x)
dyn = torch.compile(lambda x: (x.view(-1), (x * 2).t(), x[1:]), dynamic=True)
for n in (2, 3, 5):
    x = torch.zeros(n, 2); v, t_, s_ = dyn(x); v.add_(1); print(x.sum(), t_.stride(), s_, s_.data_ptr() == x.data_ptr() + 8)
    x = torch.zeros(2, n).t(); 
    v = torch.compile(lambda x: x[1:])(x); v.add_(1); print(x)
