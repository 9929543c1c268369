# SPDX-License-Identifier: Apache-2.0
class _Empty:
    pass


class Parameter:
    empty = _Empty
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = 0, 1, 2, 3, 4

    def __init__(self, name, kind, *, default=_Empty, annotation=_Empty):
        self.name, self.kind, self.default, self.annotation = name, kind, default, annotation

    def replace(self, **changed):
        values = {"name": self.name, "kind": self.kind, "default": self.default, "annotation": self.annotation, **changed}
        return Parameter(values.pop("name"), values.pop("kind"), **values)


class BoundArguments:
    def __init__(self, signature, arguments):
        self.signature, self.arguments = signature, arguments

    def apply_defaults(self):
        full = {}
        for name, parameter in self.signature.parameters.items():
            if name in self.arguments:
                full[name] = self.arguments[name]
            elif parameter.default is not _Empty:
                full[name] = parameter.default
            elif parameter.kind == Parameter.VAR_POSITIONAL:
                full[name] = ()
            elif parameter.kind == Parameter.VAR_KEYWORD:
                full[name] = {}
        self.arguments = full

    @property
    def args(self):
        out = []
        for name, parameter in self.signature.parameters.items():
            if name not in self.arguments or parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD):
                break
            if parameter.kind == Parameter.VAR_POSITIONAL:
                out.extend(self.arguments[name])
            else:
                out.append(self.arguments[name])
        return tuple(out)

    @property
    def kwargs(self):
        out, by_name = {}, False
        for name, parameter in self.signature.parameters.items():
            by_name = by_name or parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD) or name not in self.arguments
            if by_name and name in self.arguments:
                if parameter.kind == Parameter.VAR_KEYWORD:
                    out.update(self.arguments[name])
                else:
                    out[name] = self.arguments[name]
        return out


class Signature:
    empty = _Empty

    def __init__(self, parameters=(), return_annotation=_Empty):
        self.parameters = {parameter.name: parameter for parameter in parameters}
        self.return_annotation = return_annotation

    def bind(self, *args, **kwargs):
        return self._bind(args, kwargs, False)

    def bind_partial(self, *args, **kwargs):
        return self._bind(args, kwargs, True)

    def _bind(self, args, kwargs, partial):
        arguments, args, kwargs = {}, list(args), dict(kwargs)
        for name, parameter in self.parameters.items():
            if parameter.kind == Parameter.VAR_POSITIONAL:
                if args:
                    arguments[name] = tuple(args)
                args = []
            elif parameter.kind == Parameter.VAR_KEYWORD:
                if kwargs:
                    arguments[name] = kwargs
                kwargs = {}
            elif args and parameter.kind != Parameter.KEYWORD_ONLY:
                if name in kwargs:
                    raise TypeError(f"multiple values for argument '{name}'")
                arguments[name] = args.pop(0)
            elif name in kwargs and parameter.kind != Parameter.POSITIONAL_ONLY:
                arguments[name] = kwargs.pop(name)
            elif parameter.default is _Empty and not partial:
                raise TypeError(f"missing a required argument: '{name}'")
        if args:
            raise TypeError("too many positional arguments")
        if kwargs:
            raise TypeError(f"got an unexpected keyword argument '{list(kwargs)[0]}'")
        return BoundArguments(self, arguments)

    def replace(self, *, parameters=None, return_annotation=_Empty):
        return Signature(self.parameters.values() if parameters is None else parameters, return_annotation)


def signature(function, *, follow_wrapped=True):
    described = _parameters(function)
    if described is None:
        raise ValueError(f"no signature found for builtin {function!r}")
    return Signature([Parameter(name, kind) if not has_default else Parameter(name, kind, default=default) for name, kind, has_default, default in described])


def unwrap(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def isclass(value):
    return isinstance(value, type)


def isfunction(value):
    return _parameters(value) is not None and not isinstance(value, type) and not hasattr(value, "__self__")


def ismethod(value):
    return hasattr(value, "__self__")


def isroutine(value):
    return isfunction(value) or ismethod(value)
