# SPDX-License-Identifier: Apache-2.0
def mk():
    def f(k): return f(k-1) if k else 'end'
    return f
print(mk()(3))
print(mk().__closure__ is not None, mk().__code__.co_freevars)

# ---
def outer():
    x = 1; y = 2
    def inner(): return x
    return inner
f = outer()
print(len(f.__closure__), f.__closure__[0].cell_contents, f.__code__.co_freevars, outer.__closure__, outer.__code__.co_cellvars)

# ---
def swap():
    x = 1
    def a(): return x
    def b():
        nonlocal x
        del x
    return a, b
a, b = swap(); print(a()); b()
try: a()
except NameError as ex: print(type(ex).__name__, ex)

# ---
def dd():
    x = 'outer'
    class K:
        try: y = x
        except NameError as e: y = str(e)
        x = 'cls'
    return K
print(dd().y)

# ---
def dd():
    x = 'outer'
    class K:
        y = x
        z = [i for i in range(2)]
    return K
print(dd().y, dd().z)

# ---
x = 'g'
class K:
    x = x + '!'
    def m(self): return x
print(K.x, K().m())

# ---
for i in iter([1,2,1].pop, 2): print(i)

# ---
n = 0
def nxt():
    global n
    n += 1
    return n
print(list(iter(nxt, 4)))
it = iter(nxt, 10)
print(next(it), next(it), type(it).__name__)

# ---
def g():
    try:
        x = yield 1
        print('got', x)
        yield 2
    except ValueError as e:
        print('caught', e)
        yield 'after'
    finally:
        print('fin')
it = g(); print(next(it)); print(it.send('hi')); print(it.throw(ValueError('boom')))
try: next(it)
except StopIteration: print('stop')
it = g(); next(it); it.close(); print('closed')
it = g(); next(it)
try: it.throw(KeyError('k'))
except KeyError as e: print('out', e)

# ---
def g():
    try: yield 1
    except GeneratorExit: print('exit'); raise
it = g(); next(it); del it; print('end')

# ---
def sub():
    r = yield 'a'
    print('sub got', r)
    return 'res'
def main():
    v = yield from sub()
    print('v', v)
    yield 'z'
it = main(); print(next(it)); print(it.send(5)); print(list(it))

# ---
def sub():
    try: yield 1
    except ValueError: print('in sub'); yield 2
def main(): yield from sub()
it = main(); next(it); print(it.throw(ValueError))

# ---
g = (x*x for x in range(3)); print(next(g), g.send(None), list(g)); print(g.gi_frame is None)

# ---
class C:
    "doc of C"
    def m(self):
        "doc of m"
print(C.__doc__, C.m.__doc__, C().m.__doc__, C.__name__, C.__qualname__, C.m.__qualname__, C().m.__name__)

# ---
class C:
    def m(self): return 1
c = C(); print(c.m == c.m, hash(c.m) == hash(c.m), c.m.__self__ is c, c.m.__func__ is C.m)
d = {c.m: 1}; print(d[c.m])

# ---
class D:
    def __get__(self, o, t=None): return (o is None, t.__name__, self.name)
    def __set_name__(self, owner, name): self.name = name + '@' + owner.__name__
class A: f = D()
print(A.f, A().f)

# ---
class Pos:
    def __set_name__(self, o, n): self.n = '_' + n
    def __get__(self, o, t=None): return self if o is None else getattr(o, self.n)
    def __set__(self, o, v):
        if v < 0: raise ValueError(f'{self.n} must be >= 0')
        setattr(o, self.n, v)
    def __delete__(self, o): print('del', self.n); delattr(o, self.n)
class A:
    x = Pos(); y = Pos()
    def __init__(self): self.x, self.y = 1, 2
a = A(); a.x = 5; print(a.x, a.y, vars(a)); del a.x; print(vars(a))
try: a.y = -1
except ValueError as e: print(e)

