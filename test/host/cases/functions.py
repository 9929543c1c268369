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
