# SPDX-License-Identifier: Apache-2.0
"""pytest's marks, raises, skip and main(): a file of tests that is run as a script."""

import re
import sys

import torch


class _Outcome(BaseException):
    def __init__(self, reason=""):
        self.msg = reason
        super().__init__(reason)


class Skipped(_Outcome):
    pass


class Failed(_Outcome):
    pass


class XFailed(_Outcome):
    pass


def skip(reason="", allow_module_level=False, msg=None):
    raise Skipped(msg or reason)


def fail(reason="", pytrace=True, msg=None):
    raise Failed(msg or reason)


def xfail(reason=""):
    raise XFailed(reason)


def importorskip(name, minversion=None, reason=None):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        skip(reason or f"could not import {name!r}")


class _Param:
    def __init__(self, values, marks, id):
        self.values, self.marks, self.id = values, marks, id


def param(*values, marks=(), id=None):
    return _Param(values, marks if isinstance(marks, (list, tuple)) else (marks,), id)


class _Mark:
    def __init__(self, name, args=(), kwargs=None):
        self.name, self.args, self.kwargs = name, args, kwargs or {}

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], _Mark):
            return _marked(args[0], self)
        return _Mark(self.name, args, kwargs)


def _marked(function, mark):
    function.pytestmark = [*getattr(function, "pytestmark", []), mark]
    return function


class _Marks:
    def __getattr__(self, name):
        return _Mark(name)


mark = _Marks()


class _Fixture:
    def __init__(self, function, params, autouse, name):
        self.function, self.params, self.autouse = function, params, autouse
        self.__name__ = name or function.__name__

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f'Fixture "{self.__name__}" called directly.')


def fixture(function=None, *, scope="function", params=None, autouse=False, ids=None, name=None):
    if function is not None:
        return _Fixture(function, params, autouse, name)
    return lambda f: _Fixture(f, params, autouse, name)


class _Raised:
    def __init__(self):
        self.value = self.type = None

    def match(self, pattern):
        if not re.search(pattern, str(self.value)):
            raise AssertionError(f"Regex pattern did not match.\n Regex: {pattern!r}\n Input: {str(self.value)!r}")
        return True


class raises:
    def __init__(self, expected_exception, match=None):
        self.expected, self.pattern, self.info = expected_exception, match, _Raised()

    def __enter__(self):
        return self.info

    def __exit__(self, kind, value, traceback):
        # What was recorded fails here, if it fails.
        if kind is None:
            try:
                torch._pellucid_flush()
            except self.expected as error:
                kind, value = type(error), error
        if kind is None:
            raise Failed(f"DID NOT RAISE {self.expected}")
        if not isinstance(value, self.expected):
            return False
        self.info.type, self.info.value = kind, value
        if self.pattern is not None:
            self.info.match(self.pattern)
        return True


class approx:
    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def _one(self, actual, expected):
        if actual == expected or (self.nan_ok and actual != actual and expected != expected):
            return True
        absolute = 1e-12 if self.abs is None else self.abs
        relative = (0.0 if self.abs is not None else 1e-6) if self.rel is None else self.rel
        bound = relative * (expected if expected >= 0 else -expected)
        gap = actual - expected
        return (gap if gap >= 0 else -gap) <= (bound if bound > absolute else absolute)

    def __eq__(self, actual):
        if isinstance(self.expected, (list, tuple)):
            return len(actual) == len(self.expected) and all(self._one(a, e) for a, e in zip(actual, self.expected))
        if isinstance(self.expected, dict):
            return set(actual) == set(self.expected) and all(self._one(actual[k], e) for k, e in self.expected.items())
        return bool(self._one(actual, self.expected))

    def __ne__(self, actual):
        return not self == actual

    def __repr__(self):
        return f"{self.expected} ± {self.abs if self.abs is not None else self.rel or 1e-06}"


# --- running


def _text_of(value):
    if isinstance(value, (int, float, str, bool)) or value is None:
        return str(value)
    return getattr(value, "__name__", None)


