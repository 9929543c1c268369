# SPDX-License-Identifier: Apache-2.0
import _warnings_place
import sys as _sys

_filters, _shown = [], set()
_recorded = []


class WarningMessage:
    def __init__(self, message, category, filename, lineno):
        self.message, self.category, self.filename, self.lineno = message, category, filename, lineno

    def __str__(self):
        return f"{{message : {self.message!r}, category : {self.category.__name__!r}, filename : {self.filename!r}, lineno : {self.lineno}}}"


def formatwarning(message, category, filename, lineno, line=None):
    line = _warnings_place.line(filename, lineno) if line is None else line
    text = f"{filename}:{lineno}: {category.__name__}: {message}\n"
    return text + (f"  {line.strip()}\n" if line.strip() else "")


def showwarning(message, category, filename, lineno, file=None, line=None):
    (_sys.stderr if file is None else file).write(formatwarning(message, category, filename, lineno, line))


def _action(message, category):
    for action, pattern, kind in _filters:
        if issubclass(category, kind) and (not pattern or _warnings_place.matches(pattern, str(message))):
            return action
    if issubclass(category, (PendingDeprecationWarning, ImportWarning, ResourceWarning)):
        return "ignore"
    return "default"


def warn(message, category=None, stacklevel=1, source=None):
    if isinstance(message, Warning):
        category = type(message)
    if category is None:
        category = UserWarning
    filename, lineno, own = _warnings_place.caller(stacklevel)
    action = _action(message, category)
    if action == "error":
        raise message if isinstance(message, Warning) else category(message)
    if action == "ignore" or (category is DeprecationWarning and action == "default" and not own):
        return
    text = message if isinstance(message, Warning) else category(message)
    key = (str(message), category, None if action == "once" else filename, None if action in ("once", "module") else lineno)
    if action != "always":
        if key in _shown:
            return
        _shown.add(key)
    if _recorded:
        _recorded[-1].append(WarningMessage(text, category, filename, lineno))
    else:
        showwarning(message, category, filename, lineno)


def warn_explicit(message, category, filename, lineno, module=None, registry=None):
    action = _action(message, category)
    if action == "error":
        raise message if isinstance(message, Warning) else category(message)
    if action != "ignore":
        showwarning(message, category, filename, lineno)


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    if module or lineno:
        raise NotImplementedError("warnings.filterwarnings(): module and lineno")
    if action not in ("error", "ignore", "always", "default", "module", "once"):
        raise AssertionError(f"invalid action: {action!r}")
    entry = (action, message, category)
    if append:
        _filters.append(entry)
    else:
        _filters.insert(0, entry)


def simplefilter(action, category=Warning, lineno=0, append=False):
    filterwarnings(action, "", category, "", lineno, append)


def resetwarnings():
    del _filters[:]


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None, category=Warning, lineno=0, append=False):
        if module is not None:
            raise NotImplementedError("warnings.catch_warnings(): module")
        self._record, self._action, self._category, self._place = record, action, category, (lineno, append)

    def __enter__(self):
        self._saved, self._seen = list(_filters), set(_shown)
        _shown.clear()
        if self._action is not None:
            simplefilter(self._action, self._category, *self._place)
        if self._record:
            log = []
            _recorded.append(log)
            return log

    def __exit__(self, *exception):
        _filters[:] = self._saved
        _shown.clear()
        _shown.update(self._seen)
        if self._record:
            _recorded.pop()
