# SPDX-License-Identifier: Apache-2.0
_NOTHING = object()


class Token:
    MISSING = _NOTHING

    def __init__(self, var, old_value):
        self.var, self.old_value = var, old_value


class ContextVar:
    def __init__(self, name, *, default=_NOTHING):
        self.name, self._default, self._value = name, default, _NOTHING

    def get(self, default=_NOTHING):
        if self._value is not _NOTHING:
            return self._value
        if default is not _NOTHING:
            return default
        if self._default is _NOTHING:
            raise LookupError(self)
        return self._default

    def set(self, value):
        token = Token(self, self._value)
        self._value = value
        return token

    def reset(self, token):
        if token.var is not self:
            raise ValueError("the token was created by a different ContextVar")
        self._value = token.old_value
