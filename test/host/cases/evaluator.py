# case: integers
result = [7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3, 2**10, 2**-1, 1 << 40, -5 >> 1, ~6, 6 & 3, 6 | 3, 6 ^ 3, True + 1, 0x9E3779B97F4A7C15, 2**64 - 1, abs(-3), divmod(-7, 2), pow(3, 4, 5), int("12"), int("-0x1f", 16), int(3.9), int(-3.9), (255).bit_length(), True & False]
# case: integers_of_127_bits
least = -(2**126) * 2
result = [5 % least, -5 % least, 0 % least, least % 5, least % -5, least % least, divmod(7, least), 5 // least, -5 // least]
# case: floats
result = [0.1 + 0.2, 1e16, 1e15, 1e-5, 0.0001, 1.0, -0.0, 1.5e300 * 1e10, 7.5 // 2, -7.5 // 2, -7.5 % 2, 5.0 % -3, 1 / 3, 10 / 5, float("inf"), float("-1e3"), round(2.5), round(3.5), round(2.675, 2), round(1234.5, -2), 1e22, 123456789012345680.0, 5e-324, 3.0 == 3, 2.0**0.5, float("nan") != float("nan")]
# case: strings
s = "Hello, Wörld"
result = [s.upper(), s.lower(), len(s), s[7:], s[::-1], s[-1], s.split(", "), "a,b,,c".split(","), "  x y  ".split(), "a b c d".split(None, 2), "a.b.c".rsplit(".", 1), "-".join(["a", "b"]), s.replace("l", "L", 1), s.find("W"), "abc".startswith(("x", "ab")), "x".zfill(3), "-5".zfill(4), "ab".center(7, "*"), "ab".ljust(4) + "|", "Abc".swapcase() if False else "t", "one two".title(), "xabcx".strip("x"), "a\nb\r\nc".splitlines(), "key=value=1".partition("="), "a-b-c".rpartition("-"), "x" * 3, "b" in "abc", "%d items, %.2f %s %5d|%-5d|%05d %x %%" % (3, 2.5, "z", 7, 7, 7, 255), "%(a)s" % {"a": 1}, "pre_x".removeprefix("pre_"), "x_suf".removesuffix("_suf"), "abcabc".count("bc"), ord("a"), chr(8364), repr("it's"), repr('a"b\'c'), repr("\t\n\\\x01"), "ab".isalpha(), "12".isdigit(), "a1_".isidentifier(), "".isalpha(), "{} {1}".format if False else "{0} {1} {0}".format(1, 2), "{a:>5}|{b!r}".format(a=1, b="x"), "{:.{p}f}".format(3.14159, p=2), "{x[0]}{x[k]}" if False else "ok"]
# case: parts_of_strings
s = "grün über grün"
result = [s.find("grün", 1), s.find("r", 2, 4), s.rfind("grün", 0, -1), s.index("ü", 3), s.count("ü", 4), s.count("", 2, 5), s.count("", 20), s.startswith("über", 5), s.endswith("über", None, 9), s.startswith("", 15), s.find("", 15), s.find("", 14), s.find("g", -4), s.startswith(("x", "grün"), -4), s.rfind("r", 0, 3)]
# case: fstrings
x, w, name = 3.14159, 10, "abc"
result = [f"{x:.2f}", f"{x:{w}.3f}|", f"{name!r:>8}", f"{name:*^9}", f"{1234567:,}", f"{255:#x} {255:08b} {5:+d} {-5: d}", f"{0.5:%} {12345.678:e} {1e10:g} {0.00001:g}", f"{True} {None} {[1, 'a']}", f"{{}}", f"{x=}" if False else "", f"{1 + 1}{'nested'}", f"{1e3}", f"{10:>4}{10:<4}{10:^4}|", f"{3:5}|{'s':5}|", f"{1000000.0:_}", f"{2.0:g}{2.0}"]
# case: lists
a = [1, 2, 3]
b = a
b += [4]
c = a[:]
c.append(5)
c.insert(0, 0)
c.extend((6, 7))
d = [3, 1, 2]
d.sort(reverse=True)
e = [1, 2, 3, 4, 5, 6]
e[1:3] = ["x"]
del e[0]
f = list(range(10))
f[::2] = [0] * 5
del f[1:4]
g = [1, [2, [3]]]
first, *rest, last = range(5)
(p, q), r = (1, 2), 3
result = [a, b is a, c, d, e, f, g, first, rest, last, p, q, r, [*a, *d], a.index(2), a.count(2), a.pop(), a, a.pop(0), sorted(["b", "A", "c"], key=lambda s: s.lower()), list(reversed(a)), [1] * 3, [0] * 0, a == [2, 3], [1, 2] < [1, 3], [1, 2] < [1, 2, 0], (1, "a") == (1, "a"), max([3, 9, 2]), min(4, 2), max("abc", key=ord), sum([1, 2], 10), sum([[1], [2]], []), any([0, 1]), all([]), list(zip("ab", [1, 2, 3])), list(enumerate("ab", 1)), list(map(lambda u, v: u + v, [1, 2], [3, 4])), list(filter(None, [0, 1, 2])), max([], default=None)]
# case: dicts_and_sets
d = {"a": 1, **{"b": 2}, 3: "x", (1, 2): None}
d["c"] = 4
e = dict(d)
e.update(z=1)
e.pop("a")
f = {k: v for k, v in zip("xyz", range(3)) if v}
s = {1, 2} | {3}
t = frozenset([1, 1])
del d[3]
result = [d, e, f, list(d), d.get("q", 7), d.setdefault("n", []), list(d.items()), list(d.values()), "a" in d, 1 in s, len(s), s & {2, 3}, s - {1}, sorted(s ^ {1, 9}), {1, 2} <= {1, 2, 3}, t, d == {**d}, {} == {}, dict([(1, 2)]), dict.fromkeys("ab", 0), {1: 1} | {2: 2}, {True: "t"}[1], set(), {1: 2}.pop(1), s.issubset({1, 2, 3, 4})]
# case: comprehensions
n = 3
m = [[i * j for j in range(n)] for i in range(n)]
result = [m, [x for row in m for x in row if x % 2 == 0], {x: x * x for x in range(4)}, sorted({c for c in "aab"}), sum(i for i in range(5)), tuple(i for i in "ab"), [y := 5, y * 2], [(i, k) for i in range(2) for k in range(i)], any(v > 2 for v in [1, 3]), next(v for v in [4, 5] if v > 4), [last for last in range(3)][-1], n]
# case: functions
def f(a, b=2, *args, c, d=4, **kw):
    return a, b, args, c, d, kw
def outer():
    count = 0
    def inc(by=1):
        nonlocal count
        count += by
        return count
    inc()
    inc(5)
    return count, inc()
total = 0
def bump():
    global total
    total += 1
bump()
def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)
def gen(n):
    for i in range(n):
        yield i
    yield from [10, 20]
def posonly(a, /, b, *, c=3):
    return a + b + c
fns = [lambda x, i=i: x + i for i in range(3)]
late = [lambda: i for i in range(3)]
def mutable(x, acc=[]):
    acc.append(x)
    return acc
mutable(1)
result = [f(1, c=3), f(1, 2, 3, 4, c=5, z=6), f(*[1, 2], **{"c": 1}), outer(), total, fact(20), list(gen(2)), posonly(1, b=2), [g(10) for g in fns], [g() for g in late], mutable(2), (lambda *a, **k: (a, k))(1, x=2), f.__name__, outer()[0]]
# case: classes
class Base:
    kind = "base"
    count = 0
    def __init__(self, x):
        self.x = x
        Base.count += 1
    def who(self):
        return "base " + self.kind
    @property
    def double(self):
        return self.x * 2
    @double.setter
    def double(self, v):
        self.x = v // 2
    @staticmethod
    def st(a):
        return a + 1
    @classmethod
    def make(cls, v):
        return cls(v)
    def __repr__(self):
        return f"{type(self).__name__}({self.x})"
    def __add__(self, other):
        return type(self)(self.x + other.x)
    def __radd__(self, other):
        return other + self.x
    def __eq__(self, other):
        return isinstance(other, Base) and self.x == other.x
    def __lt__(self, other):
        return self.x < other.x
    def __len__(self):
        return self.x
    def __getitem__(self, i):
        return i * self.x
    def __contains__(self, v):
        return v == self.x
    def __call__(self, y):
        return self.x + y
    def __iter__(self):
        return iter(range(self.x))
class Mid(Base):
    kind = "mid"
    def who(self):
        return "mid>" + super().who()
class Other(Base):
    def who(self):
        return "other>" + super().who()
class Leaf(Mid, Other):
    def __init__(self, x, y=0):
        super().__init__(x)
        self.y = y
    def helper(self):
        def inner():
            return super(Leaf, self).who()
        return inner()
a, b = Leaf(3, 4), Base.make(5)
b.double = 20
c = Leaf(1)
c.extra = [1]
c.extra[0] += 1
setattr(c, "z", 9)
result = [a, b, a.who(), b.double, Base.st(1), a.st(2), a + b, 1 + a, a == Leaf(3), a != b, a < b, len(a), a[4], 3 in a, a(1), list(a), isinstance(a, Mid), isinstance(a, (int, Other)), issubclass(Leaf, Base), Leaf.kind, a.helper(), hasattr(a, "y"), hasattr(a, "nope"), getattr(a, "nope", 1), c.extra, c.z, Base.count > 3, type(a) is Leaf, type(a).__name__, bool(Base(0)), callable(a), sorted([Leaf(3), Leaf(1)]), max(Leaf(1), Leaf(2))]
# case: control_flow
out = []
for i in range(5):
    if i == 1:
        continue
    if i == 3:
        break
    out.append(i)
else:
    out.append("no")
for i in []:
    pass
else:
    out.append("else")
while True:
    if len(out) > 5:
        break
    out.append(len(out))
else:
    out.append("never")
try:
    out.append(1 // 0)
except ZeroDivisionError as e:
    out.append(str(e))
else:
    out.append("no")
finally:
    out.append("fin")
def risky(n):
    try:
        if n == 0:
            raise ValueError("bad", n)
        if n == 1:
            return {}["k"]
        return [][n]
    except (KeyError, IndexError) as e:
        return type(e).__name__, str(e)
    except ValueError as e:
        return e.args
    finally:
        out.append(n)
class MyError(RuntimeError):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code
try:
    try:
        raise MyError(7)
    except RuntimeError as e:
        raise KeyError("again") from e
except KeyError as e:
    out.append(e.args)
try:
    raise MyError(8)
except MyError as e:
    out.append((e.code, str(e), repr(e)))
def reraise():
    try:
        raise ValueError("x")
    except ValueError:
        raise
try:
    reraise()
except Exception as e:
    out.append(type(e).__name__)
x = 5
result = [out, risky(0), risky(1), risky(5), 1 < x < 10, 1 < x > 7, x if x > 3 else -x, not x, x and "y", 0 or "z", x is None, x is not None, 3 in [1, 2], 3 not in [1, 2]]
try:
    assert x == 4, f"x is {x}"
except AssertionError as e:
    result.append(str(e))
# case: scoping
x = "global"
class C:
    x = "class"
    def get(self):
        return x
    y = [x for _ in range(1)]
    z = x
def shadow():
    x = "local"
    def inner():
        return x
    x = "changed"
    return inner()
def unbound():
    try:
        return v
        v = 1
    except UnboundLocalError as e:
        return "unbound"
def loop_var():
    for k in range(3):
        pass
    return k
def walrus():
    [last := i for i in range(4)]
    return last
result = [C().get(), C.y, C.z, shadow(), unbound(), loop_var(), walrus()]
# case: math_module
import math
from math import sqrt as root, pi
result = [math.ceil(2.1), math.floor(-2.1), math.sqrt(2), root(16.0), round(pi, 5), math.log2(8), math.log(8, 2) if False else 3, math.exp(1), math.prod([2, 3, 4]), math.gcd(12, 18), math.isqrt(17), math.inf, math.isnan(math.nan), math.factorial(20), math.ceil(7 / 2), math.log10(1000.0), math.tanh(0.5), math.erf(0.3), math.lcm(4, 6), math.copysign(2.0, -1.0)]
# case: functools_itertools
import functools
import itertools
from functools import partial, lru_cache, reduce
calls = []
@lru_cache(maxsize=None)
def slow(n):
    calls.append(n)
    return n * n
@functools.cache
def other(n):
    return n + 1
def deco(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return ("wrapped", fn(*args, **kwargs))
    return wrapper
def parametrised(k):
    def d(fn):
        return lambda *a: fn(*a) + k
    return d
@deco
def named(x):
    return x
@parametrised(100)
@parametrised(10)
def stacked(x):
    return x
result = [slow(3), slow(3), calls, other(1), named(2), named.__name__, stacked(1), partial(max, 3)(1), partial(int, base=2)("101"), reduce(lambda a, b: a * b, [1, 2, 3, 4]), reduce(lambda a, b: a + b, [], 5), list(itertools.product([1, 2], "ab")), list(itertools.chain([1], (2, 3))), list(itertools.product(range(2), repeat=2)), list(itertools.combinations([1, 2, 3], 2)), list(itertools.accumulate([1, 2, 3]))]
# case: dataclasses_enums
from dataclasses import dataclass, field, asdict, replace
from enum import Enum
from typing import NamedTuple, Optional, List
from collections import namedtuple
@dataclass
class P:
    x: int
    y: float = 2.0
    tags: List[str] = field(default_factory=list)
    def norm(self):
        return self.x + self.y
@dataclass(kw_only=False)
class Q(P):
    z: Optional[int] = None
class Color(Enum):
    RED = 1
    GREEN = "g"
class NT(NamedTuple):
    a: int
    b: str = "d"
    def both(self):
        return f"{self.a}{self.b}"
T2 = namedtuple("T2", "u v")
u, v = T2(1, 2)
result = [P(1), P(1) == P(1), P(1, 3.0).norm(), Q(1, z=4), asdict(P(2)), replace(P(1), x=9), Color.RED.name, Color.GREEN.value, Color(1) is Color.RED, Color["GREEN"].name, [c.name for c in Color], NT(1), NT(1)[1], NT(2, "e").both(), u, v, T2(3, v=4), T2(1, 2) == T2(1, 2), str(Color.RED), {Color.RED: 1}[Color.RED]]
# case: context_managers
import contextlib
log = []
class Ctx:
    def __init__(self, n, swallow=False):
        self.n, self.swallow = n, swallow
    def __enter__(self):
        log.append(("in", self.n))
        return self
    def __exit__(self, et, ev, tb):
        log.append(("out", self.n, et is not None))
        return self.swallow
with Ctx(1) as c, Ctx(2):
    log.append(c.n)
with Ctx(3, True):
    raise ValueError("gone")
with contextlib.nullcontext(5) as five:
    log.append(five)
with contextlib.suppress(KeyError):
    {}["a"]
def early():
    with Ctx(4):
        return "ret"
result = [early(), log]
# case: augmented_and_unpacking
a = 5
a += 1; a -= 2; a *= 3; a //= 2; a **= 2; a %= 7; a <<= 3; a |= 1; a &= 0xFF; a ^= 2
d = {"k": [1]}
d["k"] += [2]
d["n"] = d.get("n", 0) + 1
class O: pass
o = O()
o.v = 1
o.v += 4
i, j = 1, 2
i, j = j, i
[p, *q] = "abc"
x = y = []
x.append(1)
for k, (m, n) in {"a": (1, 2)}.items():
    pass
result = [a, d, o.v, i, j, p, q, y, k, m, n, *range(2)]
# case: builtins_misc
result = [isinstance(True, int), isinstance(1, float), isinstance("s", (int, str)), isinstance(None, type(None)), type(1) is int, type([]) == list, str(1.0), str(None), bool("") or bool([0]), list("ab"), tuple([1]), hex(255), bin(5), oct(8), repr([1, "a", None, 2.5, (1,)]), range(3), list(range(5, 0, -2)), range(10)[2:5], len(range(0, 10, 3)), 5 in range(0, 10, 5), slice(1, 2), [1, 2, 3][slice(0, 2)], callable(len), abs(-2.5), hash("a") == hash("a"), format(3.14159, ".2f"), print("x"), id(None) == id(None), ... is Ellipsis, int.__name__, str.join("-", ["a", "b"]), "a" < "b", (1, 2) + (3,), not [], None == 0, 1 == 1.0, 1 == True, "1" == 1]
# case: containers_in_themselves
a = [1]
a.append(a)
d = {}
d["self"] = d
t = ([],)
t[0].append(t)
deep = []
for i in range(100000):
    deep = [deep]
depth = 0
inner = deep
while inner:
    inner = inner[0]
    depth += 1
deep = None
class Link:
    def __init__(self, next):
        self.next = next
link = None
for i in range(50000):
    link = Link(link)
link = None
result = [a, d, t, depth, a is a[1], a == a]
# case: contexts_of_generators
import contextlib
from contextlib import contextmanager
log = []
@contextmanager
def ctx(name, swallow=False):
    log.append("in " + name)
    try:
        yield name.upper()
    except ValueError as e:
        log.append("caught " + str(e))
        if not swallow:
            raise
    finally:
        log.append("out " + name)
def body():
    with ctx("a") as a, ctx("b", True) as b:
        log.append(a + b)
        raise ValueError("x")
    return 5
def ret():
    with ctx("r"):
        return 7
def loop():
    for i in range(5):
        with ctx(str(i)):
            if i == 1: continue
            if i == 2: break
    return i
def outer():
    try:
        with ctx("o"):
            raise ValueError("y")
    except ValueError as e:
        return "outer " + str(e)
@ctx("deco")
def decorated(x):
    log.append("body")
    return x + 1
class C:
    @contextmanager
    def m(self, k):
        self.k = k
        yield self
        self.k = None
c = C()
with c.m(4) as cc:
    inside = cc.k
def none():
    if False: yield
r1 = [body(), ret(), loop(), outer(), decorated(1), inside, c.k]
with contextlib.ExitStack() as st:
    st.callback(log.append, "cb")
    st.enter_context(contextlib.nullcontext())
    log.append("in stack")
result = [r1, log]
# case: generators_are_lazy
log = []
def gen():
    try:
        for i in range(10):
            log.append("g%d" % i)
            yield i
    finally:
        log.append("closed")
first = []
for v in gen():
    first.append(v)
    if v == 2: break
def lazy():
    log.append("started")
    yield 1
it = lazy()
log.append("made")
r2 = [first, list(it), [x for x in gen() if x % 2], sum(gen()), any(x > 3 for x in gen())]
def delegating():
    yield 0
    yield from gen()
    yield from [100]
r2.append(list(delegating()))
class Tree:
    def __init__(self, v, kids=()): self.v, self.kids = v, kids
    def __iter__(self):
        yield self.v
        for k in self.kids: yield from k
r2.append(list(Tree(1, [Tree(2), Tree(3, [Tree(4)])])))
class Base:
    def hi(self): return "base"
class D(Base):
    def hi(self):
        out = []
        for v in gen():
            out.append(super().hi() + str(v))
            if v == 1: break
        return out
r2.append(D().hi())
def raising():
    try:
        yield 1
    except KeyError:
        log.append("must not see it")
try:
    for v in raising(): raise KeyError("k")
except KeyError as e: r2.append(repr(e))
result = [r2, log]
# case: locks_and_containers
import threading
from collections import Counter, OrderedDict, defaultdict, deque
lock = threading.Lock()
with lock: r3 = [lock.locked()]
r3.append(lock.locked())
rl = threading.RLock()
with rl:
    with rl: r3.append("twice")
d = defaultdict(list)
d["a"].append(1); d["a"].append(2); d["b"]
r4 = [dict(d), len(d), "z" in d, d.get("z"), isinstance(d, dict), sorted(d), {**d}, dict(**d), list(d.items()), d == {"a": [1, 2], "b": []}, d.pop("a")]
dd = defaultdict(lambda: defaultdict(int)); dd[1][2] += 5
r4.append(dd[1][2])
q = deque([1, 2, 3], maxlen=3); q.append(4); q.appendleft(0)
r5 = [list(q), len(q), q[0], q.pop(), q.popleft(), list(q), 2 in q, repr(deque([1]))]
q.extend([7, 8]); q.rotate(1); r5.append(list(q))
od = OrderedDict([("x", 1), ("y", 2)]); od.move_to_end("x"); r5 += [list(od), od.popitem(), isinstance(od, dict), dict(od)]
cn = Counter("abca"); r5 += [cn["a"], cn["zz"], cn.most_common(1), sorted(cn.elements())]
result = [r3, r4, r5]
# case: user_dict
from collections import UserDict
class Upper(UserDict):
    def __setitem__(self, key, item): self.data[key.upper()] = item
    def __missing__(self, key): return "no " + key
u = Upper({"a": 1}, b=2)
u.update(c=3); u.setdefault("d", 4)
r5 = [sorted(u.keys()), sorted(u.values()), sorted(u.items()), u["z"], "A" in u, "a" in u, len(u), u.pop("B"), UserDict(x=1).pop("q", None), u == {"A": 1, "C": 3, "D": 4}, u.copy() == u, repr(UserDict(x=1)), isinstance(u, dict)]
u.clear()
result = r5 + [len(u), list(u), u == UserDict()]
# case: enums_of_numbers_and_texts
import enum
class Color(enum.IntEnum):
    RED = 1
    GREEN = 2
    ALSO = 1
class S(str, enum.Enum):
    A = "a"
    B = "b"
class T(enum.StrEnum):
    X = enum.auto()
    Y = "why"
class P(enum.Enum):
    M = (1, 2.5)
    N = (2, 3.5)
    def __init__(self, a, b):
        self.a, self.b = a, b
r6 = [Color.RED + 1, Color.GREEN > Color.RED, Color.RED == 1, [10, 20, 30][Color.GREEN], int(Color.GREEN), isinstance(Color.RED, int), Color(2) is Color.GREEN, Color["RED"].name, str(Color.RED), f"{Color.RED}", repr(Color.RED), len(Color), list(Color), {1: "one"}[Color.RED], Color.ALSO is Color.RED, range(Color.GREEN), Color.RED | 4, -Color.RED, bool(Color.RED), max(Color.RED, Color.GREEN) == 2]
r6 += [S.A == "a", str(S.A), S.A.value, S("b") is S.B, {"a": 3}[S.A], S.A in ("a", "c"), S.A + "x", S.A.upper(), T.X == "x", str(T.X), f"{T.Y}|{T.X:>3}", repr(T.X), P.M.a, P.N.b, P((1, 2.5)) is P.M, S.B in S]
result = r6
# case: derived_from_builtin_types
from collections import namedtuple
class MyDict(dict):
    def __setitem__(self, k, v): super().__setitem__(k, v * 2)
    def __getitem__(self, k): return super().__getitem__(k) + 1
m = MyDict(a=1); m["b"] = 3
r7 = [m["a"], m["b"], dict(m), m.get("b"), len(m), list(m.items()), "a" in m, m]
class MyList(list):
    def total(self): return sum(self)
l = MyList([1, 2]); l.append(3); l += [4]
r7 += [l.total(), l[1:], len(l), l == [1, 2, 3, 4], [0] + l, type(l).__name__, isinstance(l, list), l]
class MyInt(int):
    def double(self): return self * 2
r7 += [MyInt(4).double(), MyInt("5") + 1, 10 // MyInt(3)]
class MyTuple(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
r7 += [MyTuple(1, 2), MyTuple(1, 2)[1], MyTuple(3) == (3,)]
class Singleton:
    _i = None
    def __new__(cls, *a):
        if cls._i is None: cls._i = super().__new__(cls)
        return cls._i
    def __init__(self, v): self.v = v
r7 += [Singleton(1) is Singleton(2), Singleton(3).v]
Pt = namedtuple("Pt", "x y", defaults=[9])
p = Pt(1)
r8 = [p, p == (1, 9), isinstance(p, tuple), p + (3,), p._replace(x=5), tuple(p), len(p), p[-1], {p: 1}[(1, 9)], [*p], p < (2, 0), p._asdict()]
result = [r7, r8]
# case: copies
import copy
a = [1, [2, {"k": (3, [4])}]]
b = copy.deepcopy(a); b[1][1]["k"][1].append(5)
class Node:
    def __init__(self, v): self.v, self.me = v, self
n = Node([1]); n2 = copy.deepcopy(n); n2.v.append(2); n3 = copy.copy(n)
r9 = [a, b, n.v, n2.v, n2.me is n2, n3.v is n.v]
result = r9
# case: attributes_that_are_made
class G:
    def __getattr__(self, name):
        if name.startswith("x"): return name
        raise AttributeError(name)
    @property
    def bad(self): raise AttributeError("no")
g = G()
r10 = [hasattr(g, "xa"), hasattr(g, "ya"), getattr(g, "ya", 3), hasattr(g, "bad"), g.xyz]
g.__dict__["direct"] = 5
g.__dict__.update(other=6)
vars(g)["third"] = 7
r10 += [g.direct, g.other, g.third, sorted(vars(g)), "direct" in g.__dict__]
globals()["made_up"] = 11
r10 += [made_up, __import__("math").sqrt(4.0), __import__("os.path", fromlist=["join"]).join("a", "b")]
result = r10
# case: iterators_of_classes
class Count:
    def __init__(self, n): self.n, self.i = n, 0
    def __iter__(self): return self
    def __next__(self):
        if self.i >= self.n: raise StopIteration
        self.i += 1
        return self.i
k = Count(4)
r11 = [next(k), list(k), next(k, "end"), list(Count(2)), [v for v in Count(3)], sum(Count(3))]
class Seq:
    def __len__(self): return 3
    def __getitem__(self, i):
        if i >= 3: raise IndexError
        return i * 10
r11 += [list(Seq()), 20 in Seq(), [x for x in Seq()]]
result = r11
# case: abstract_classes_of_containers
import collections.abc as abc
from collections.abc import MutableMapping
class Table(MutableMapping):
    def __init__(self, **entries): self.entries = dict(entries)
    def __getitem__(self, key): return self.entries[key]
    def __setitem__(self, key, value): self.entries[key] = value
    def __delitem__(self, key): del self.entries[key]
    def __iter__(self): return iter(self.entries)
    def __len__(self): return len(self.entries)
class Bag:
    def __iter__(self): return iter([1])
    def __len__(self): return 1
table = Table(a=1, b=2)
table.update(c=3)
result = [table.get("a"), table.get("z", 9), "b" in table, sorted(table.keys()), table.pop("b"), table.pop("q", None), dict(table), table.setdefault("d", 4), len(table), isinstance(table, abc.Mapping), table == {"a": 1, "c": 3, "d": 4}]
values = [{}, [], (), "a", 3, {1}, range(2), len, Bag(), (i for i in []), lambda: 1, frozenset()]
result += [[isinstance(v, c) for v in values] for c in (abc.Mapping, abc.MutableMapping, abc.Sequence, abc.MutableSequence, abc.MutableSet, abc.Iterable, abc.Iterator, abc.Sized, abc.Collection, abc.Callable, abc.Hashable)]
# case: regular_expressions
import re
version = re.compile(r"^(?P<major>\d+)\.(\d+)(?:\.(\d+))?(?P<rest>[a-z]+\d*)?$", re.IGNORECASE)
m = version.match("3.12RC1")
result = [m.group(0), m.groups(), m.groupdict(), m["major"], m.span(2), m.start("rest"), m.end(), m.lastindex, m.lastgroup, m.group(1, 2), version.match("3.x") is None, version.groups, version.groupindex["rest"], version.pattern]
result += [re.sub(r"(\w+) (\w+)", r"\2 \g<1>", "hello world"), re.sub("x*", "-", "abxd"), re.subn("a", lambda m: m.group().upper(), "banana", count=2), re.sub(r"\.|/", "_", "a.b/c"), re.escape("a.b*c d"), re.split(r"[,;]\s*", "a, b;c"), re.split(r"(-)", "1-2-3"), re.split(r"x*", "axbc"), re.findall(r"\d+", "1 22 333"), re.findall(r"(\w)(\d)?", "a1b"), [m.span() for m in re.finditer("a|", "ab")]]
result += [bool(re.search(r"_(\d+)[bB]$", "llama_70B")), re.fullmatch("[a-z]+", "abc1"), re.match(r"(a+)+$", "a" * 12 + "b"), re.search(r"(?<=\$)\d+(?!\d|%)", "5% $20 $7%").group(), re.match(r"(?i:A)b", "aB"), re.findall("^.*$", "a\nb", re.M), re.match("a.b", "a\nb", re.S).group(), re.match(r"(?x) a  b # text", "ab").group(), re.search("ü+", "grün").span(), re.sub(r"(?P<n>\d)", r"<\g<n>>", "a1")]
for bad in ("(", "*a", "[b", "a**", r"\q", "(?P<1>a)", r"(?<=a+)b", "a{3,1}", r"\1"):
    try:
        re.compile(bad)
        result.append(bad)
    except re.error as e:
        result.append("error")
# case: dataclass_options
import dataclasses
from dataclasses import dataclass, field, fields, InitVar, KW_ONLY, MISSING
from typing import ClassVar, Dict, Optional, get_args, get_origin

@dataclass(frozen=True, order=True)
class Base:
    a: int
    b: "list[int] | None" = None
    c: ClassVar[int] = 3
    d: Dict[str, int] = field(default_factory=dict, compare=False)

@dataclass(frozen=True, order=True)
class Derived(Base):
    e: Optional[float] = field(default=2.0, compare=False, repr=False, metadata={"k": 1})
    f: int = field(init=False, default=5)
    _: KW_ONLY
    g: int = 7

@dataclass
class Scaled:
    x: int
    factor: InitVar[int] = 2
    inner: list = field(default_factory=list)

    def __post_init__(self, factor):
        self.x *= factor

@dataclass(eq=False)
class Node:
    v: int

def failure(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__ + ": " + str(e)

def set_a(x):
    x.a = 1

d = Derived(1)
n = Node(1)
Made = dataclasses.make_dataclass("Made", [("p", int), ("q", int, 3)], frozen=True)
result = [[(q.name, q.default is MISSING, q.kw_only, q.init, q.repr, q.compare) for q in fields(Derived)], [q.name for q in fields(d)], dict(fields(Derived)[3].metadata), repr(d), Derived(1) < Derived(2), Derived(1, e=3.0) == d, Derived(2, g=1) > Derived(1, g=9), Derived(1) != Base(1), failure(lambda: set_a(d)), dataclasses.asdict(Derived(1, [2])), dataclasses.astuple(d), dataclasses.replace(d, a=4), failure(lambda: dataclasses.replace(d, f=4)), Scaled(3).x, Scaled(3, factor=5).x, dataclasses.asdict(Scaled(1, inner=[Scaled(2)])), n == Node(1), n == n, {n: 1}[n], Made(1), failure(lambda: Made()), failure(lambda: Derived(1, None, {}, 2.0, 3)), failure(lambda: Derived(a=1, z=2)), A_c := Base.c, hasattr(Base, "d"), hasattr(Derived, "e"), Derived.e, Base.__dataclass_params__.frozen, Derived.__match_args__, fields(Base)[1].type, get_origin(fields(Derived)[3].type) is not None, [t.__name__ for t in get_args(fields(Base)[2].type)], dataclasses.is_dataclass(Made), dataclasses.is_dataclass(3)]
# case: types_as_values
import collections.abc, inspect, types, typing
from typing import *

T = TypeVar("T", bound=int)

class Box(Generic[T]):
    x: int = 1
    y: "Box"

class Options(TypedDict, total=False):
    k: int

class Named(NamedTuple):
    a: int
    b: List[int] = []

def f(x: int, *args: str, y: "str" = "a", **kw) -> list[int]: ...

def failure(g):
    try:
        return g()
    except TypeError:
        return "TypeError"

s = inspect.signature(f)
result = [isinstance(3, int | str), isinstance(None, Optional[int]), isinstance("x", Union[int, float]), issubclass(bool, int | str), get_origin(list[int]) is list, get_origin(List[int]) is list, get_origin(Dict) is dict, get_origin(int) is None, get_origin(int | None) in (Union, types.UnionType), get_args(Optional[int]) == (int, type(None)), Optional[int] == Union[None, int], Union[int, Union[str, int]] == Union[int, str], Union[int] is int, get_origin(Literal["a"]) is Literal, get_args(Literal["a", 1, None]), get_args(Annotated[int, 5]), Annotated[int, 5].__metadata__, get_args(Callable[[int], str]), get_origin(Callable[[int], str]) is collections.abc.Callable, get_args(tuple[int, ...]), failure(lambda: isinstance(3, list[int])), isinstance([1], List), isinstance([1], Sequence), {Union[int, str]: 1}[Union[str, int]], {List[int]: 2}[List[int]], {Any: 1, Union: 2}[Union], list[int]([3]), dict[str, int](a=1), Box[int]().x, Box.__annotations__["x"] is int, Box.__annotations__["y"], Options(k=1), Named(1), s.parameters["x"].annotation is int, s.parameters["y"].annotation, s.parameters["args"].annotation is str, s.parameters["kw"].annotation is inspect.Parameter.empty, get_origin(s.return_annotation) is list, f.__annotations__["x"] is int, get_type_hints(Box)["x"] is int, T.__name__, T.__bound__ is int, str(list[int]), repr(Dict[str, int]), cast(int, "x"), typing.Any is Any, inspect.get_annotations(Box)["x"] is int]
# case: attribute_protocols
class Mapped:
    names = {"old": "new"}

    def __init__(self):
        self.new = 1

    def __getattribute__(self, name):
        if name != "names" and name in super().__getattribute__("names"):
            name = super().__getattribute__("names")[name]
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        super().__setattr__(type(self).names.get(name, name), value)

class Fallback(Mapped):
    def __getattr__(self, name):
        return "missing " + name

class Typed:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return owner.__name__ if instance is None else getattr(instance, self.name, 0)

    def __set__(self, instance, value):
        setattr(instance, self.name, value * 2)

class Lazy:
    def __get__(self, instance, owner):
        return 5

class classproperty(property):
    def __get__(self, owner_self, owner_cls):
        return self.fget(owner_cls)

class Loud(property):
    pass

class Holder:
    size = Typed()
    lazy = Lazy()

    @classproperty
    def label(cls):
        return cls.__name__.lower()

    @Loud
    def loud(self):
        return "loud"

    @loud.setter
    def loud(self, value):
        self.size = value

class Root:
    told = 0

    def __init_subclass__(cls, level=0, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.seen = True
        cls.level = level
        Root.told += 1

class Leaf(Root):
    pass

class Side(Root, level=2):
    pass

class Both(Leaf, Side, level=1 + 2):
    pass

m, g, h = Mapped(), Fallback(), Holder()
m.old = 7
h.size = 4
before = h.lazy
h.lazy = 6
h.loud = 9
plain = Leaf()
Leaf.__setattr__(plain, "z", 3)
object.__setattr__(plain, "w", 4)
result = [Root.told, Leaf.level, Side.level, Both.level, m.old, m.new, vars(m), hasattr(m, "nothing"), getattr(m, "nothing", 3), g.old, g.other, h.size, Holder.size, before, h.lazy, Holder.lazy, h.label, Holder.label, h.loud, Leaf.seen, plain.z, plain.w, plain.__eq__(plain), plain.__class__.__name__, callable(Leaf.__init__), isinstance(Holder.__dict__["loud"], property)]
# case: itertools_functools_json
import functools, itertools, json

@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n

@functools.singledispatch
def kind(x):
    return "any"

@kind.register
def _(x: int):
    return "int"

@kind.register(list)
def _(x):
    return "list"

p = functools.partial(max, 3)
result = [list(itertools.repeat("a", 3)), list(itertools.islice(range(10), 2, 8, 3)), list(itertools.islice([1, 2, 3], 2)), list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(itertools.dropwhile(lambda x: x < 3, [1, 2, 3, 1])), list(itertools.filterfalse(None, [0, 1, ""])), list(itertools.compress("abc", [1, 0, 1])), list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.pairwise([1, 2, 3])), list(itertools.zip_longest("ab", "c", fillvalue="-")), [(k, list(v)) for k, v in itertools.groupby([1, 1, 2, 1])], list(itertools.permutations("abc", 2)), list(itertools.combinations_with_replacement([1, 2], 2)), [list(x) for x in itertools.tee([1, 2])], list(itertools.chain([1], (2,))), list(itertools.chain.from_iterable([[1], [2, 3]])), list(itertools.accumulate([1, 2, 3], initial=10)), isinstance(p, functools.partial), p(2), Version(1) <= Version(1), Version(2) > Version(1), kind(1), kind([]), kind("x"), sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)), json.dumps({"b": [1, 2.5, None, True], "a": {"é\n\"": "x", 3: ()}}), json.dumps({"b": [1, []], "a": {}}, indent=2, sort_keys=True), json.dumps([1e20, float("inf"), -0.0]), json.dumps("é😀", ensure_ascii=False), json.dumps("é😀"), json.dumps([1, {"a": 2}], separators=(",", ":")), json.dumps({1: {2}}, default=list)]
# case: dict_views
import collections
import copy
from collections.abc import ItemsView, KeysView, Mapping, Set, ValuesView

def failure(f):
    try:
        return f()
    except Exception as error:
        return type(error).__name__, str(error)

d = {"a": 1, "b": 2}
keys, values, items = d.keys(), d.values(), d.items()
before = [list(keys), list(values), list(items), len(keys), bool(items)]
d["c"] = 3
e = {"b": 20, "z": 2}

def grows():
    g = {1: 1}
    for k in g:
        g[k + 1] = 1

def shrinks():
    g = {1: 1, 2: 2}
    for k, v in g.items():
        del g[k]

def replaces():
    g = {1: 1, 2: 2, 3: 3}
    seen = []
    for k, v in g.items():
        seen.append((k, v))
        g[3] = 30
    return seen

def set_grows():
    s = {1}
    for x in s:
        s.add(x + 1)

def drops_one():
    g = {1: 1, 2: 2}
    for k in g:
        del g[k]
        break
    return g

class Mine(Mapping):
    def __getitem__(self, key):
        return {"p": 1, "q": 2}[key]
    def __iter__(self):
        return iter(["p", "q"])
    def __len__(self):
        return 2

class Shown:
    def __repr__(self):
        return "shown"

m = Mine()
ring = {"x": 1}
ring["v"] = 2
od = collections.OrderedDict(a=1, b=2)
result = [before, list(keys), list(values), list(items), repr(keys), repr(values), repr(items), repr({"s": Shown()}.values()), sorted(keys | e.values(), key=str), sorted(keys & e), sorted(keys - e.keys()), sorted(keys ^ e.keys()), sorted(["a", "q"] & keys), sorted(["a", "q"] - keys), sorted({"a", "q"} | keys), sorted(items & [("a", 1), ("b", 3)]), failure(lambda: values | keys == 0), failure(lambda: values | values), failure(lambda: keys[0]), failure(lambda: keys + keys), failure(lambda: {keys: 1}), failure(lambda: hash(items)), type(hash(values)) is int, keys == {"a", "b", "c"}, keys == ["a", "b", "c"], keys == {"c": 0, "b": 0, "a": 0}.keys(), keys <= {"a", "b", "c", "d"}, keys < keys, keys >= e.keys(), items == {("a", 1), ("b", 2), ("c", 3)}, values == d.values(), values == values, [keys == d.keys(), keys != d.keys()], "a" in keys, ("a", 1) in items, ("a", 2) in items, "a" in items, 3 in values, 4 in values, failure(lambda: [] in keys), keys.isdisjoint(e), keys.isdisjoint(["q"]), list(reversed(keys)), list(reversed(values)), list(reversed(items)), isinstance(keys, KeysView), isinstance(keys, Set), isinstance(items, Set), isinstance(values, Set), isinstance(values, ValuesView), isinstance(items, ItemsView), isinstance(keys, list), isinstance({1}, Set), isinstance([1], Set), type(keys) is type(e.keys()), type(keys).__name__, failure(lambda: type(keys)()), failure(lambda: copy.deepcopy(keys)), failure(grows), failure(shrinks), replaces(), failure(set_grows), drops_one(), list(keys), [*values], {**d}, dict(items), max(values), sum(values), ",".join(keys), sorted(d.items(), key=lambda p: -p[1]), [k for k in keys if k > "a"], list(zip(keys, values)), list(enumerate(items)), all(k in keys for k in d), list(map(len, keys)), next(iter(values)), [list(m.keys()), list(m.values()), list(m.items()), sorted(m.keys() | {"r"}), ("p", 1) in m.items(), "q" in m.keys(), 2 in m.values(), isinstance(m.keys(), KeysView), m.keys() == {"p", "q"}, m == {"p": 1, "q": 2}, len(m.items())], list(od.keys()), od.keys() & ["a"], failure(lambda: values.isdisjoint([])), (lambda a, b, c: (a, b, c))(*keys), {}.keys() == set(), not {}.values(), keys.__len__(), keys.__contains__("a")]
# case: named_tuples_by_call
from typing import NamedTuple, TypedDict

Point = NamedTuple("Point", [("x", int), ("y", float)])

class Pixel(NamedTuple("Base", [("row", int), ("column", int)])):
    def place(self):
        return self.row * 10 + self.column

Options = TypedDict("Options", {"size": int})
p = Point(1, y=2.5)
x, y = p
result = [p, p.x, p[1], x, y, p == (1, 2.5), Point._fields, p._replace(x=5), p._asdict(), Pixel(3, 4).place(), Pixel(row=1, column=2), isinstance(p, tuple), len(p), Options(size=3), type(p).__name__, Point.__annotations__["y"] is float, NamedTuple("Empty", [])()]
# case: metaclasses
import abc
import enum
from enum import Enum

def failure(f):
    try:
        return f()
    except Exception as error:
        return type(error).__name__, str(error)

made = []

class Registering(type):
    registry = {}
    def __new__(mcs, name, bases, namespace, **kwargs):
        made.append((name, [b.__name__ for b in bases], sorted(k for k in namespace if not k.startswith("__")), kwargs))
        namespace["added"] = name.lower()
        cls = super().__new__(mcs, name, bases, namespace)
        mcs.registry[name] = cls
        return cls
    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace)
        cls.options = kwargs
    def __len__(cls):
        return len(cls.registry)
    def __getitem__(cls, key):
        return cls.registry[key]
    def __iter__(cls):
        return iter(sorted(cls.registry))
    def __contains__(cls, name):
        return name in cls.registry
    def __getattr__(cls, name):
        if name.startswith("made_"):
            return name[5:]
        raise AttributeError(name)
    def __repr__(cls):
        return "<registered " + cls.__name__ + ">"
    def __or__(cls, other):
        return (cls.__name__, other)
    @property
    def title(cls):
        return cls.__name__.title()
    def create(cls, *args):
        return cls(*args)

class base(metaclass=Registering):
    def __init__(self, n=0):
        self.n = n
    def name(self):
        return "base"

class derived(base, level=3):
    def name(self):
        return "derived of " + super().name() + " " + __class__.__name__

class Singleton(type):
    _instances = {}
    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]

class Only(metaclass=Singleton):
    def __init__(self, n):
        self.n = n

class Frozen(type):
    def __setattr__(cls, name, value):
        if name == "locked":
            raise AttributeError("cannot set " + name)
        super().__setattr__(name, value)
    def __instancecheck__(cls, instance):
        return instance == 5 or super().__instancecheck__(instance)
    def __subclasscheck__(cls, other):
        return other is int or super().__subclasscheck__(other)

class Locked(metaclass=Frozen):
    locked = 1

class Other(Locked):
    pass

def upper(name, bases, namespace):
    return type(name.upper(), bases, {k.upper(): v for k, v in namespace.items() if not k.startswith("__")})

class shout(metaclass=upper):
    word = "hi"

class Prepared(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return {"given": 7}

class Uses(metaclass=Prepared):
    twice = given * 2

Dynamic = type("Dynamic", (base,), {"size": 4, "name": lambda self: "dynamic " + str(self.size)})
Plain = type("Plain", (), {"x": 1})

class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

class ShapeMeta(abc.ABCMeta):
    def describe(cls):
        return "shape " + cls.__name__

class Square(Shape, metaclass=ShapeMeta):
    def area(self):
        return 4

@Shape.register
class Foreign:
    pass

class Lookup(enum.EnumMeta):
    def __getitem__(cls, name):
        return super().__getitem__(name.upper())
    def __contains__(cls, name):
        return name in cls.__members__

class Color(Enum, metaclass=Lookup):
    RED = 1
    BLUE = 2

class Hook:
    seen = []
    def __init_subclass__(cls, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.seen.append((cls.__name__, tag))

class Hooked(Hook, tag="t"): pass

class Sub:
    def __class_getitem__(cls, key):
        return (cls.__name__, key)

class Made:
    def __new__(cls, n):
        self = super().__new__(cls)
        self.n = n
        return self

class MadeAgain(Made):
    def __new__(cls, n):
        return super().__new__(cls, n + 1)

def conflicting():
    class Both(base, Only): pass

def with_keyword():
    class Wrong(Plain, extra=1): pass

Other.free = 3
result = [f"{int} {type(3)} {base}", "{}".format(str), format(int, ""), made, derived.added, derived.options, len(base), base["derived"], list(derived), "base" in base, failure(lambda: derived.made_up), failure(lambda: derived.missing), base, str(base), base | 3, derived.title, derived.create(4).n, derived().name(), isinstance(derived, Registering), isinstance(derived, type), isinstance(3, Registering), type(derived) is Registering, type(Registering) is type, derived.__class__ is Registering, Only(1) is Only(2), Only(9).n, failure(lambda: setattr(Locked, "locked", 2)), Other.free, Locked.locked, isinstance(5, Locked), isinstance(6, Locked), isinstance(Other(), Locked), issubclass(int, Locked), issubclass(Other, Locked), issubclass(str, Locked), shout.WORD, shout.__name__, Uses.twice, Uses.given, Dynamic(2).name(), Dynamic.added, type(Dynamic) is Registering, Plain.x, Plain.__name__, type(Plain) is type, Plain().x, Square().area(), Square.describe(), isinstance(Square(), Shape), isinstance(Foreign(), Shape), issubclass(Foreign, Shape), Color["red"], "RED" in Color, "red" in Color, [c.name for c in Color], Color(2), len(Color), type(Color) is Lookup, Hook.seen, Sub["k"], MadeAgain(1).n, failure(conflicting)[0], failure(with_keyword)[0], failure(lambda: type("X", 3, {}))[0], hasattr(derived(), "title"), hasattr(derived(), "create"), bool(base), type(type(derived)).__name__, isinstance(base(), base)]
# case: keys_that_say_their_hash
class Point:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return isinstance(other, Point) and self.x == other.x
    def __hash__(self):
        return hash(("point", self.x))
class Near(Point):
    pass
class Alone(Point):
    def __eq__(self, other):
        return NotImplemented
    __hash__ = Point.__hash__
class Unhashable:
    def __eq__(self, other):
        return True
d = {Point(1): "a", (Point(2), 3): "b"}
d[Point(1)] = "c"
def refused(value):
    try:
        return {value: 1}
    except TypeError as error:
        return str(error)
import functools
@functools.lru_cache
def cached(point, calls=[]):
    calls.append(point.x)
    return list(calls)
result = [d[Point(1)], d.get((Point(2), 3)), d.get(Point(5)), len({Point(1), Point(1), Near(1)}), Point(3) in {Point(3)}, len({Alone(1), Alone(1)}), d.pop(Near(1)), len(d), refused(Unhashable()), cached(Point(1)), cached(Point(1)), len(set([Point(1)]) | {Point(1), Point(2)})]
# case: methods_of_values
result = [(255).bit_count(), (-7).bit_count(), True.bit_count(), (5).conjugate(), (3).as_integer_ratio(), range(3, 30, 4).index(11), range(9, 0, -3).index(3), range(3, 30, 4).count(12), range(5).count(4), slice(None, None, -1).indices(5), slice(-3, 100, 2).indices(7), slice(5, -9, -2).indices(4), "abcabc".translate(str.maketrans("ab", "xy")), "abc".translate(str.maketrans("a", "z", "c")), "abc".translate({97: "--", 98: None, 99: 100}), pow(3, 10**12, 7), pow(2, 2**62, -5), pow(-3, 5, 7), pow(7, 0, 1), pow(3, -1, 7), pow(-3, -2, 11), pow(5, -3, -8), pow(2, -1, 1)]
def of(call):
    try:
        return call()
    except ValueError as error:
        return str(error)
result += [of(lambda: range(3).index(7)), of(lambda: slice(0).indices(-1)), of(lambda: pow(2, 3, 0)), of(lambda: pow(4, -1, 8)), of(lambda: str.maketrans({"ab": 1})), of(lambda: str.maketrans("a", "bc"))]
# case: rounding_and_near
import math, itertools
def raised(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__
result = [round(-128, -1), round(15, -1), round(25, -1), round(-25, -1), round(149, -2), round(7, -1), round(-5, -1), round(10**20 + 5, -1), round(3, -40), round(True, -1), round(5, 2), math.isclose(float("-inf"), 3.25), math.isclose(float("inf"), float("inf")), divmod(1e22, float("-inf")), divmod(-3.5, float("inf")), 7.5 // -2, -0.0 // 3, 5 % float("-inf"), math.log(8, 2), raised(lambda: math.log(2, -3)), raised(lambda: math.log(2, 1)), raised(lambda: "{:c}".format(-3)) in ("OverflowError", "ValueError"), raised(lambda: list(itertools.islice([1, 2], -1, None))), "a\tbc\td".expandtabs(4), "\tx".expandtabs(), "abc".isascii(), "\u00e4".isascii()]
# case: dicts_of_dataclasses
from dataclasses import asdict, dataclass, field
@dataclass
class Inner:
    a: int = 1
@dataclass
class Outer:
    items: dict = field(default_factory=lambda: {"x": Inner(2), "y": [Inner(), (Inner(3), {"z": Inner(4)})]})
result = [asdict(Outer()), asdict(Outer({}))]
# case: what_generators_return
def returns(n):
    for i in range(n):
        got = yield i
        if got == "stop":
            return "stopped"
    return "end"

def delegates():
    first = yield from returns(2)
    second = yield from [7]
    third = yield from returns(0)
    return (first, second, third)

def outer():
    found = yield from delegates()
    yield found

steps = returns(1)
next(steps)
try:
    next(steps)
except StopIteration as e:
    value = e.value
sent = returns(3)
next(sent)
try:
    sent.send("stop")
except StopIteration as e:
    stopped = e.value
plain = (x for x in ())
try:
    next(plain)
except StopIteration as e:
    nothing = e.value
pair = lambda: ((yield 5), (yield 6))
numbers = pair()
given = [next(numbers), next(numbers)]
try:
    next(numbers)
except StopIteration as e:
    given.append(e.value)
ended = returns(1)
once = list(ended)
try:
    next(ended)
except StopIteration as e:
    once.append(e.value)

def asks_twice(from_one):
    first = yield from from_one
    second = yield from from_one
    yield (first, second)

result = [list(outer()), value, stopped, nothing, given, once, list(asks_twice(returns(1)))]
# case: classes_of_functions_and_modules
import math

def plain():
    pass

result = [plain.__class__.__name__, plain.__class__ is type(plain), math.__class__.__name__, (lambda: 1).__class__ is plain.__class__]
# case: attributes_of_numbers_ranges_and_slices
r, s = range(2, 20, 3), slice(1, None)
result = [(5).real, (5).imag, (5).numerator, (5).denominator, True.real, (2.5).real, (2.5).imag, (r.start, r.stop, r.step), (s.start, s.stop, s.step), type(True.numerator).__name__, hasattr(1, "real"), frozenset([1]).isdisjoint([2, 3]), {1}.isdisjoint({1})]
# case: cases_of_letters
result = ["Hello, Wörld 12".swapcase(), "".swapcase(), "Ab Cd".istitle(), "Ab cd".istitle(), "ABc".istitle(), "12".istitle(), "A1b".istitle(), "A1B".istitle(), "a b".isprintable(), "a\tb".isprintable(), "".isprintable()]
# case: elements_popped_from_a_set
s = {7}
first = s.pop()
try:
    s.pop()
except KeyError as e:
    error = str(e)
many, seen = set(range(10)), []
while many:
    seen.append(many.pop())
result = [first, s, error, sorted(seen), hasattr(frozenset(), "pop")]
# case: more_of_math
import math

def raised(function, *arguments):
    try:
        return function(*arguments)
    except Exception as e:
        return f"{type(e).__name__}: {e}"

result = [*[round(v, 12) for v in (math.asinh(0.5), math.acosh(2.0), math.atanh(0.5), math.erfc(0.25), math.cbrt(-27.0))], math.perm(5, 2), math.perm(5), math.perm(2, 3), raised(math.perm, 3, -1), raised(math.perm, -3, 1), math.remainder(7.5, 2), math.modf(-2.75), math.nextafter(1.0, 2.0), math.ulp(1.0), math.ulp(0.0), math.dist([1, 2], [4, 6]), raised(math.dist, [1], [1, 2])]
result += [raised(math.exp, 1000), raised(math.exp, -1000), raised(math.cosh, 800), raised(math.sinh, -800), raised(math.expm1, 800), raised(math.log2, 0), raised(math.log10, -1), raised(math.log1p, -1), raised(math.sqrt, -1), raised(math.acosh, 0.5), raised(math.atanh, 1), raised(math.asin, 2), raised(math.gamma, 172), raised(math.gamma, -1), raised(math.lgamma, 0), raised(math.pow, 10.0, 400), raised(math.pow, 0, -1), raised(math.pow, -8, 1 / 3), raised(math.fmod, 1, 0), raised(math.fmod, math.inf, 2), raised(math.remainder, 1, 0), math.exp(math.inf), math.exp(-math.inf), math.pow(math.inf, 2), math.sqrt(math.inf), math.fmod(3, math.inf), math.lgamma(math.inf)]
# case: functions_of_operators
import operator
import functools

class Box:
    def __init__(self, v):
        self.v = v
        self.inner = self

    def plus(self, n, times=1):
        return self.v + n * times

    def __index__(self):
        return 3

items, table = [3, 1, 2], {"a": 1}
operator.setitem(items, 0, 9)
operator.delitem(table, "a")
grown = operator.iadd([1], [2])
result = [operator.and_(6, 3), operator.or_(6, 3), operator.xor(6, 3), operator.lshift(1, 4), operator.rshift(16, 2), operator.pow(2, 5), operator.neg(3), operator.pos(-3), operator.invert(5), operator.inv(5), operator.abs(-2.5), operator.not_([]), operator.truth([0]), operator.is_(None, None), operator.is_not(1, None), operator.index(True), operator.index(Box(1)), operator.concat([1], [2]), operator.contains("abc", "b"), operator.getitem([4, 5], 1), items, table, grown, operator.countOf([1, 2, 1], 1), operator.indexOf([5, 6], 6), operator.isub(5, 3), operator.imul(2, 4), operator.ior(1, 2), operator.call(max, 1, 2), operator.itemgetter(1)([7, 8]), operator.itemgetter(1, 0)([7, 8]), operator.attrgetter("v")(Box(2)), operator.attrgetter("inner.inner.v", "v")(Box(2)), operator.methodcaller("plus", 2, times=3)(Box(1)), functools.reduce(operator.or_, [1, 2, 4]), sorted([(1, "b"), (0, "c")], key=operator.itemgetter(1)), operator.matmul.__name__]
for wrong in (lambda: operator.index(1.5), lambda: operator.indexOf([1], 2), lambda: operator.attrgetter(1), lambda: operator.methodcaller(1), lambda: operator.lshift(1, "a")):
    try:
        wrong()
    except Exception as e:
        result.append(f"{type(e).__name__}: {e}")
