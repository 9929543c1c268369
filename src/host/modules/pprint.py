# SPDX-License-Identifier: Apache-2.0
import sys as _sys


def _text(value, indent, width, taken):
    plain = repr(value)
    if len(plain) + taken <= width:
        return plain
    pad = " " * (taken + indent)
    if isinstance(value, dict) and type(value) is dict and value:
        rows = []
        for key in sorted(value, key=str):
            name = repr(key) + ": "
            rows.append(name + _text(value[key], indent, width, taken + indent + len(name)))
        return "{" + (",\n" + pad).join(rows) + "}"
    if isinstance(value, (list, tuple, set)) and type(value) in (list, tuple, set) and value:
        opening, closing = {list: "[]", tuple: "()", set: "{}"}[type(value)]
        rows = [_text(element, indent, width, taken + indent) for element in value]
        return opening + (",\n" + pad).join(rows) + closing
    return plain


def pformat(object, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True):
    if depth is not None or compact or not sort_dicts:
        raise NotImplementedError("pprint: depth, compact and sort_dicts=False")
    return _text(object, indent, width, 0)


def pprint(object, stream=None, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True):
    (_sys.stdout if stream is None else stream).write(pformat(object, indent, width, depth, compact=compact, sort_dicts=sort_dicts) + "\n")


pp = pprint
