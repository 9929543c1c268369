# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0
"""Every statement, expression and pattern of Python 3.11, mostly in the forms a library seldom uses."""
import a, b.c, d.e.f as g
from . import h
from .... import i as j, k
from ...l.m import (n, o as p,)
from q import *
global_ = 1; second = 2;
x: int
(x): int = 3
a.b: "str" = None if x else 1,
x.y[z]: (yield)
x = y = *a, b = c
(x), [y, *z], w.v[0] = *q, 1
x += 1; x -= 1; x *= 1; x /= 1; x //= 1; x %= 1; x @= 1; x **= 1; x >>= 1; x <<= 1; x &= 1; x ^= 1; x |= yield
del x, (y), [z, w], (a.b, c[0]),
del (a), (b,), ()
assert x, "message"
assert (x, y)
raise
raise E
raise E from None
pass
if x: y; z;
while not x: break
else: continue
for x, in y, *z: pass
for (x) in y: pass
for x[0], *y.z in w: pass
else: pass
with (a, b): pass
with (a as b, c as (d, e),): pass
with (a): pass
with (a) as b: pass
with (a, b) as c: pass
with (yield): pass
with (a for a in b): pass
with (a := b): pass
with (): pass
with (a).b as c, (d): pass
with (a)(b): pass
with (*a, b): pass
with a, b as c: pass
with open(x) as [y, *z]: pass
async def f():
    await x; await x ** 2
    async with a as b, c: pass
    async with (a as b, c): pass
    async for x in y: pass
    else: pass
    return [x async for x in y if await z], -await w, await(x)
try: pass
except: pass
try:
    pass
except A: pass
except (A, B) as e: pass
else: pass
finally: pass
try: pass
finally: pass
try: pass
except* A as e: pass
except* (B, C): pass
def f(a, b=1, /, c=2, *args: *Ts, d, e=3, **kwargs: K) -> R: "doc"
def f(*, a, b=1, c): global x, y
def f(a, /): nonlocal z
def f(a, b: int = 3, *c: int): return
def f(a=1, /, b=2): return *a, b
def f(a, *, b,): yield
def f(**a,): yield x, *y
def f(
    a,
    # comment
    b = 1,
): yield from x
@a.b(c)[d]
@(x if y else z)
@(w := v)
class C(A, B, *bases, metaclass=M, **kw): pass
class C(): x = lambda: (yield)
class C: pass
lambda: 0
lambda a, b=1, /, c=2, *d, e, f=3, **g: a if b else lambda: c
lambda *, a: a
lambda *a: (a,)
lambda **a: [a]
a or b and not c or d
a < b <= c == d != e > f >= g is h is not i in j not in k
a | b ^ c & d << e >> f + g - h * i / j // k % l @ m
-a ** -b ** +c ** ~d
not not -+~a
(a + b) * (c - d)
a if b else c if d else e
(a := 1, b := 2)
f(a := 1, b=(c := 2))
x[a := 1, b:=2]
x[1:2, ::, ::3, :2:, 1:, :, ...]
x[a,], x[*a], x[*a, b], x[*a, *b]
x[a:b, *c]
[a, *b, c := 1,]; []; [[]]; {*a, b}; {a: b, **c, d: e,}; {}; (); (a,); (((a)))
{(c := a): b for a in d}
[x for x, in y for *z, w in v if a if b or c]
{x for x in y}; {**a}; {a: b for a, b in c}
(x for x in y if z)
f(x for x in y), f((x for x in y), z)
f(*a, b, *c, d=1, *e, **g, h=2, **i,)
f(a)(b)[c].d(e=f)
...; ....__class__
1 .real; 1..real; 1.0.real; 1j.imag; 0xF .real
1if 1else 2
[1for x in y]
0; 00_0; 1_000; 0xFF_ff; 0b_1010; 0o_17; 0X1; 0B1; 0O7; 9223372036854775807; 9223372036854775808
123456789012345678901234567890; 0xFFFFFFFFFFFFFFFFFFFFFFFF; 0o7777777777777777777777777; 0x0000000000000000000000001
1.; .5; 1e5; 1E-5; 1.5e+10; 1_0.0_1e1_0; 1e400; 1e-400; 4.9e-324; 0.0; 1e16; 1e15; 123456789012345678.0; 1e-4; 1e-5
00.5; 09.5; 09e1; 07j; 1j; 1.5J; 1e400j; 0j; 1e22; 5e-324; 2.2250738585072014e-308; 0.1; 1e999999999999
"a" 'b' """c""" r'\d' u'e'
u'a' 'b'; U'a'; R'\n' "\n"
b'a' B"b" Rb'\x' bR"""\y""" b'\x41\101\7\777'
'\a\b\f\n\r\t\v\\\'\"\0\x00\101\400\u00e9\U0001F600\ud800\q\
continued'
"""a
b\
c"""
'"'; "'"; '\'"'; 'é\xad\u200b\u3000😀'
f''; f'a'; f'{a}'; f'{a!r}{b!s:}{c!a:>{w}.{p}}{d:x}'; f'{{}}{{{a}}}'; rf'\{a}\n'; f'\{a}\n'
f'{a=}{b = }{c=!s}{d=:>5}{e = !r:x}' 'tail' f"{f'{x}'}" "\x41"
f"{a if b else c}{lambda_}{(lambda x: 1)}{ {'a': 1}['a'] }{x[1:2]}{a != b}{yield_}{a, b}{*c, d}"
f"""{
    a
}
{b:
}"""
u'a' f'{b}' 'c'
match = case = _ = type = 1
match(x); match[x]; match.x; match * x, y; match - x
match (x, y).z
match, case = 1, 2
match: int = 1
match[x]: int = 2
type (x); type[x]; type = 3; type.x: int
match x:
    case 1 | -1 | 1.5 | -1j | 1 + 2j | -1.5 - 2j | "a" 'b' | b'c': pass
    case None | True | False: pass
    case a.b | a.b.c: pass
    case x if (y := x) > 1: pass
    case _: pass
match x, *y:
    case a, *b, _: pass
    case *_,: pass
    case (a, *_) as b, [c | (d)]: pass
    case () | [] | (a,) | [a, ] | ((a)): pass
    case {}: pass
    case {"a": 1, -1: x, a.b: y, None: z, True: w, 'a' "b": _, 1 + 1j: q, **rest}: pass
    case {**rest, }: pass
    case A() | a.B(1, x, y=2, z=C(w=_),) as v: pass
match -x:
    case 1: pass
match (x):
    case 1: pass
match [x]:
    case 1: pass
match {x: y}:
    case 1: pass
match not x:
    case 1: pass
match x := y:
    case 1: pass
match match:
    case case: pass
match *a, b:
    case 1:
        pass
if x:
	tab
	if y:
	    tabs_and_spaces
if x:
  \
    continued_indentation
  y
x = 1 + \
  2
if a:
    pass
    # a comment
  # an odd comment
elif b: pass
elif c:
    pass
else:
    if d: pass
    else: pass
é = ñ.ü; 变量 = 1
print(*a, sep="")
x = (  # comment
    1,

    2
)
async_ = await_ = 1
