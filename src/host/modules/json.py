# SPDX-License-Identifier: Apache-2.0
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


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None, default=None, sort_keys=False):
    if cls is not None:
        raise NotImplementedError("json.dumps with an encoder class; pass default=")
    step = " " * indent if isinstance(indent, int) else indent
    comma, colon = separators if separators is not None else ("," if indent is not None else ", ", ": ")

    def listed(parts, opening, closing, margin):
        if not parts:
            return opening + closing
        if step is None:
            return opening + comma.join(parts) + closing
        inner = "\n" + margin + step
        return opening + inner + (comma + inner).join(parts) + "\n" + margin + closing

    def text(value, margin):
        if isinstance(value, str):
            return _quoted(value, ensure_ascii)
        if value is None or isinstance(value, bool):
            return "null" if value is None else "true" if value else "false"
        if isinstance(value, int):
            return str(int(value))
        if isinstance(value, float):
            return _number(value, allow_nan)
        deeper = margin if step is None else margin + step
        if isinstance(value, (list, tuple)):
            return listed([text(element, deeper) for element in value], "[", "]", margin)
        if isinstance(value, dict):
            named = [(_key(key, skipkeys, allow_nan), element) for key, element in value.items()]
            named = [pair for pair in named if pair[0] is not None]
            if sort_keys:
                named = sorted(named, key=lambda pair: pair[0])
            return listed([_quoted(key, ensure_ascii) + colon + text(element, deeper) for key, element in named], "{", "}", margin)
        if default is None:
            raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
        return text(default(value), margin)

    return text(obj, "")