# ---
class M(type):
    def __new__(m, name, bases, ns, **kw):
        c = super().__new__(m, name, bases, ns); c.kw = kw; return c
    def __init__(c, name, bases, ns, **kw): super().__init__(name, bases, ns); c.inited = True
    def __call__(c, *a): o = super().__call__(*a); o.made = True; return o
    @property
    def prop(c): return c.__name__ + '.prop'
    def __iter__(c): return iter([1, 2])
    def __contains__(c, x): return x == 3
class A(metaclass=M, k=1): pass
print(A.kw, A.inited, A().made, A.prop, list(A), 3 in A, type(A), isinstance(A, M))

# ---
class Base:
    reg = []
    def __init_subclass__(cls, /, tag=None, **kw): super().__init_subclass__(**kw); cls.reg.append((cls.__name__, tag))
class X(Base, tag='x'): pass
class Y(X): pass
print(Base.reg)

# ---
class S:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1
s = S(); s.b = 2; print(s.a, s.b)
try: s.c = 3
except AttributeError as e: print(e)
print(hasattr(s, '__dict__'))
del s.a
try: s.a
except AttributeError as e: print('gone', e)

# ---
class S:
    __slots__ = 'only'
class T(S): pass
t = T(); t.x = 1; t.only = 2; print(t.x, t.only, S.__slots__)

# ---
def f(x):
    match x:
        case 0: return 'zero'
        case int(n) if n > 100: return f'big {n}'
        case 1 | 2 | 3: return 'small'
        case -1: return 'neg'
        case 'a' | 'b' as s: return 's' + s
        case [a]: return f'one {a}'
        case [a, b]: return f'two {a} {b}'
        case [a, *rest]: return f'many {a} {rest}'
        case {'k': v, **kw}: return f'map {v} {kw}'
        case None: return 'none'
        case True: return 'true'
        case float(): return 'float'
        case _: return 'other'
for v in (0, 150, 2, -1, 'a', 'b', 'c', [1], [1, 2], (1, 2, 3), {'k': 1, 'z': 2}, {}, None, True, 2.5, {1}, []): print(v, f(v))

# ---
class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
def f(p):
    match p:
        case P(0, 0): return 'origin'
        case P(x=0, y=yy): return f'y {yy}'
        case P(xx, yy) if xx == yy: return 'diag'
        case P(): return 'P'
        case (P(x=a), P(x=b)): return (a, b)
for p in (P(0, 0), P(0, 3), P(2, 2), P(1, 2), (P(1, 2), P(3, 4)), 5): print(f(p))

# ---
from dataclasses import dataclass
@dataclass
class Pt: x: int; y: int
import enum
class Color(enum.Enum): RED = 1; GREEN = 2
def f(v):
    match v:
        case Pt(x, y): return x + y
        case Color.RED: return 'red'
        case {'type': 'circle', 'r': r}: return r
        case {'a': [1, {'b': c}]}: return c
        case str() | bytes(): return 'text'
        case [Pt(1, _), *_]: return 'first one'
        case [[a, b], [c, d]]: return a + d
for v in (Pt(1, 2), Color.RED, Color.GREEN, {'type': 'circle', 'r': 4}, {'a': [1, {'b': 9}]}, 'q', [Pt(1, 5), 3], [[1, 2], [3, 4]]): print(f(v))

# ---
match [1, 2, 3, 4, 5]:
    case [first, *mid, last]: print(first, mid, last)
match {'x': 1}:
    case {'y': _}: print('y')
    case {}: print('empty matches')

# ---
try:
    match 5:
        case x: pass
    print(x)
    match 'ab':
        case [a, b]: print('no')
        case str(z): print(z)
except NameError as e: print(e)

# ---
if (n := len('abc')) > 2: print(n)
print([y for x in range(5) if (y := x * 2) > 3], y)
while (line := ['a', 'b', ''].pop()) : print(line)
print((lambda: (z := 5) + z)())

