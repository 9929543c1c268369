# SPDX-License-Identifier: Apache-2.0
from _json import scan as _scan

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b"}


def _quoted(text, ensure_ascii):
    out = []
    for character in text:
        code = ord(character)
        if character in _ESCAPES:
            out.append(_ESCAPES[character])
        elif code < 32 or (ensure_ascii and 126 < code < 65536):
            out.append(f"\\u{code:04x}")
        elif ensure_ascii and code > 126:
            high, low = 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)
            out.append(f"\\u{high:04x}\\u{low:04x}")
        else:
            out.append(character)
    return '"' + "".join(out) + '"'


def _number(value, allow_nan):
    if value != value or value in (float("inf"), float("-inf")):
        if not allow_nan:
            raise ValueError(f"Out of range float values are not JSON compliant: {value!r}")
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _key(key, skipkeys, allow_nan):
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, (int, float)):
        return str(key) if isinstance(key, int) else _number(key, allow_nan)
    if skipkeys:
        return None
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")


class JSONDecodeError(ValueError):
    def __init__(self, msg, doc, pos):
        self.msg, self.doc, self.pos = msg, doc, pos
        self.lineno = doc.count("\n", 0, pos) + 1
        self.colno = pos - doc.rfind("\n", 0, pos)
        super().__init__(f"{msg}: line {self.lineno} column {self.colno} (char {pos})")


class JSONEncoder:
    item_separator, key_separator = ", ", ": "

    def __init__(self, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, sort_keys=False, indent=None, separators=None, default=None):
        self.skipkeys, self.ensure_ascii, self.check_circular, self.allow_nan = skipkeys, ensure_ascii, check_circular, allow_nan
        self.sort_keys, self.indent = sort_keys, indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default

    def default(self, o):
        raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")

    def encode(self, o):
        return "".join(self.iterencode(o))

    def iterencode(self, o):
        yield self._text(o, "", [])

    def _listed(self, parts, opening, closing, margin, step):
        if not parts:
            return opening + closing
        if step is None:
            return opening + self.item_separator.join(parts) + closing
        inner = "\n" + margin + step
        return opening + inner + (self.item_separator + inner).join(parts) + "\n" + margin + closing

    def _text(self, value, margin, around):
        if isinstance(value, str):
            return _quoted(value, self.ensure_ascii)
        if value is None or value is True or value is False:
            return "null" if value is None else "true" if value else "false"
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return _number(float(value), self.allow_nan)
        if self.check_circular and any([value is outer for outer in around]):
            raise ValueError("Circular reference detected")
        around = around + [value]
        step = " " * self.indent if isinstance(self.indent, int) else self.indent
        deeper = margin if step is None else margin + step
        if isinstance(value, (list, tuple)):
            return self._listed([self._text(element, deeper, around) for element in value], "[", "]", margin, step)
        if isinstance(value, dict):
            items = sorted(value.items()) if self.sort_keys else value.items()
            named = [(_key(key, self.skipkeys, self.allow_nan), element) for key, element in items]
            parts = [_quoted(key, self.ensure_ascii) + self.key_separator + self._text(element, deeper, around) for key, element in named if key is not None]
            return self._listed(parts, "{", "}", margin, step)
        return self._text(self.default(value), margin, around)


class JSONDecoder:
    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, strict=True, object_pairs_hook=None):
        self.object_hook, self.object_pairs_hook, self.strict = object_hook, object_pairs_hook, strict
        self._hooks = {"object_hook": object_hook, "object_pairs_hook": object_pairs_hook, "parse_float": parse_float, "parse_int": parse_int, "parse_constant": parse_constant}

    def _skip(self, s, end):
        while end < len(s) and s[end] in " \t\n\r":
            end += 1
        return end

    def raw_decode(self, s, idx=0):
        value, end, message = _scan(s, idx, self._hooks, self.strict)
        if message is not None:
            raise JSONDecodeError(message, s, end)
        return value, end

    def decode(self, s):
        value, end = self.raw_decode(s, len(s) - len(s.lstrip(" \t\n\r")))
        if end != len(s) and s[end:].strip(" \t\n\r"):
            raise JSONDecodeError("Extra data", s, self._skip(s, end))
        return value


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None, default=None, sort_keys=False, **kw):
    return (JSONEncoder if cls is None else cls)(
        skipkeys=skipkeys, ensure_ascii=ensure_ascii, check_circular=check_circular, allow_nan=allow_nan, indent=indent, separators=separators, default=default, sort_keys=sort_keys, **kw
    ).encode(obj)


def dump(obj, fp, **kw):
    fp.write(dumps(obj, **kw))


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, object_pairs_hook=None, **kw):
    if not isinstance(s, str):
        if not hasattr(s, "decode"):
            raise TypeError(f"the JSON object must be str, bytes or bytearray, not {type(s).__name__}")
        s = s.decode("utf-8")
    return (JSONDecoder if cls is None else cls)(
        object_hook=object_hook, parse_float=parse_float, parse_int=parse_int, parse_constant=parse_constant, object_pairs_hook=object_pairs_hook, **kw
    ).decode(s)


def load(fp, **kw):
    return loads(fp.read(), **kw)