def _cases(function):
    """(name, arguments, marks) of every way to call a test, the first decorator's values outermost."""
    cases = [("", {}, [])]
    marks = getattr(function, "pytestmark", [])
    for mark_ in marks:
        if mark_.name != "parametrize":
            continue
        names, rows = mark_.args[0], mark_.args[1] if len(mark_.args) > 1 else mark_.kwargs["argvalues"]
        ids = mark_.kwargs.get("ids")
        names = [n.strip() for n in names.split(",") if n.strip()] if isinstance(names, str) else list(names)
        fresh = []
        for text, given, own in cases:
            for i, row in enumerate(rows):
                more = []
                if isinstance(row, _Param):
                    more = list(row.marks)
                    values = row.values
                else:
                    values = tuple(row) if len(names) > 1 else (row,)
                if len(values) != len(names):
                    raise ValueError(f"{function.__name__}: in \"parametrize\" the number of names ({len(names)}): {names} must be equal to the number of values ({len(values)})")
                pieces = [_text_of(v) or f"{n}{i}" for n, v in zip(names, values)]
                label = row.id if isinstance(row, _Param) and row.id else ids[i] if isinstance(ids, (list, tuple)) else "-".join(pieces)
                fresh.append((f"{text}-{label}" if text else str(label), {**given, **dict(zip(names, values))}, own + more))
        cases = fresh
    rest = [m for m in marks if m.name != "parametrize"]
    return [(f"{function.__name__}[{text}]" if text else function.__name__, given, rest + own) for text, given, own in cases]


class _Request:
    def __init__(self, param):
        self.param = param


class _TmpPath:
    pass


def _fixture_value(name, fixtures, found, endings, param=None):
    if name in found:
        return found[name]
    if name == "tmp_path":
        import pathlib
        import tempfile

        found[name] = pathlib.Path(tempfile.mkdtemp())
        return found[name]
    if name not in fixtures:
        raise LookupError(f"fixture '{name}' not found")
    fixture_ = fixtures[name]
    import inspect

    given = {}
    for parameter in inspect.signature(fixture_.function).parameters:
        given[parameter] = _Request(param) if parameter == "request" else _fixture_value(parameter, fixtures, found, endings)
    value = fixture_.function(**given)
    if hasattr(value, "__next__") and hasattr(value, "send"):
        endings.append(value)
        value = next(value)
    found[name] = value
    return value


def _call(function, owner, given, fixtures):
    import inspect

    found, endings = {}, []
    for name, fixture_ in fixtures.items():
        if fixture_.autouse:
            _fixture_value(name, fixtures, found, endings)
    arguments = dict(given)
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in arguments and name != "self" and parameter.default is inspect.Parameter.empty:
            arguments[name] = _fixture_value(name, fixtures, found, endings)
    try:
        if owner is None:
            function(**arguments)
        else:
            instance = owner()
            if hasattr(instance, "setup_method"):
                instance.setup_method(function)
            getattr(instance, function.__name__)(**arguments)
        torch._pellucid_flush()
    finally:
        for generator in reversed(endings):
            for _ in generator:
                pass


def _skip_reason(marks):
    for mark_ in marks:
        if mark_.name == "skip":
            return mark_.kwargs.get("reason", mark_.args[0] if mark_.args else "unconditional skip")
        if mark_.name == "skipif" and (mark_.args[0] if mark_.args else mark_.kwargs["condition"]):
            return mark_.kwargs.get("reason", "")
    return None


def main(args=None, plugins=None):
    module = sys.modules["__main__"]
    wanted = None
    args = [str(a) for a in (args or [])]
    if "-k" in args:
        wanted = args[args.index("-k") + 1]
    names = vars(module)
    fixtures = {value.__name__: value for value in names.values() if isinstance(value, _Fixture)}
    tests = []
    for name, value in list(names.items()):
        if name.startswith("test") and callable(value) and not isinstance(value, (type, _Fixture)):
            tests.append((None, value))
        elif name.startswith("Test") and isinstance(value, type):
            tests.extend((value, f) for n, f in vars(value).items() if n.startswith("test") and callable(f))
    passed, skipped, failed = 0, 0, []
    for owner, function in tests:
        marks_of_class = list(getattr(owner, "pytestmark", [])) if owner is not None else []
        for name, given, marks in _cases(function):
            name = f"{owner.__name__}::{name}" if owner is not None else name
            if wanted and wanted not in name:
                continue
            if _skip_reason(marks + marks_of_class) is not None:
                skipped += 1
                continue
            may_fail = any(m.name == "xfail" for m in marks)
            try:
                _call(function, owner, given, fixtures)
                passed += 1
                print(f"{name} PASSED")
            except Skipped:
                skipped += 1
            except XFailed:
                skipped += 1
            except (Exception, Failed) as error:
                if may_fail:
                    skipped += 1
                    continue
                failed.append(name)
                print(f"{name} FAILED\n{type(error).__name__}: {error}")
    parts = [f"{len(failed)} failed"] if failed else []
    parts += [f"{passed} passed"] if passed else []
    parts += [f"{skipped} skipped"] if skipped else []
    print("=== " + (", ".join(parts) or "no tests ran") + " ===")
    return 1 if failed else 0 if passed or skipped else 5
