# SPDX-License-Identifier: Apache-2.0
import sys as _sys


class _Sentinel:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"sentinel.{self.name}"


class _Sentinels:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = _Sentinel(name)
        setattr(self, name, made)
        return made


sentinel = _Sentinels()
DEFAULT = sentinel.DEFAULT


class _Any:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __repr__(self):
        return "<ANY>"


ANY = _Any()


class _Call:
    def __init__(self, name="", args=(), kwargs=None):
        self._name, self.args, self.kwargs = name, args, kwargs or {}

    def __call__(self, *args, **kwargs):
        return _Call(self._name, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Call(f"{self._name}.{name}" if self._name else name)

    def __getitem__(self, index):
        return (self.args, self.kwargs)[index]

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.args, self.kwargs))

    def __eq__(self, other):
        if isinstance(other, _Call):
            return (self._name, self.args, self.kwargs) == (other._name, other.args, other.kwargs)
        return isinstance(other, tuple) and (self.args, self.kwargs) == (tuple(other[-2]) if len(other) > 1 else (), other[-1])

    __hash__ = None

    def __repr__(self):
        shown = [repr(value) for value in self.args] + [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"call{'.' + self._name if self._name else ''}({', '.join(shown)})"


call = _Call()


class NonCallableMock:
    def __init__(self, spec=None, side_effect=None, return_value=DEFAULT, name=None, wraps=None, spec_set=None, **kwargs):
        own = self.__dict__
        own["_mock_name"], own["_mock_parent"], own["_mock_children"] = name, None, {}
        own["_mock_spec"] = None if spec is None and spec_set is None else set(dir(spec if spec is not None else spec_set))
        own["_mock_class"] = spec if isinstance(spec, type) else None if spec is None else type(spec)
        own["_mock_wraps"], own["_mock_return"], own["side_effect"] = wraps, return_value, side_effect
        own["_mock_path"] = ""
        self.reset_mock()
        for key, value in kwargs.items():
            target, *rest = key.split(".")
            if rest:
                place = getattr(self, target)
                for part in rest[:-1]:
                    place = getattr(place, part)
                setattr(place, rest[-1], value)
            else:
                setattr(self, key, value)

    def reset_mock(self, *, return_value=False, side_effect=False):
        own = self.__dict__
        own["called"], own["call_count"], own["call_args"] = False, 0, None
        own["call_args_list"], own["method_calls"], own["mock_calls"] = [], [], []
        if return_value:
            own["_mock_return"] = DEFAULT
        if side_effect:
            own["side_effect"] = None
        for child in own["_mock_children"].values():
            child.reset_mock()

    def _mock_child(self, name):
        wrapped = None if self._mock_wraps is None else getattr(self._mock_wraps, name)
        child = type(self)(wraps=wrapped)
        child.__dict__["_mock_parent"], child.__dict__["_mock_path"] = self, name
        self._mock_children[name] = child
        return child

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name == "return_value":
            if self.__dict__["_mock_return"] is DEFAULT:
                made = type(self)()
                made.__dict__["_mock_parent"], made.__dict__["_mock_path"] = self, "()"
                self.__dict__["_mock_return"] = made
            return self.__dict__["_mock_return"]
        if name.startswith("_mock_"):
            raise AttributeError(name)
        if name.startswith(("assert", "assret", "asert", "aseert", "assrt")):
            raise AttributeError(f"'{name}' is not a valid assertion. Use a spec for the mock if '{name}' is meant to be an attribute.")
        if self._mock_spec is not None and name not in self._mock_spec:
            raise AttributeError(f"Mock object has no attribute '{name}'")
        return self._mock_children[name] if name in self._mock_children else self._mock_child(name)

    def __setattr__(self, name, value):
        if name == "return_value":
            self.__dict__["_mock_return"] = value
        else:
            self.__dict__[name] = value

    @property
    def __class__(self):
        return type(self) if self.__dict__.get("_mock_class") is None else self.__dict__["_mock_class"]

    def configure_mock(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def attach_mock(self, mock, attribute):
        mock.__dict__["_mock_parent"], mock.__dict__["_mock_path"] = self, attribute
        self._mock_children[attribute] = mock

    def _note(self, args, kwargs):
        own = self.__dict__
        own["called"] = True
        own["call_count"] += 1
        own["call_args"] = _Call("", args, kwargs)
        own["call_args_list"].append(own["call_args"])
        own["mock_calls"].append(_Call("", args, kwargs))
        path, parent = own["_mock_path"], own["_mock_parent"]
        while parent is not None:
            held = parent.__dict__
            if not path.startswith("()"):
                held["method_calls"].append(_Call(path, args, kwargs))
            held["mock_calls"].append(_Call(path, args, kwargs))
            path, parent = (held["_mock_path"] + "." + path if held["_mock_path"] else path), held["_mock_parent"]

    def _words(self, expected):
        return f"Expected: mock({repr(expected)[5:-1]})\n  Actual: mock({repr(self.call_args)[5:-1]})"

    def assert_called(self):
        if not self.call_count:
            raise AssertionError(f"Expected '{self._title()}' to have been called.")

    def assert_called_once(self):
        if self.call_count != 1:
            raise AssertionError(f"Expected '{self._title()}' to have been called once. Called {self.call_count} times.{self._calls()}")

    def assert_not_called(self):
        if self.call_count:
            raise AssertionError(f"Expected '{self._title()}' to not have been called. Called {self.call_count} times.{self._calls()}")

    def assert_called_with(self, /, *args, **kwargs):
        expected = _Call("", args, kwargs)
        if self.call_args is None:
            raise AssertionError(f"expected call not found.\nExpected: mock({repr(expected)[5:-1]})\n  Actual: not called.")
        if self.call_args != expected:
            raise AssertionError("expected call not found.\n" + self._words(expected))

    def assert_called_once_with(self, /, *args, **kwargs):
        if self.call_count != 1:
            raise AssertionError(f"Expected '{self._title()}' to be called once. Called {self.call_count} times.{self._calls()}")
        self.assert_called_with(*args, **kwargs)

    def assert_any_call(self, /, *args, **kwargs):
        expected = _Call("", args, kwargs)
        if expected not in self.call_args_list:
            raise AssertionError(f"mock({repr(expected)[5:-1]}) call not found")

    def assert_has_calls(self, calls, any_order=False):
        calls, made = list(calls), list(self.mock_calls)
        if any_order:
            missing = [one for one in calls if one not in made]
        else:
            missing = [] if any([made[i : i + len(calls)] == calls for i in range(len(made) - len(calls) + 1)]) else calls
        if missing:
            raise AssertionError(f"Calls not found.\nExpected: {calls}\n  Actual: {made}")

    def _title(self):
        return self._mock_name or self._mock_path.lstrip(".") or "mock"

    def _calls(self):
        return f"\nCalls: {self.call_args_list}."

    def __repr__(self):
        return f"<{type(self).__name__} name={self._title()!r} id='{id(self)}'>" if self._title() != "mock" else f"<{type(self).__name__} id='{id(self)}'>"


class Mock(NonCallableMock):
    def __call__(self, /, *args, **kwargs):
        self._note(args, kwargs)
        effect = self.side_effect
        if effect is not None:
            if isinstance(effect, BaseException) or (isinstance(effect, type) and issubclass(effect, BaseException)):
                raise effect
            if callable(effect):
                result = effect(*args, **kwargs)
            else:
                if not hasattr(effect, "__next__"):
                    effect = iter(effect)
                    self.__dict__["side_effect"] = effect
                result = next(effect)
                if isinstance(result, BaseException) or (isinstance(result, type) and issubclass(result, BaseException)):
                    raise result
            if result is not DEFAULT:
                return result
        if self.__dict__["_mock_return"] is DEFAULT and self._mock_wraps is not None:
            return self._mock_wraps(*args, **kwargs)
        return self.return_value


def _magic(name, fallback):
    def method(self, *args):
        own = self.__dict__.get(name)
        return fallback(self, *args) if own is None else own(*args)

    return method


class MagicMock(Mock):
    """Magic methods answer with what unittest.mock gives by default; one that is set on the mock is called."""


for _name, _fallback in {
    "__len__": lambda self: 0,
    "__iter__": lambda self: iter([]),
    "__contains__": lambda self, item: False,
    "__bool__": lambda self: True,
    "__int__": lambda self: 1,
    "__float__": lambda self: 1.0,
    "__index__": lambda self: 1,
    "__enter__": lambda self: self._mock_child("__enter__").return_value,
    "__exit__": lambda self, *error: False,
    "__getitem__": lambda self, key: self._mock_child("__getitem__")(key),
    "__setitem__": lambda self, key, value: None,
    "__delitem__": lambda self, key: None,
    "__lt__": lambda self, other: NotImplemented,
    "__gt__": lambda self, other: NotImplemented,
}.items():
    setattr(MagicMock, _name, _magic(_name, _fallback))


class PropertyMock(Mock):
    def __get__(self, instance, owner=None):
        return self()

    def __set__(self, instance, value):
        self(value)


def create_autospec(spec, **kwargs):
    return MagicMock(spec=spec, **kwargs)


def mock_open(mock=None, read_data=""):
    import io

    mock = MagicMock(name="open") if mock is None else mock
    mock.side_effect = lambda *args, **kwargs: io.StringIO(read_data)
    return mock


class _Patch:
    def __init__(self, find, attribute, new, kwargs, create=False, spec=None, spec_set=None, autospec=None, new_callable=None):
        self._find, self._attribute, self._new, self._kwargs, self._create = find, attribute, new, kwargs, create
        self._spec = next((one for one in (spec, spec_set, autospec) if one), None)
        self._makes, self._maker = new is DEFAULT, new_callable or MagicMock

    def __enter__(self):
        self._target = self._find()
        held = vars(self._target) if hasattr(self._target, "__dict__") else {}
        self._local = self._attribute in held
        self._absent = self._create and not hasattr(self._target, self._attribute)
        if not self._absent:
            self._before = held[self._attribute] if self._local and isinstance(self._target, type) else getattr(self._target, self._attribute)
        new = self._new
        if self._makes:
            spec = self._before if self._spec is True else self._spec
            new = self._maker(**({} if spec is None else {"spec": spec}), **self._kwargs)
        setattr(self._target, self._attribute, new)
        return new

    def __exit__(self, *error):
        if self._absent:
            delattr(self._target, self._attribute)
        elif self._local or not isinstance(self._target, type):
            setattr(self._target, self._attribute, self._before)
        else:
            delattr(self._target, self._attribute)

    _started = []

    def start(self):
        _Patch._started.append(self)
        return self.__enter__()

    def stop(self):
        if self in _Patch._started:
            _Patch._started.remove(self)
            self.__exit__(None, None, None)

    def __call__(self, function):
        if isinstance(function, type):
            for name in dir(function):
                if name.startswith("test"):
                    setattr(function, name, self(getattr(function, name)))
            return function
        from functools import wraps

        @wraps(function)
        def patched(*args, **kwargs):
            with self as new:
                return function(*args, *([new] if self._makes else []), **kwargs)

        return patched


def _found(path):
    import importlib

    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        try:
            target = _sys.modules[name] if name in _sys.modules else importlib.import_module(name)
        except ImportError:
            continue
        for part in parts[count:]:
            target = getattr(target, part)
        return target
    raise ModuleNotFoundError(f"No module named '{parts[0]}'")


def patch(target, new=DEFAULT, spec=None, create=False, spec_set=None, autospec=None, new_callable=None, **kwargs):
    path, _, attribute = target.rpartition(".")
    if not path:
        raise TypeError(f"Need a valid target to patch. You supplied: {target!r}")
    return _Patch(lambda: _found(path), attribute, new, kwargs, create, spec, spec_set, autospec, new_callable)


def _patch_object(target, attribute, new=DEFAULT, spec=None, create=False, spec_set=None, autospec=None, new_callable=None, **kwargs):
    return _Patch(lambda: target, attribute, new, kwargs, create, spec, spec_set, autospec, new_callable)


class _PatchDict:
    def __init__(self, in_dict, values=(), clear=False, **kwargs):
        self._dict, self._values, self._clear = in_dict, {**dict(values), **kwargs}, clear

    def __enter__(self):
        self._dict = _found(self._dict) if isinstance(self._dict, str) else self._dict
        self._before = dict(self._dict)
        if self._clear:
            self._dict.clear()
        self._dict.update(self._values)
        return self._dict

    def __exit__(self, *error):
        self._dict.clear()
        self._dict.update(self._before)

    start = __enter__

    def stop(self):
        self.__exit__()

    def __call__(self, function):
        from functools import wraps

        @wraps(function)
        def patched(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return patched


def _stopall():
    for one in list(reversed(_Patch._started)):
        one.stop()


patch.object, patch.dict, patch.stopall = _patch_object, _PatchDict, _stopall
