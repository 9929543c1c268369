# SPDX-License-Identifier: Apache-2.0
import string
s = 'Hello World'
print(s.swapcase(), s.casefold(), s.center(15, '*'), s.partition(' '), s.rpartition('o'), s.removeprefix('He'), s.removesuffix('ld'), s.zfill(15), s.expandtabs(), s.isidentifier(), 'a1'.isalnum(), '12'.isdecimal(), '½'.isnumeric(), 'ab'.islower(), s.istitle(), 'x=1;y=2'.split(';'), '  a b  c '.split(), 'a,b,,c'.split(',', 2), 'a b c'.rsplit(' ', 1), 'a\nb\r\nc'.splitlines(), 'a\nb'.splitlines(True), '-'.join('abc'), 'abc'.translate(str.maketrans('ab', 'xy')), 'abcabc'.replace('b', 'X', 1), 'abc'.find('z'), 'abcb'.rfind('b'), 'abc'.count(''), 'aXbX'.strip('X'), 'xxabxx'.lstrip('x'), s.title(), 'they\'re'.title(), s.encode(), 'ß'.upper(), 'é' == '\u00e9', 'a' < 'b', 'abc'[::-1], 'ab' * 3, 'b' in 'abc', s.index('o'), ord('a'), chr(8364), ascii('é'), repr('a\'b"c\n\t\\\x00é'), 'A'.isupper(), ''.isspace(), ' '.isspace(), 'abc'.startswith(('x', 'a')), 'abc'.endswith('c', 0, 3), string.ascii_lowercase, string.digits, string.punctuation, string.Template('$a ${b}').substitute(a=1, b=2), string.capwords('a b'))

# ---
l = [5, 3, 8]; l.append(1); l.extend([2, 2]); l.insert(1, 9); print(l, l.pop(), l.pop(0), l.index(8), l.count(2), l.remove(3), l); l.reverse(); print(l, l.copy() == l, l + [1], l * 2, [1, 2] < [1, 3], [] == [], 3 in l, l.clear(), l)
for bad in (lambda: [].pop(), lambda: [1].index(2), lambda: [1].remove(5), lambda: [1][3], lambda: {}['k'], lambda: int('x'), lambda: 1 / 0, lambda: 'a' + 1, lambda: [1] + (2,), lambda: len(5), lambda: None.x, lambda: undefined_name, lambda: {[]: 1}, lambda: next(iter([])), lambda: float('q'), lambda: (1, 2)[5], lambda: 'abc'['a'], lambda: 5(), lambda: sorted([1, 'a']), lambda: max([]), lambda: sum(['a']), lambda: int([]), lambda: range(1.5), lambda: chr(-1), lambda: 1 < 'a', lambda: [][0:1:0], lambda: iter(5), lambda: divmod(1, 0), lambda: 2 % 0, lambda: 1.0 // 0, lambda: 0 ** -1, lambda: zip([1], [1, 2], strict=True).__next__ and list(zip([1], [1, 2], strict=True)), lambda: ''.join([1]), lambda: 'x'.foo, lambda: isinstance(1, 5), lambda: abs('a'), lambda: -'a', lambda: ord('ab'), lambda: hash([]), lambda: 'abc'.index('z'), lambda: {}.popitem(), lambda: set().pop(), lambda: {1}.remove(2), lambda: round('a'), lambda: 1 << -1, lambda: bytes([300]), lambda: '%d' % 'a', lambda: '%s %s' % 1, lambda: '{} {}'.format(1), lambda: '{a}'.format(), lambda: f'{1:q}', lambda: tuple(5), lambda: list(None), lambda: enumerate(5), lambda: map(5), lambda: open('/nonexistent/x'), lambda: 5):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)

# ---
d = {'a': 1, 'b': 2}; d['c'] = 3; print(d.pop('a'), d.get('z', 9), d.setdefault('q', []), d.items(), list(d.keys()), d.values(), d | {'n': 1}, {**d}, d.popitem(), 'b' in d, len(d), dict(zip('ab', [1, 2])), dict.fromkeys('ab', 0), {k: v for k, v in d.items()}, d == {'c': 3, 'b': 2}, sorted(d), list(reversed(d)), d.copy() is d, d.update(x=5), d, d.keys() & {'b'}, sorted(d.items() - {('b', 2)}), next(iter(d)))
del d['x']
for k, v in d.items(): print(k, v)
try:
    for k in d: d['new' + k] = 1
except RuntimeError as e: print(e)
s = {3, 1, 2}; s.add(5); s.discard(9); print(sorted(s), sorted(s | {9}), s & {1, 9}, sorted(s - {1}), sorted(s ^ {1, 7}), s <= {1, 2, 3, 5, 6}, s.isdisjoint({9}), s.issuperset({1}), frozenset([1, 2]) == {1, 2}, len(s), {1, 2}.union([3], [4]), sorted({1, 2}.symmetric_difference([2, 3])), {1}.intersection([1, 2]), set('aab') == {'a', 'b'}); s.update([7, 8]); s.difference_update([7]); s.intersection_update([1, 8, 3]); print(sorted(s)); s |= {4}; s -= {1}; print(sorted(s), type(frozenset()) , hash(frozenset([1])) == hash(frozenset([1])))

# ---
import math
print(math.floor(-1.5), math.ceil(1.2), math.trunc(-1.7), math.sqrt(2), math.gcd(12, 18, 6), math.lcm(4, 6), math.factorial(10), math.comb(5, 2), math.perm(5, 2), math.isclose(0.1 + 0.2, 0.3), math.hypot(3, 4), math.log(8, 2), math.log2(8), math.log10(1000), math.log1p(1e-10), math.exp(1), math.expm1(1e-10), math.sin(1), math.atan2(1, -1), math.degrees(math.pi), math.radians(180), math.copysign(1, -0.0), math.fmod(-7, 3), math.modf(2.5), math.frexp(8.0), math.ldexp(0.5, 4), math.isnan(math.nan), math.isinf(math.inf), math.isfinite(1), math.prod([1, 2, 3]), math.dist([0, 0], [3, 4]), math.fsum([.1] * 10), math.pow(2, 3), math.erf(0.5), math.gamma(5), math.lgamma(10), math.tau, math.isqrt(17), math.cbrt(27), math.remainder(7, 3), math.sumprod([1, 2], [3, 4]), math.nextafter(1, 2), math.ulp(1.0), math.tanh(.5), math.asinh(1), math.exp2(3), math.erfc(.5))
for f in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.factorial(-1), lambda: math.exp(1000), lambda: math.floor(math.inf), lambda: math.acos(2)):
    try: f()
    except Exception as e: print(type(e).__name__, e)

