# SPDX-License-Identifier: Apache-2.0
WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    from functools import wraps

    return wraps(wrapped, assigned, updated)(wrapper)


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


def singledispatch(function):
    registry = {object: function}

    def dispatch(cls):
        for base in cls.__mro__:
            if base in registry:
                return registry[base]
        return function

    def register(cls, method=None):
        if method is not None:
            registry[cls] = method
            return method
        if isinstance(cls, type):
            return lambda made: register(cls, made)
        return register(list(cls.__annotations__.values())[0], cls)

    def wrapper(*args, **kwargs):
        return dispatch(type(args[0]))(*args, **kwargs)

    wrapper.register, wrapper.dispatch, wrapper.registry = register, dispatch, registry
    return wrapper


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0

    return Key
