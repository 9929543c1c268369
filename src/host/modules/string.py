# SPDX-License-Identifier: Apache-2.0
ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdefABCDEF"
octdigits = "01234567"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
whitespace = " \t\n\r\v\f"
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join(word.capitalize() for word in s.split(sep))


class Template:
    """Texts with `$name` and `${name}` in them; `$$` is the delimiter itself."""

    delimiter = "$"

    def __init__(self, template):
        self.template = template

    def _parts(self):
        """Yields (text before, name or None, the placeholder as written, where it begins); the name is None for the delimiter
        doubled and at the end, and the placeholder None where it is not well formed."""
        text, mark, at = self.template, self.delimiter, 0
        while True:
            found = text.find(mark, at)
            if found < 0:
                yield text[at:], None, "", len(text)
                return
            after = found + len(mark)
            braced = text[after:after + 1] == "{"
            begin = after + 1 if braced else after
            end = begin
            while end < len(text) and (text[end] in ascii_letters or text[end] == "_" or (end > begin and text[end] in digits)):
                end += 1
            closes = not braced or text[end:end + 1] == "}"
            if text.startswith(mark, after):
                yield text[at:found], None, mark * 2, found
                at = after + len(mark)
            elif end > begin and closes:
                stop = end + 1 if braced else end
                yield text[at:found], text[begin:end], text[found:stop], found
                at = stop
            else:
                yield text[at:found], None, None, found
                at = after

    def _invalid(self, at):
        lines = self.template[:at].splitlines(keepends=True)
        column = at + 1 if not lines else at - len("".join(lines[:-1])) + 1
        raise ValueError(f"Invalid placeholder in string: line {len(lines) or 1}, col {column}")

    def substitute(self, mapping={}, /, **kws):
        made = []
        for before, name, written, at in self._parts():
            if written is None:
                self._invalid(at)
            made.append(before)
            made.append(str(kws[name] if name in kws else mapping[name]) if name is not None else self.delimiter if written else "")
        return "".join(made)

    def safe_substitute(self, mapping={}, /, **kws):
        made = []
        for before, name, written, at in self._parts():
            made.append(before)
            if name is not None:
                made.append(str(kws[name]) if name in kws else str(mapping[name]) if name in mapping else written)
            else:
                made.append(self.delimiter if written is None or written else "")
        return "".join(made)

    def is_valid(self):
        return all(written is not None for _, _, written, _ in self._parts())

    def get_identifiers(self):
        names = []
        for _, name, written, at in self._parts():
            if written is None:
                self._invalid(at)
            if name is not None and name not in names:
                names.append(name)
        return names
