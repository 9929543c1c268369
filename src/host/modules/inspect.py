# SPDX-License-Identifier: Apache-2.0
class _Empty:
    pass


def _annotation_text(annotation):
    if isinstance(annotation, type):
        return annotation.__qualname__ if annotation.__module__ == "builtins" else f"{annotation.__module__}.{annotation.__qualname__}"
    return repr(annotation)


class Parameter:
    empty = _Empty
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = 0, 1, 2, 3, 4

    def __init__(self, name, kind, *, default=_Empty, annotation=_Empty):
        self.name, self.kind, self.default, self._annotation, self._owner = name, kind, default, annotation, None

    @property
    def annotation(self):
        # Evaluated when it is asked for.
        return self._annotation if self._owner is None else self._owner.__annotations__.get(self.name, _Empty)

    def __str__(self):
        mark = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(self.kind, "")
        annotated = self.annotation is not _Empty
        text = mark + self.name + (f": {_annotation_text(self.annotation)}" if annotated else "")
        return text if self.default is _Empty else f"{text} = {self.default!r}" if annotated else f"{text}={self.default!r}"

    def __repr__(self):
        return f'<Parameter "{self}">'

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
        self._return_annotation, self._owner = return_annotation, None

    @property
    def return_annotation(self):
        return self._return_annotation if self._owner is None else self._owner.__annotations__.get("return", _Empty)

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

    def __str__(self):
        parts, kinds = [], [parameter.kind for parameter in self.parameters.values()]
        for at, parameter in enumerate(self.parameters.values()):
            if parameter.kind == Parameter.KEYWORD_ONLY and Parameter.VAR_POSITIONAL not in kinds and Parameter.KEYWORD_ONLY not in kinds[:at]:
                parts.append("*")
            parts.append(str(parameter))
            if parameter.kind == Parameter.POSITIONAL_ONLY and kinds[at + 1 : at + 2] != [Parameter.POSITIONAL_ONLY]:
                parts.append("/")
        returned = "" if self.return_annotation is _Empty else f" -> {_annotation_text(self.return_annotation)}"
        return f"({', '.join(parts)}){returned}"

    def __repr__(self):
        return f"<Signature {self}>"

    def replace(self, *, parameters=None, return_annotation=_Empty):
        return Signature(self.parameters.values() if parameters is None else parameters, return_annotation)


def signature(function, *, follow_wrapped=True):
    if not follow_wrapped:
        raise NotImplementedError("inspect.signature(follow_wrapped=False)")
    described = _parameters(function)
    if described is None:
        raise ValueError(f"no signature found for builtin {function!r}")
    made = Signature([_parameter(*one) for one in described])
    made._owner = described[0][4] if described else None
    return made


def _parameter(name, kind, has_default, default, owner):
    made = Parameter(name, kind, default=default) if has_default else Parameter(name, kind)
    made._owner = owner
    return made


def unwrap(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _found(object):
    object = unwrap(object)
    object = getattr(object, "__func__", object)
    found = _source(getattr(object, "fn", object))
    if found is None:
        raise OSError("could not get source code")
    return found


def getsource(object):
    return _found(object)[0]


def getsourcelines(object):
    text, line, _ = _found(object)
    return text.splitlines(keepends=True), line


def getsourcefile(object):
    return _found(object)[2]


getfile = getsourcefile


def isclass(value):
    return isinstance(value, type)


def isfunction(value):
    return _parameters(value) is not None and not isinstance(value, type) and not hasattr(value, "__self__")


def ismethod(value):
    return hasattr(value, "__self__")


def isroutine(value):
    return isfunction(value) or ismethod(value)


def get_annotations(obj, *, globals=None, locals=None, eval_str=False):
    found = obj.__dict__.get("__annotations__", {}) if isinstance(obj, type) else obj.__annotations__
    if eval_str and any(isinstance(value, str) for value in found.values()):
        raise NotImplementedError("inspect.get_annotations(eval_str=True)")
    return dict(found)


def getmembers(object, predicate=None):
    members = [(name, getattr(object, name)) for name in dir(object)]
    return [(name, value) for name, value in members if predicate is None or predicate(value)]


def cleandoc(doc):
    lines = doc.expandtabs().split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(indents, default=0)
    lines = [lines[0].lstrip()] + [line[margin:] for line in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def getdoc(object):
    doc = object.__doc__
    return None if doc is None else cleandoc(doc)


class FullArgSpec:
    def __init__(self, signature):
        of = lambda *kinds: [p for p in signature.parameters.values() if p.kind in kinds]
        named = of(Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        self.args = [p.name for p in named]
        self.varargs = ([p.name for p in of(Parameter.VAR_POSITIONAL)] + [None])[0]
        self.varkw = ([p.name for p in of(Parameter.VAR_KEYWORD)] + [None])[0]
        self.defaults = tuple(p.default for p in named if p.default is not _Empty) or None
        only = of(Parameter.KEYWORD_ONLY)
        self.kwonlyargs = [p.name for p in only]
        self.kwonlydefaults = {p.name: p.default for p in only if p.default is not _Empty} or None


def getfullargspec(func):
    return FullArgSpec(signature(func))


def getmro(cls):
    return cls.__mro__


def ismodule(object):
    return type(object).__name__ == "module"


def isbuiltin(object):
    return type(object).__name__ == "builtin_function_or_method"


def isgenerator(object):
    return hasattr(object, "gi_frame")


def iscoroutinefunction(obj):
    return False


iscoroutine = isawaitable = isasyncgen = isasyncgenfunction = iscoroutinefunction


def isabstract(object):
    return isinstance(object, type) and any([getattr(getattr(object, name, None), "__isabstractmethod__", False) for name in dir(object)])


def getcallargs(func, /, *args, **kwargs):
    bound = signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
