# SPDX-License-Identifier: Apache-2.0
class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


class ContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, function):
        def inner(*args, **kwargs):
            with self._recreate_cm():
                return function(*args, **kwargs)

        inner.__name__ = function.__name__
        inner.__wrapped__ = function
        return inner


class closing(AbstractContextManager):
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exception):
        self.thing.close()


class ExitStack(AbstractContextManager):
    def __init__(self):
        self._callbacks = []

    def enter_context(self, context):
        value = context.__enter__()
        self.push(context)
        return value

    def push(self, context):
        self._callbacks.append(context.__exit__ if hasattr(context, "__exit__") else context)
        return context

    def callback(self, function, *args, **kwargs):
        def leave(*exception):
            function(*args, **kwargs)

        self._callbacks.append(leave)
        return function

    def pop_all(self):
        other = type(self)()
        other._callbacks, self._callbacks = self._callbacks, []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, *exception):
        error = exception
        swallowed = False
        while self._callbacks:
            leave = self._callbacks.pop()
            try:
                if leave(*error) and error[1] is not None:
                    error, swallowed = (None, None, None), True
            except Exception as new:
                error, swallowed = (type(new), new, None), False
        if error[1] is not None and error[1] is not exception[1]:
            raise error[1]
        return swallowed and exception[1] is not None
