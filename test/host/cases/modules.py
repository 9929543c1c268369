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
# case: copies
import copy
a = [1, [2, {"k": (3, [4])}]]
b = copy.deepcopy(a); b[1][1]["k"][1].append(5)
class Node:
    def __init__(self, v): self.v, self.me = v, self
n = Node([1]); n2 = copy.deepcopy(n); n2.v.append(2); n3 = copy.copy(n)
r9 = [a, b, n.v, n2.v, n2.me is n2, n3.v is n.v]
result = r9
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
