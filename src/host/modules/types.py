# SPDX-License-Identifier: Apache-2.0
class SimpleNamespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and dict(vars(self)) == dict(vars(other))

    def __repr__(self):
        return "namespace(" + ", ".join(f"{name}={value!r}" for name, value in vars(self).items()) + ")"


class ModuleType:
    def __init__(self, name, doc=None):
        self.__name__ = name
        self.__doc__ = doc


def MappingProxyType(mapping):
    return mapping


def new_class(name, bases=(), kwds=None, exec_body=None):
    raise NotImplementedError("types.new_class; write a class statement")
