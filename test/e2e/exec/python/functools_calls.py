# SPDX-License-Identifier: Apache-2.0
import functools
@functools.lru_cache(maxsize=2)
def lc(n): print('miss', n); return n
lc(1), lc(1), lc(2), lc(3), lc(1); print(lc.cache_info(), lc.__name__, lc.__wrapped__(7)); lc.cache_clear(); print(lc.cache_info())
@functools.lru_cache
def lz(n, k=0): print('z', n, k); return n
lz(1); lz(1, k=0); lz(1.0); lz(True); lz(2); print(lz.cache_info(), lz.cache_parameters())
@functools.cache
def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
print(fib(60), fib.cache_info().currsize)
class A:
    def __init__(self): self.n = 0
    @functools.cached_property
    def p(self): print('calc'); return 5
    @functools.lru_cache(None)
    def m(self, x): print('m', x); return x
    @functools.wraps(fib)
    def w(self): 'mine'
    pm = functools.partialmethod(lambda self, a, b: (a, b), 1)
a = A(); print(a.p, a.p, vars(a)); a.m(1); a.m(1); a.m(2); print(a.w.__name__, A.w.__wrapped__ is fib, a.pm(2)); del a.p; print(a.p)
def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        "wrapper doc"
        return f(*a, **k)
    return w
@deco
def g(x: int, y=2) -> int:
    "doc g"
    return x + y
g.attr = 1
print(g.__name__, g.__doc__, g.__wrapped__(1), g.__annotations__, g.__qualname__, g.__module__)
p = functools.partial(print, 1, sep='-'); p(2, 3); print(p.args, p.keywords, p.func is print); p2 = functools.partial(p, 9, end='!\n'); p2(8); print(p2.args)
print(functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), functools.reduce(lambda a, b: a + b, [], 'init'))
@functools.singledispatch
def sd(x): return 'obj'
@sd.register
def _(x: int): return 'int'
@sd.register(list)
def _(x): return 'list'
print(sd(1), sd([]), sd('s'), sd(True), sd.__name__)
@functools.total_ordering
class V:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == o.v
    def __lt__(s, o): return s.v < o.v
print(V(1) <= V(1), V(2) > V(1), V(1) >= V(2), sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
