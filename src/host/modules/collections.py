# SPDX-License-Identifier: Apache-2.0
from collections.abc import MutableMapping as _MutableMapping
from collections.abc import MutableSequence as _MutableSequence


class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        value = self[key]
        if last:
            del self[key]
            self[key] = value
            return
        rest = [(k, v) for k, v in self.items() if k != key]
        self.clear()
        self.update([(key, value)] + rest)

    def popitem(self, last=True):
        if not len(self):
            raise KeyError("dictionary is empty")
        key = next(reversed(self) if last else iter(self))
        return key, self.pop(key)

    def copy(self):
        return type(self)(self)

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return list(self.items()) == list(other.items())
        return dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def keys(self):
        return dict.__ordered_view__(self, 0)

    def values(self):
        return dict.__ordered_view__(self, 1)

    def items(self):
        return dict.__ordered_view__(self, 2)

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        new = type(self)(self)
        new.update(other)
        return new

    def __repr__(self):
        return f"{type(self).__name__}({dict(self)!r})" if len(self) else f"{type(self).__name__}()"


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value

    def copy(self):
        return type(self)(self.default_factory, self)

    __copy__ = copy

    def __repr__(self):
        return f"{type(self).__name__}({self.default_factory!r}, {dict(self)})"


class Counter(dict):
    def __init__(self, iterable=None, /, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, /, **kwargs):
        self._count(iterable, kwargs, 1)

    def subtract(self, iterable=None, /, **kwargs):
        self._count(iterable, kwargs, -1)

    def _count(self, iterable, kwargs, sign):
        pairs = list(kwargs.items())
        if iterable is not None:
            pairs = (list(iterable.items()) if hasattr(iterable, "items") else [(key, 1) for key in iterable]) + pairs
        for key, count in pairs:
            self[key] = self[key] + sign * count

    def elements(self):
        return iter([key for key, count in self.items() for _ in range(count)])

    def total(self):
        return sum(self.values())

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[: max(n, 0)]

    def copy(self):
        return type(self)(self)

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def __delitem__(self, key):
        if key in self:
            super().__delitem__(key)

    def _with(self, other, combine):
        if not isinstance(other, Counter):
            return NotImplemented
        out = Counter()
        for key in list(self) + [key for key in other if key not in self]:
            count = combine(self[key], other[key])
            if count > 0:
                out[key] = count
        return out

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __or__(self, other):
        return self._with(other, lambda a, b: max(a, b))

    def __and__(self, other):
        return self._with(other, lambda a, b: min(a, b))

    def __pos__(self):
        return self._with(Counter(), lambda a, b: a)

    def __neg__(self):
        return Counter()._with(self, lambda a, b: a - b)

    def _become(self, other):
        self.clear()
        for key, count in other.items():
            self[key] = count
        return self

    def __iadd__(self, other):
        return self._become(self + other)

    def __isub__(self, other):
        return self._become(self - other)

    def __ior__(self, other):
        return self._become(self | other)

    def __iand__(self, other):
        return self._become(self & other)

    def _all(self, other, test):
        if not isinstance(other, Counter):
            return NotImplemented
        return all(test(self[key], other[key]) for counts in (self, other) for key in counts)

    def __eq__(self, other):
        return self._all(other, lambda a, b: a == b) if isinstance(other, Counter) else dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __le__(self, other):
        return self._all(other, lambda a, b: a <= b)

    def __lt__(self, other):
        return self <= other and self != other

    def __ge__(self, other):
        return self._all(other, lambda a, b: a >= b)

    def __gt__(self, other):
        return self >= other and self != other

    def __repr__(self):
        return f"{type(self).__name__}({dict(self.most_common())})" if len(self) else f"{type(self).__name__}()"


class ChainMap(_MutableMapping):
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for mapping in self.maps:
            if key in mapping:
                return mapping[key]
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def _merged(self):
        out = {}
        for mapping in reversed(self.maps):
            out.update(dict(mapping))
        return out

    def __len__(self):
        return len(self._merged())

    def __iter__(self):
        return iter(self._merged())

    def __contains__(self, key):
        return any(key in mapping for mapping in self.maps)

    def __bool__(self):
        return any(self.maps)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        if key not in self.maps[0]:
            raise KeyError(f"Key not found in the first mapping: {key!r}")
        del self.maps[0][key]

    def new_child(self, m=None, **kwargs):
        if m is None:
            m = kwargs
        elif kwargs:
            m.update(kwargs)
        return type(self)(m, *self.maps)

    @property
    def parents(self):
        return type(self)(*self.maps[1:])

    def copy(self):
        return type(self)(dict(self.maps[0]), *self.maps[1:])

    def __eq__(self, other):
        return self._merged() == (other._merged() if isinstance(other, ChainMap) else other)

    __hash__ = None

    def __repr__(self):
        return f"{type(self).__name__}({', '.join([repr(mapping) for mapping in self.maps])})"


class UserDict(_MutableMapping):
    def __init__(self, dict=None, /, **kwargs):
        self.data = {}
        if dict is not None:
            self.update(dict)
        self.update(kwargs)

    def __getitem__(self, key):
        if key in self.data:
            return self.data[key]
        if hasattr(type(self), "__missing__"):
            return self.__missing__(key)
        raise KeyError(key)

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        del self.data[key]

    def __contains__(self, key):
        return key in self.data

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def copy(self):
        return type(self)(self.data)

    def __repr__(self):
        return repr(self.data)


