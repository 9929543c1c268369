# SPDX-License-Identifier: Apache-2.0
from collections.abc import MutableMapping as _MutableMapping


class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        value = self[key]
        rest = [(k, v) for k, v in self.items() if k != key]
        self.clear()
        self.update(rest + [(key, value)] if last else [(key, value)] + rest)

    def popitem(self, last=True):
        if not len(self):
            raise KeyError("dictionary is empty")
        key = list(self.keys())[-1 if last else 0]
        return key, self.pop(key)

    def copy(self):
        return type(self)(self)

    def keys(self):
        return dict.__ordered_view__(self, 0)

    def values(self):
        return dict.__ordered_view__(self, 1)

    def items(self):
        return dict.__ordered_view__(self, 2)

    def __repr__(self):
        return f"{type(self).__name__}({list(self.items()) if len(self) else ''})"


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value

    def copy(self):
        return type(self)(self.default_factory, self)

    def __repr__(self):
        return f"defaultdict({self.default_factory!r}, {dict(self)})"


class Counter(dict):
    def __init__(self, iterable=None, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, **kwargs):
        self._count(iterable, kwargs, 1)

    def subtract(self, iterable=None, **kwargs):
        self._count(iterable, kwargs, -1)

    def _count(self, iterable, kwargs, sign):
        pairs = list(kwargs.items())
        if iterable is not None:
            pairs += list(iterable.items()) if isinstance(iterable, dict) else [(key, 1) for key in iterable]
        for key, count in pairs:
            self[key] = self[key] + sign * count

    def elements(self):
        return iter([key for key, count in self.items() for _ in range(count)])

    def total(self):
        return sum(self.values())

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def copy(self):
        return type(self)(self)

    def __add__(self, other):
        return Counter({key: self[key] + other[key] for key in list(self) + [k for k in other if k not in self] if self[key] + other[key] > 0})

    def __sub__(self, other):
        return Counter({key: self[key] - other[key] for key in list(self) + [k for k in other if k not in self] if self[key] - other[key] > 0})

    def __repr__(self):
        return f"Counter({dict(self.most_common())})" if len(self) else "Counter()"


class UserDict(_MutableMapping):
    def __init__(self, dict=None, **kwargs):
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


class deque:
    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None and maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self.maxlen = maxlen
        self._items = []
        self.extend(iterable)

    def append(self, value):
        self._items.append(value)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop(0)

    def appendleft(self, value):
        self._items.insert(0, value)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop()

    def extend(self, iterable):
        for value in list(iterable):
            self.append(value)

    def extendleft(self, iterable):
        for value in list(iterable):
            self.appendleft(value)

    def pop(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop()

    def popleft(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop(0)

    def rotate(self, n=1):
        if self._items:
            n = -n % len(self._items)
            self._items = self._items[n:] + self._items[:n]

    def clear(self):
        self._items.clear()

    def copy(self):
        return deque(self._items, self.maxlen)

    def count(self, value):
        return self._items.count(value)

    def index(self, value):
        return self._items.index(value)

    def insert(self, index, value):
        if self.maxlen is not None and len(self._items) == self.maxlen:
            raise IndexError("deque already at its maximum size")
        self._items.insert(index, value)

    def remove(self, value):
        self._items.remove(value)

    def reverse(self):
        self._items.reverse()

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __reversed__(self):
        return reversed(self._items)

    def __contains__(self, value):
        return value in self._items

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        return self._items[index]

    def __setitem__(self, index, value):
        self._items[index] = value

    def __delitem__(self, index):
        del self._items[index]

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __add__(self, other):
        return deque(self._items + list(other), self.maxlen)

    def __eq__(self, other):
        return isinstance(other, deque) and self._items == other._items

    def __repr__(self):
        return f"deque({self._items})" if self.maxlen is None else f"deque({self._items}, maxlen={self.maxlen})"
