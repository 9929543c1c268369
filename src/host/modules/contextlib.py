# SPDX-License-Identifier: Apache-2.0
from abc import ABC as _ABC


class AbstractContextManager(_ABC):
    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return None


class ContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, func):
        from functools import wraps

        @wraps(func)
        def inner(*args, **kwargs):
            with self._recreate_cm():
                return func(*args, **kwargs)

        return inner


class closing(AbstractContextManager):
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exc_info):
        self.thing.close()


class _Redirect(AbstractContextManager):
    def __init__(self, new_target):
        self._new_target, self._old_targets = new_target, []

    def __enter__(self):
        import sys

        self._old_targets.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._new_target)
        return self._new_target

    def __exit__(self, exc_type, exc_value, traceback):
        import sys

        setattr(sys, self._stream, self._old_targets.pop())


class redirect_stdout(_Redirect):
    _stream = "stdout"


class redirect_stderr(_Redirect):
    _stream = "stderr"


class chdir(AbstractContextManager):
    def __init__(self, path):
        self.path, self._old = path, []

    def __enter__(self):
        import os

        self._old.append(os.getcwd())
        os.chdir(self.path)

    def __exit__(self, *exc_info):
        import os

        os.chdir(self._old.pop())


class ExitStack(AbstractContextManager):
    def __init__(self):
        self._exit_callbacks = []

    def enter_context(self, cm):
        kind = type(cm)
        if not hasattr(cm, "__enter__") or not hasattr(cm, "__exit__"):
            raise TypeError(f"'{kind.__module__}.{kind.__qualname__}' object does not support the context manager protocol")
        leave = cm.__exit__
        value = cm.__enter__()
        self._exit_callbacks.append(leave)
        return value

    def push(self, exit):
        self._exit_callbacks.append(exit.__exit__ if hasattr(exit, "__exit__") else exit)
        return exit

    def callback(self, callback, /, *args, **kwds):
        def leave(*exception):
            callback(*args, **kwds)

        self._exit_callbacks.append(leave)
        return callback

    def pop_all(self):
        other = type(self)()
        other._exit_callbacks, self._exit_callbacks = self._exit_callbacks, []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, *exc_info):
        current, swallowed = exc_info[1], False
        while self._exit_callbacks:
            leave = self._exit_callbacks.pop()
            try:
                if leave(None if current is None else type(current), current, None) and current is not None:
                    current, swallowed = None, True
            except BaseException as new:
                if new is not current and new.__context__ is None:
                    new.__context__ = current
                current, swallowed = new, False
        if current is not None and current is not exc_info[1]:
            raise current
        return swallowed and exc_info[1] is not None
