# SPDX-License-Identifier: Apache-2.0
A = ASCII = 256
I = IGNORECASE = 2
L = LOCALE = 4
M = MULTILINE = 8
S = DOTALL = 16
U = UNICODE = 32
X = VERBOSE = 64
NOFLAG = 0
RegexFlag = int
_MATCH, _SEARCH, _FULL = 0, 1, 2
_NO_END = 1 << 62
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b", "\\": "\\"}


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        self.msg, self.pattern, self.pos = msg, pattern, pos
        super().__init__(msg)


PatternError = error


class Match:
    def __init__(self, pattern, text, pos, endpos, spans):
        self.re, self.string, self.pos, self.endpos = pattern, text, pos, endpos
        self._spans = spans[:-1]
        self.lastindex = spans[-1] or None

    @property
    def lastgroup(self):
        for name, index in self.re.groupindex.items():
            if index == self.lastindex:
                return name
        return None

    def _index(self, group):
        index = self.re.groupindex.get(group, -1) if isinstance(group, str) else group
        if not isinstance(index, int) or index < 0 or index > self.re.groups:
            raise IndexError("no such group")
        return index

    def span(self, group=0):
        return self._spans[self._index(group)]

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    @property
    def regs(self):
        return self._spans

    def _text(self, group, default):
        first, last = self.span(group)
        return default if first < 0 else self.string[first:last]

    def group(self, *groups):
        if len(groups) > 1:
            return tuple([self._text(group, None) for group in groups])
        return self._text(groups[0] if groups else 0, None)

    def __getitem__(self, group):
        return self._text(group, None)

    def groups(self, default=None):
        return tuple([self._text(index, default) for index in range(1, self.re.groups + 1)])

    def groupdict(self, default=None):
        return {name: self._text(index, default) for name, index in self.re.groupindex.items()}

    def expand(self, template):
        return "".join(_filled(part, self) for part in _template(self.re, template))

    def __repr__(self):
        return f"<re.Match object; span={self.span()!r}, match={self.group()!r}>"


class Pattern:
    def __init__(self, pattern, flags):
        compiled = _compile(pattern, flags)
        if isinstance(compiled, str):
            raise error(compiled, pattern)
        self.pattern, self._compiled = pattern, compiled
        self.groups, self.groupindex, self.flags = _describe(compiled)

    def _all(self, text, mode, limit, pos=0, endpos=_NO_END):
        if not isinstance(text, str):
            raise TypeError(f"expected string or bytes-like object, got '{type(text).__name__}'")
        size = len(text)
        pos, endpos = min(max(pos, 0), size), min(max(endpos, 0), size)
        return [Match(self, text, pos, endpos, spans) for spans in _scan(self._compiled, text, pos, endpos, mode, limit)]

    def _one(self, text, mode, pos, endpos):
        found = self._all(text, mode, 1, pos, endpos)
        return found[0] if found else None

    def match(self, string, pos=0, endpos=_NO_END):
        return self._one(string, _MATCH, pos, endpos)

    def search(self, string, pos=0, endpos=_NO_END):
        return self._one(string, _SEARCH, pos, endpos)

    def fullmatch(self, string, pos=0, endpos=_NO_END):
        return self._one(string, _FULL, pos, endpos)

    def finditer(self, string, pos=0, endpos=_NO_END):
        return iter(self._all(string, _SEARCH, 0, pos, endpos))

    def findall(self, string, pos=0, endpos=_NO_END):
        found = self._all(string, _SEARCH, 0, pos, endpos)
        if self.groups > 1:
            return [match.groups("") for match in found]
        return [match._text(self.groups, "") for match in found]

    def split(self, string, maxsplit=0):
        out, last = [], 0
        for match in self._all(string, _SEARCH, maxsplit) if maxsplit >= 0 else []:
            out.append(string[last : match.start()])
            out.extend(match.groups())
            last = match.end()
        out.append(string[last:])
        return out

    def subn(self, repl, string, count=0):
        parts = None if callable(repl) else _template(self, repl)
        out, last, found = [], 0, self._all(string, _SEARCH, count) if count >= 0 else []
        for match in found:
            out.append(string[last : match.start()])
            out.append(repl(match) if parts is None else "".join([_filled(part, match) for part in parts]))
            last = match.end()
        out.append(string[last:])
        return "".join(out), len(found)

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def __eq__(self, other):
        return isinstance(other, Pattern) and (self.pattern, self.flags) == (other.pattern, other.flags)

    def __hash__(self):
        return hash((self.pattern, self.flags))

    def __repr__(self):
        return f"re.compile({self.pattern!r})"


def _filled(part, match):
    return part if isinstance(part, str) else match._text(part, "")


def _reference(pattern, name, template):
    if name.isdigit():
        index = int(name)
        if index > pattern.groups:
            raise error(f"invalid group reference {index}", template)
        return index
    if name not in pattern.groupindex:
        raise IndexError(f"unknown group name '{name}'") if name.isidentifier() else error(f"bad character in group name '{name}'", template)
    return pattern.groupindex[name]


def _template(pattern, template):
    """The parts of a replacement: texts and the numbers of groups."""
    if not isinstance(template, str):
        raise TypeError(f"expected str instance, {type(template).__name__} found")
    parts, at, size = [], 0, len(template)
    while at < size:
        slash = template.find("\\", at)
        if slash < 0:
            slash = size
        parts.append(template[at:slash])
        if slash == size:
            break
        if slash + 1 == size:
            raise error("bad escape (end of pattern)", template)
        c, at = template[slash + 1], slash + 2
        if c == "g":
            close = template.find(">", at)
            if template[at : at + 1] != "<" or close < 0:
                raise error("missing <" if template[at : at + 1] != "<" else "missing >, unterminated name", template)
            parts.append(_reference(pattern, template[at + 1 : close], template))
            at = close + 1
        elif c in "0123456789":
            digits = c
            while at < size and len(digits) < 3 and template[at] in "0123456789":
                digits, at = digits + template[at], at + 1
            part, used = _digits(pattern, digits, template)
            parts.append(part)
            at -= len(digits) - used
        elif c in _ESCAPES:
            parts.append(_ESCAPES[c])
        elif c.isalpha() and c.isascii():
            raise error(f"bad escape \\{c}", template)
        else:
            parts.append("\\" + c)
    return parts


def _digits(pattern, digits, template):
    """What \\12 stands for in a replacement, and how many of the digits belong to it."""
    octal = 0
    while octal < len(digits) and digits[octal] in "01234567":
        octal += 1
    if digits[0] == "0":
        used = min(octal, 3)
        return chr(int(digits[:used], 8) & 255), used
    if octal == 3:
        if int(digits, 8) > 255:
            raise error(f"octal escape value \\{digits} outside of range 0-0o377", template)
        return chr(int(digits, 8)), 3
    used = min(len(digits), 2)
    return _reference(pattern, digits[:used], template), used


_compiled_patterns = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    if not isinstance(pattern, str):
        raise TypeError("first argument must be string or compiled pattern")
    key = (pattern, int(flags))
    if key not in _compiled_patterns:
        _compiled_patterns[key] = Pattern(pattern, int(flags))
    return _compiled_patterns[key]


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def escape(pattern):
    return "".join(["\\" + c if c in "()[]{}?*+-|^$\\.&~# \t\n\r\v\f" else c for c in pattern])


def purge():
    _compiled_patterns.clear()