# ---
a, *b, c = range(5); print(a, b, c)
*a, = 'xyz'; print(a)
(a, b), [c, *d] = (1, 2), [3, 4, 5]; print(a, b, c, d)
print([*range(3), *'ab'], {**{'a': 1}, 'b': 2}, (*[1], 2), {*[1, 2], 3})
def f(a, b=2, /, c=3, *args, d, e=5, **kw): return a, b, c, args, d, e, kw
print(f(1, d=4), f(1, 2, 3, 4, 5, d=6, z=7), f(*[1, 2], **{'d': 3}))
for i, (a, *b) in enumerate([(1, 2, 3), 'xy']): print(i, a, b)
x = y = [1]; x += [2]; print(y)

# ---
x = 3.14159; n = 42; s = 'hi'
print(f'{x:>10.3f}|{x:<10.2e}|{x:^+12.4g}|{n:08b}|{n:#x}|{n:,}|{1234567.891:,.2f}|{s:*^10}|{s!r:>8}|{n:+d}|{-n: d}|{0.25:%}|{x:{10}.{2}f}|{n=}|{x = :.2f}')
w = 12; p = 3
print(f"{'nested':{'>'}{w}} {x:{w}.{p}} {'a' 'b'} {{}} {n!s:5}| {[1,2]!r:>10} {n:c} {n:o} {n:_} {10**9:_d} {255:X} {x:n}")
print('%5.2f|%-8s|%08d|%x|%r|%s|%%|%+d|%e|%g|%c|%5s|%.3s' % (x, 'ab', 42, 255, 'q', None, 5, 12345.678, 0.0001, 'z', 'abc', 'abcdef'))
print('%(a)s %(b)05.1f' % {'a': 1, 'b': 2.25}, '%s' % (1,), '%s %s' % ('a', [1]), '%*d' % (5, 3), '%.*f' % (2, x))
print('{} {1} {0}'.format(1, 2) if 0 else '{0} {1} {0} {a} {b.real} {c[k]} {d[0]:>4}'.format(1, 2, a=3, b=4, c={'k': 5}, d=[6]))
print('{:>{w}}|{!r}|{:.{p}f}'.format('a', 'b', 1.23456, w=5, p=2), format(5, '03'), format('x', '>3'), format(1e10), format(1e-5, 'f'))
print(f'{1e300*10:f} {float("nan"):5} {True:d} {True} {True:5} {None!s:>6} {1.0} {1e16} {1e15} {1e22} {123456789012345678} {0.1+0.2} {5e-324} {1/3:.20f}')

# ---
for spec in ('', 'd', 'f', '.0f', '.1f', 'e', 'g', '.3g', '%', 'n', '10', '<10', '^10', '>10', '=+10', '010', ' ', '+', ',', '_', '#.3g', '#x'):
    for v in (0, 7, -7, 3.5, -0.0, 1e10, 123456.789, True):
        try: print(spec, v, '[' + format(v, spec) + ']')
        except ValueError as e: print(spec, v, 'VE', e)

# ---
l = list(range(10)); l[2:5] = ['a']; print(l); l[::3] = 'wxyz'[:len(l[::3])]; print(l); del l[1:3]; print(l); l[len(l):] = [99]; print(l); l[-1:] = []; print(l); del l[::2]; print(l)
l[:0] = [7, 8]; print(l, l[-3:], l[::-1], l[5:1:-2], l[slice(1, None)])
try: l[::2] = [1]
except ValueError as e: print(e)

# ---
try:
    raise ExceptionGroup('eg', [ValueError('a'), TypeError('b'), ExceptionGroup('in', [KeyError('k'), ValueError('c')])])
except* ValueError as e: print('V', e, e.exceptions)
except* TypeError as e: print('T', e.exceptions)
except* KeyError as e: print('K', e.exceptions)

# ---
eg = ExceptionGroup('m', [ValueError(1), KeyError(2)])
print(repr(eg), eg.message, len(eg.exceptions), eg.split(ValueError), eg.subgroup(KeyError), isinstance(eg, Exception))
try:
    try: raise eg
    except* ValueError: print('v')
