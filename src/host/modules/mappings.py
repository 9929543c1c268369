# SPDX-License-Identifier: Apache-2.0
# A set of which only `in`, iteration and the length are known. What is made of it is a set.
class Set:
    def __le__(self, other):
        return all([item in other for item in self])

    def __ge__(self, other):
        return all([item in self for item in other])

    def __lt__(self, other):
        return len(self) < len(other) and self <= other

    def __gt__(self, other):
        return len(self) > len(other) and self >= other

    def __eq__(self, other):
        return isinstance(other, Set) and len(self) == len(other) and self <= other

    def isdisjoint(self, other):
        return not any([item in self for item in other])

    def _from_iterable(self, items):
        return set(items)

    def __and__(self, other):
        return self._from_iterable([item for item in other if item in self])

    def __or__(self, other):
        return self._from_iterable(list(self) + list(other))

    def __sub__(self, other):
        return self._from_iterable([item for item in self if item not in set(other)])

    def __xor__(self, other):
        return self._from_iterable([item for item in self if item not in set(other)] + [item for item in other if item not in self])

    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__

    def __rsub__(self, other):
        return self._from_iterable([item for item in other if item not in self])


class MappingView:
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"{type(self).__name__}({self._mapping!r})"


class KeysView(MappingView, Set):
    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)


class ItemsView(MappingView, Set):
    def __contains__(self, item):
        key, value = item
        try:
            held = self._mapping[key]
        except KeyError:
            return False
        return held is value or held == value

    def __iter__(self):
        return iter([(key, self._mapping[key]) for key in self._mapping])


class ValuesView(MappingView):
    def __contains__(self, value):
        return any([held is value or held == value for held in self])

    def __iter__(self):
        return iter([self._mapping[key] for key in self._mapping])


# What collections.abc gives to a class that has __getitem__, __iter__ and __len__, and to one that
# also has __setitem__ and __delitem__.
class Mapping:
    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return KeysView(self)

    def items(self):
        return ItemsView(self)

    def values(self):
        return ValuesView(self)

    def __eq__(self, other):
        return isinstance(other, (dict, Mapping)) and dict(self.items()) == dict(other.items())


class MutableMapping(Mapping):
    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if not default:
                raise
            return default[0]
        del self[key]
        return value

    def popitem(self):
        for key in self:
            return key, self.pop(key)
        raise KeyError

    def clear(self):
        for key in list(self):
            del self[key]

    def update(self, other=(), **kwargs):
        for key, value in dict(other).items():
            self[key] = value
        for key, value in kwargs.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default
