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