class UserList(_MutableSequence):
    def __init__(self, initlist=None):
        self.data = list(initlist.data if isinstance(initlist, UserList) else initlist) if initlist is not None else []

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return type(self)(self.data[i]) if isinstance(i, slice) else self.data[i]

    def __setitem__(self, i, item):
        self.data[i] = item

    def __delitem__(self, i):
        del self.data[i]

    def __contains__(self, item):
        return item in self.data

    def __iter__(self):
        return iter(self.data)

    def __eq__(self, other):
        return self.data == (other.data if isinstance(other, UserList) else other)

    __hash__ = None

    def __lt__(self, other):
        return self.data < (other.data if isinstance(other, UserList) else other)

    def __add__(self, other):
        return type(self)(self.data + list(other))

    def __radd__(self, other):
        return type(self)(list(other) + self.data)

    def __iadd__(self, other):
        self.data += list(other)
        return self

    def __mul__(self, n):
        return type(self)(self.data * n)

    __rmul__ = __mul__

    def append(self, item):
        self.data.append(item)

    def insert(self, i, item):
        self.data.insert(i, item)

    def pop(self, i=-1):
        return self.data.pop(i)

    def remove(self, item):
        self.data.remove(item)

    def clear(self):
        self.data.clear()

    def copy(self):
        return type(self)(self.data)

    def count(self, item):
        return self.data.count(item)

    def index(self, item, *args):
        return self.data.index(item, *args)

    def reverse(self):
        self.data.reverse()

    def sort(self, /, *args, **kwds):
        self.data.sort(*args, **kwds)

    def extend(self, other):
        self.data.extend(other)

    def __repr__(self):
        return repr(self.data)


class deque(_MutableSequence):
    # The elements lie between _first and the list's end; those before are gone, until they are half of it.
    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None and maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self.maxlen = maxlen
        self._items, self._first = [], 0
        self.extend(iterable)

    def _packed(self):
        if self._first:
            del self._items[: self._first]
            self._first = 0
        return self._items

    def append(self, x):
        self._items.append(x)
        if self.maxlen is not None and len(self._items) - self._first > self.maxlen:
            self.popleft()

    def appendleft(self, x):
        if self._first:
            self._first -= 1
            self._items[self._first] = x
        else:
            room = len(self._items) + 8
            self._items[:0] = [None] * (room - 1) + [x]
            self._first = room - 1
        if self.maxlen is not None and len(self) > self.maxlen:
            self._items.pop()

    def extend(self, iterable):
        for value in list(iterable):
            self.append(value)

    def extendleft(self, iterable):
        for value in list(iterable):
            self.appendleft(value)

    def pop(self):
        if len(self._items) == self._first:
            raise IndexError("pop from an empty deque")
        return self._items.pop()

    def popleft(self):
        if len(self._items) == self._first:
            raise IndexError("pop from an empty deque")
        value = self._items[self._first]
        self._items[self._first] = None
        self._first += 1
        if self._first > 16 and self._first * 2 > len(self._items):
            self._packed()
        return value

    def rotate(self, n=1):
        items = self._packed()
        if items:
            n = -n % len(items)
            self._items = items[n:] + items[:n]

    def clear(self):
        self._items, self._first = [], 0

    def copy(self):
        return type(self)(self._packed(), self.maxlen)

    __copy__ = copy

    def count(self, x):
        return self._packed().count(x)

    def index(self, x, *bounds):
        items = self._packed()
        if x not in items[slice(*bounds, *([None] if len(bounds) == 1 else []))] if bounds else x not in items:
            raise ValueError(f"{x!r} is not in deque")
        return items.index(x, *bounds)

    def insert(self, i, x):
        if self.maxlen is not None and len(self) == self.maxlen:
            raise IndexError("deque already at its maximum size")
        self._packed().insert(i, x)

    def remove(self, value):
        if value not in self._packed():
            raise ValueError(f"{value!r} is not in deque")
        self._items.remove(value)

    def reverse(self):
        self._packed().reverse()

    def __len__(self):
        return len(self._items) - self._first

    def __bool__(self):
        return len(self._items) > self._first

    def __iter__(self):
        return iter(self._packed())

    def __reversed__(self):
        return reversed(self._packed())

    def __contains__(self, value):
        return value in self._packed()

    def _place(self, index):
        if not hasattr(index, "__index__"):
            raise TypeError(f"sequence index must be integer, not '{type(index).__name__}'")
        place = index.__index__()
        place += self._first if place >= 0 else len(self._items)
        if not self._first <= place < len(self._items):
            raise IndexError("deque index out of range")
        return place

    def __getitem__(self, index):
        return self._items[self._place(index)]

    def __setitem__(self, index, value):
        self._items[self._place(index)] = value

    def __delitem__(self, index):
        del self._items[self._place(index)]

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __add__(self, other):
        if not isinstance(other, deque):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        return type(self)(self._packed() + list(other), self.maxlen)

    def __mul__(self, n):
        return type(self)(self._packed() * n, self.maxlen)

    __rmul__ = __mul__

    def __imul__(self, n):
        self._items = self._packed() * n
        return self

    def __eq__(self, other):
        return self._packed() == other._packed() if isinstance(other, deque) else NotImplemented

    __hash__ = None

    def __lt__(self, other):
        return self._packed() < other._packed() if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return self._packed() <= other._packed() if isinstance(other, deque) else NotImplemented

    def __gt__(self, other):
        return self._packed() > other._packed() if isinstance(other, deque) else NotImplemented

    def __ge__(self, other):
        return self._packed() >= other._packed() if isinstance(other, deque) else NotImplemented

    def __repr__(self):
        return f"{type(self).__name__}({self._packed()})" if self.maxlen is None else f"{type(self).__name__}({self._packed()}, maxlen={self.maxlen})"
