# SPDX-License-Identifier: Apache-2.0
from collections import namedtuple as _namedtuple
from functools import partial, wraps

_CacheInfo = _namedtuple("CacheInfo", ["hits", "misses", "maxsize", "currsize"])
WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__")
WRAPPER_UPDATES = ("__dict__",)




def _cached(function, maxsize, typed):
    from _functools import cached

    wrapper, clear, info = cached(function, maxsize, typed)
    wraps(function)(wrapper)
    wrapper.cache_clear = clear
    wrapper.cache_info = lambda: _CacheInfo(*info())
    wrapper.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
    return wrapper


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _cached(maxsize, 128, typed)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    return lambda function: _cached(function, maxsize, typed)


def cache(user_function):
    return _cached(user_function, None, False)


class cached_property:
    def __init__(self, func):
        self.func, self.attrname, self.__doc__ = func, None, func.__doc__

    def __set_name__(self, owner, name):
        if self.attrname is not None and name != self.attrname:
            raise TypeError(f"Cannot assign the same cached_property to two different names ({self.attrname!r} and {name!r}).")
        self.attrname = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.attrname is None:
            raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
        cache = instance.__dict__
        if self.attrname not in cache:
            cache[self.attrname] = self.func(instance)
        return cache[self.attrname]


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func, self.args, self.keywords = func, args, keywords

    def __get__(self, instance, owner=None):
        function = self.func.__get__(instance, owner) if hasattr(self.func, "__get__") else partial(self.func, instance)
        return partial(function, *self.args, **self.keywords)


def total_ordering(cls):
    own = [name for name in ("__lt__", "__le__", "__gt__", "__ge__") if name in cls.__dict__]
    if not own:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    made = {
        "__lt__": {
            "__gt__": lambda self, other: not (self < other or self == other),
            "__le__": lambda self, other: self < other or self == other,
            "__ge__": lambda self, other: not self < other,
        },
        "__le__": {
            "__ge__": lambda self, other: not self <= other or self == other,
            "__lt__": lambda self, other: self <= other and not self == other,
            "__gt__": lambda self, other: not self <= other,
        },
        "__gt__": {
            "__lt__": lambda self, other: not (self > other or self == other),
            "__ge__": lambda self, other: self > other or self == other,
            "__le__": lambda self, other: not self > other,
        },
        "__ge__": {
            "__le__": lambda self, other: not self >= other or self == other,
            "__gt__": lambda self, other: self >= other and not self == other,
            "__lt__": lambda self, other: not self >= other,
        },
    }[own[0]]
    for name, method in made.items():
        if name not in cls.__dict__:
            setattr(cls, name, method)
    return cls


def singledispatch(func):
    registry = {object: func}

    def dispatch(cls):
        for base in cls.__mro__:
            if base in registry:
                return registry[base]
        found = [known for known in registry if issubclass(cls, known)]
        return registry[found[-1]]

    def register(cls, func=None):
        if func is not None:
            for known in getattr(cls, "__args__", None) or (cls,):
                registry[known] = func
            return func
        if isinstance(cls, type) or hasattr(cls, "__args__"):
            return lambda made: register(cls, made)
        import typing

        # Of a file whose annotations are texts, too.
        return register(list(typing.get_type_hints(cls).values())[0], cls)

    def wrapper(*args, **kwargs):
        if not args:
            raise TypeError(f"{func.__name__} requires at least 1 positional argument")
        return dispatch(type(args[0]))(*args, **kwargs)

    wraps(func)(wrapper)
    wrapper.register, wrapper.dispatch, wrapper.registry = register, dispatch, registry
    return wrapper


class singledispatchmethod:
    def __init__(self, func):
        self.dispatcher, self.func = singledispatch(func), func

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, func=method)

    def __get__(self, instance, owner=None):
        def method(*args, **kwargs):
            chosen = self.dispatcher.dispatch(type(args[0]))
            return (chosen.__get__(instance, owner) if hasattr(chosen, "__get__") else partial(chosen, instance))(*args, **kwargs)

        method.register = self.register
        return method


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __le__(self, other):
            return compare(self.value, other.value) <= 0

        def __ge__(self, other):
            return compare(self.value, other.value) >= 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0

        __hash__ = None

    return Key