# ---
class Vec:
    def __init__(s, *a): s.a = a
    def __add__(s, o): return Vec(*[x + y for x, y in zip(s.a, o.a)])
    def __radd__(s, o): return s if o == 0 else NotImplemented
    def __mul__(s, k): return Vec(*[x * k for x in s.a])
    __rmul__ = __mul__
    def __neg__(s): return s * -1
    def __eq__(s, o): return isinstance(o, Vec) and s.a == o.a
    def __hash__(s): return hash(s.a)
    def __repr__(s): return f'Vec{s.a}'
    def __getitem__(s, i): return s.a[i]
    def __len__(s): return len(s.a)
    def __bool__(s): return any(s.a)
    def __call__(s, x): return s * x
    def __contains__(s, x): return x in s.a
    def __iter__(s): return iter(s.a)
    def __matmul__(s, o): return sum(x * y for x, y in zip(s.a, o.a))
    def __abs__(s): return sum(x * x for x in s.a) ** .5
    def __format__(s, spec): return '<' + ','.join(format(x, spec) for x in s.a) + '>'
    def __getattr__(s, n):
        if n == 'x': return s.a[0]
        raise AttributeError(n)
    def __index__(s): return 2
    def __float__(s): return 1.5
    def __int__(s): return 7
    def __round__(s, n=None): return ('r', n)
    def __floor__(s): return 'fl'
    def __divmod__(s, o): return 'dm'
    def __lt__(s, o): return s.a < o.a
    def __reversed__(s): return reversed(s.a)
    def __pow__(s, o, m=None): return ('pow', o, m)
    def __rsub__(s, o): return ('rsub', o)
    def __iadd__(s, o): s.a = s.a + o.a; return s
    def __invert__(s): return 'inv'
    def __truediv__(s, o): return 'td'
    def __dir__(s): return ['q']
    def __sizeof__(s): return 1
