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
# case: classes_of_functions_and_modules
import math

def plain():
    pass

result = [plain.__class__.__name__, plain.__class__ is type(plain), math.__class__.__name__, (lambda: 1).__class__ is plain.__class__]
