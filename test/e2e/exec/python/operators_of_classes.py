# SPDX-License-Identifier: Apache-2.0
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