v = Vec(1, 2); w = Vec(3, 4)
print(v + w, 2 * v, v * 2, -v, v == Vec(1, 2), {v: 1}[Vec(1, 2)], v[0], v[-1], v[0:1], len(v), bool(Vec(0)), v(3), 2 in v, list(v), v @ w, abs(w), f'{v:.1f}', v.x, [0, 1, 5][v], float(v), int(v), round(v, 2), round(v), divmod(v, 1), sorted([w, v]), list(reversed(v)), v ** 2, pow(v, 2, 3), 5 - v, ~v, v / 2, sum([v, w]), hasattr(v, 'zz'), getattr(v, 'zz', 'dflt'), str(v), max(v, w), a if (a := v) else 0, [*v], dict(zip('ab', v)), hash(v) == hash(Vec(1, 2)), range(10)[v], hex(v), dir(v))
v += w; print(v, v != w, v is not w, not v)
import math; print(math.floor(v), math.sqrt(v))
try: v.nope
except AttributeError as e: print(e)
try: v - 1
except TypeError as e: print(e)
try: v < 5
except Exception as e: print(type(e).__name__)

# ---
class A:
    def __init__(self): self._x = 1
    @property
    def x(self):
        "doc x"
        return self._x
    @x.setter
    def x(self, v): self._x = v
    @x.deleter
    def x(self): print('deleted'); del self._x
    @staticmethod
    def s(a): return a
    @classmethod
    def c(cls): return cls.__name__
    def __del__(self): print('gone')
a = A(); a.x = 5; print(a.x, A.s(1), a.s(2), A.c(), a.c(), A.x.__doc__, A.x.fget(a)); del a.x
try: a.x
except AttributeError as e: print(e)
del a
class B(A):
    @property
    def x(self): return 'B' + str(super().x)
    @x.setter
    def x(self, v): A.x.fset(self, v * 2)
b = B(); b.x = 2; print(b.x, B.__mro__, B.__bases__, issubclass(B, A), isinstance(b, A), type(b) is B, b.__class__.__name__, B.__subclasses__(), A.__subclasses__())
class Meta(type):
    def __getattr__(cls, n): return n.upper()
class Q(metaclass=Meta): y = 1
print(Q.foo, Q.y)
class D1:
    def f(self): return ['D1']
class D2(D1):
    def f(self): return ['D2'] + super().f()
class D3(D1):
    def f(self): return ['D3'] + super().f()
class D4(D2, D3):
    def f(self): return ['D4'] + super(D4, self).f()
print(D4().f(), [c.__name__ for c in D4.mro()])
try:
    class Bad(D1, D2): pass
except TypeError as e: print(str(e)[:60])
X = type('X', (D1,), {'z': 3, 'm': lambda self: self.z}); print(X().m(), X.__name__, X().f())
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def name(self): ...
try: Shape()
except TypeError as e: print(e)
class Sq(Shape):
    def area(self): return 4
    name = 'sq'
print(Sq().area(), Sq().name)

# ---
import weakref, gc
class N: pass
n = N(); r = weakref.ref(n, lambda ref: print('dead', ref() is None)); print(r() is n); del n; print(r())
wd = weakref.WeakValueDictionary(); k = N(); wd['a'] = k; print(len(wd), wd['a'] is k); del k; gc.collect(); print(len(wd), 'a' in wd)
wk = weakref.WeakKeyDictionary(); k = N(); wk[k] = 5; print(wk[k], len(wk)); del k; gc.collect(); print(len(wk))
ws = weakref.WeakSet(); k = N(); ws.add(k); print(k in ws); del k; gc.collect(); print(len(ws))
p = N(); p.v = 3; px = weakref.proxy(p); print(px.v); del p
try: px.v
except ReferenceError as e: print(e)
a = N(); b = N(); a.b = b; b.a = a; ra = weakref.ref(a); del a, b; gc.collect(); print(ra())
f = N(); weakref.finalize(f, print, 'finalized', 1); del f; print('end')
class M:
    def go(self): return 'went'
m = M(); wm = weakref.WeakMethod(m.go); print(wm()()); del m; print(wm())