except ExceptionGroup as rest: print('rest', rest.exceptions)
try: raise ValueError('plain')
except* ValueError as e: print(type(e).__name__, e.exceptions)

# ---
try:
    try: 1/0
    except ZeroDivisionError as e: raise ValueError('v') from e
except ValueError as e: print(repr(e.__cause__), repr(e.__context__), e.__suppress_context__)
try:
    try: 1/0
    finally: print('f')
except ZeroDivisionError as e: print(e.args, str(e), repr(e))
e = ValueError('x'); e.add_note('n1'); print(e.__notes__, e.args); print(e.with_traceback(None) is e)
def f():
    try: return 1
    finally: print('cleanup')
print(f())
def g():
    for i in range(3):
        try: continue
        finally: print(i)
g()
class MyErr(Exception):
    def __init__(self, a, b): super().__init__(a, b); self.b = b
    def __str__(self): return f'<{self.b}>'
try: raise MyErr(1, 2)
except (KeyError, MyErr) as e: print(e, e.args, repr(e), e.b)
else: print('no')
try: pass
except: pass
else: print('else')
finally: print('fin')

# ---
class R:
    def __init__(self, n): self.n = n
    def __enter__(self): print('in', self.n); return self
    def __exit__(self, t, v, tb): print('out', self.n, t and t.__name__); return self.n == 2
with R(1) as a, R(2) as b: raise ValueError
with (R(3) as c, R(4)): print('body')

# ---
from contextlib import contextmanager, ExitStack, suppress, redirect_stdout, closing, nullcontext
import io
@contextmanager
def cm(n):
    print('enter', n)
    try: yield n
    except KeyError: print('swallow')
    finally: print('exit', n)
with cm(1) as v: print(v)
with cm(2): raise KeyError
with ExitStack() as st:
    st.enter_context(cm(3)); st.enter_context(cm(4)); st.callback(print, 'cb', sep='-'); 
    @st.callback
    def _(): print('deco cb')
    print('body')
buf = io.StringIO()
with redirect_stdout(buf): print('hidden')
print(repr(buf.getvalue()))
with suppress(ZeroDivisionError, KeyError): 1/0
@cm(9)
def deco(): print('in deco')
deco()
c = cm(5); print(c.__enter__()); c.__exit__(None, None, None)
with nullcontext(7) as q: print(q)

# ---
class A:
    def __eq__(s, o): return NotImplemented
    def __lt__(s, o): return True
print(A() == A(), A() < A(), sorted([3, 1, 2], reverse=True), sorted('bca'), sorted([(1, 'b'), (1, 'a'), (0, 'z')], key=lambda t: t[0]), sorted({'b': 1, 'a': 2}), max([1, 5, 3], key=lambda v: -v), min('abc', default=0), max([], default='d'))
l = [3, 1, 2]; l.sort(key=lambda v: -v); print(l); l.sort(); print(l, sorted(l, key=str, reverse=True))
print(sorted([('a', 2), ('b', 1), ('c', 2)], key=lambda t: t[1], reverse=True))

# ---
print((5).bit_length(), (255).to_bytes(2, 'big'), int.from_bytes(b'\x01\x02', 'little'), (10).bit_count(), (-7) // 2, -7 % 3, divmod(-7, 3), 7 .__add__(1), (3).conjugate(), (3).real, (6).as_integer_ratio(), 2**-1, 10**20, int('ff', 16), int('0b11', 0), int(' 42 '), int(-3.9), round(2.5), round(-2.567, 2), abs(-3), pow(2, 10, 1000), hex(255), oct(8), bin(-5))
print((0.5).as_integer_ratio(), (2.0).is_integer(), (1.5).hex(), float.fromhex('0x1.8p+0'), float('inf'), -float('inf'), float('1e-3'), (3.7).__floor__(), (3.2).__ceil__(), 7.5 // 2, -7.5 % 2, 1e308 * 10, round(1234.5678, -2), float.max if 0 else 1.0.__class__)
