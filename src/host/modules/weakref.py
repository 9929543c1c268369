# SPDX-License-Identifier: Apache-2.0
import atexit as _atexit
from _weakref import ref
from collections.abc import MutableMapping as _MutableMapping

ReferenceType = ref


class _Proxy:
    def __init__(self, object, callback=None):
        self.__dict__["_ref"] = ref(object, callback)

    def _target(self):
        found = self.__dict__["_ref"]()
        if found is None:
            raise ReferenceError("weakly-referenced object no longer exists")
        return found

    def __getattr__(self, name):
        return getattr(self._target(), name)

    def __setattr__(self, name, value):
        setattr(self._target(), name, value)

    def __delattr__(self, name):
        delattr(self._target(), name)

    def __call__(self, *args, **kwargs):
        return self._target()(*args, **kwargs)

    def __getitem__(self, key):
        return self._target()[key]

    def __setitem__(self, key, value):
        self._target()[key] = value

    def __len__(self):
        return len(self._target())

    def __iter__(self):
        return iter(self._target())

    def __contains__(self, value):
        return value in self._target()

    def __bool__(self):
        return bool(self._target())

    def __eq__(self, other):
        return self._target() == other

    def __str__(self):
        return str(self._target())

    __hash__ = None


def proxy(object, callback=None):
    return _Proxy(object, callback)


class WeakMethod:
    def __init__(self, method, callback=None):
        self._self, self._function = ref(method.__self__, callback), method.__func__

    def __call__(self):
        found = self._self()
        return None if found is None else getattr(found, self._function.__name__)

    def __eq__(self, other):
        return isinstance(other, WeakMethod) and self._self == other._self and self._function is other._function

    def __hash__(self):
        return hash(self._self)


class WeakValueDictionary(_MutableMapping):
    def __init__(self, other=(), /, **kwargs):
        self._refs = {}
        self.update(other, **kwargs)

    def _alive(self):
        pairs = [(key, held()) for key, held in list(self._refs.items())]
        for key, value in pairs:
            if value is None:
                del self._refs[key]
        return [pair for pair in pairs if pair[1] is not None]

    def __getitem__(self, key):
        value = self._refs[key]()
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        self._refs[key] = ref(value)

    def __delitem__(self, key):
        del self._refs[key]

    def __contains__(self, key):
        return key in self._refs and self._refs[key]() is not None

    def __len__(self):
        return len(self._alive())

    def __iter__(self):
        return iter([key for key, value in self._alive()])

    def keys(self):
        return iter(self)

    def values(self):
        return iter([value for key, value in self._alive()])

    def items(self):
        return iter(self._alive())

    def get(self, key, default=None):
        return self[key] if key in self else default

    def copy(self):
        return WeakValueDictionary(dict(self._alive()))


class WeakKeyDictionary(_MutableMapping):
    def __init__(self, dict=None):
        self._values = {}
        if dict is not None:
            self.update(dict)

    def _alive(self):
        pairs = [(held(), held) for held in list(self._values)]
        for key, held in pairs:
            if key is None:
                del self._values[held]
        return [pair for pair in pairs if pair[0] is not None]

    def __getitem__(self, key):
        return self._values[ref(key)]

    def __setitem__(self, key, value):
        self._values[ref(key)] = value

    def __delitem__(self, key):
        del self._values[ref(key)]

    def __contains__(self, key):
        return ref(key) in self._values

    def __len__(self):
        return len(self._alive())

    def __iter__(self):
        return iter([key for key, held in self._alive()])

    def keys(self):
        return iter(self)

    def values(self):
        return iter([self._values[held] for key, held in self._alive()])

    def items(self):
        return iter([(key, self._values[held]) for key, held in self._alive()])

    def get(self, key, default=None):
        return self[key] if key in self else default


class WeakSet:
    def __init__(self, data=None):
        self._refs = {}
        self.update(data if data is not None else ())

    def _alive(self):
        pairs = [(held(), held) for held in list(self._refs)]
        for value, held in pairs:
            if value is None:
                del self._refs[held]
        return [value for value, held in pairs if value is not None]

    def add(self, item):
        self._refs[ref(item)] = True

    def discard(self, item):
        self._refs.pop(ref(item), None)

    def remove(self, item):
        del self._refs[ref(item)]

    def clear(self):
        self._refs.clear()

    def update(self, other):
        for item in other:
            self.add(item)

    def __contains__(self, item):
        return ref(item) in self._refs

    def __len__(self):
        return len(self._alive())

    def __iter__(self):
        return iter(self._alive())


class finalize:
    _all = []

    def __init__(self, obj, func, /, *args, **kwargs):
        self.atexit = True
        self._call = (func, args, kwargs)
        self._ref = ref(obj, self._gone)
        finalize._all.append(self)

    def _gone(self, *reference):
        self()

    def __call__(self):
        if self._call is None:
            return None
        (func, args, kwargs), self._call = self._call, None
        finalize._all.remove(self)
        return func(*args, **kwargs)

    @property
    def alive(self):
        return self._call is not None

    def detach(self):
        found = self._ref()
        if found is None or self._call is None:
            return None
        (func, args, kwargs), self._call = self._call, None
        finalize._all.remove(self)
        return found, func, args, kwargs

    def peek(self):
        found = self._ref()
        return None if found is None or self._call is None else (found, *self._call)


def _at_exit():
    for left in list(reversed(finalize._all)):
        if left.atexit:
            left()


_atexit.register(_at_exit)
