# SPDX-License-Identifier: Apache-2.0
"""ast.literal_eval: the numbers, texts and containers that a text writes out."""

_closing = {"(": ")", "[": "]", "{": "}"}
_escapes = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"', "b": "\b", "f": "\f", "v": "\v", "a": "\a"}


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def fail(self):
        raise ValueError(f"malformed node or string: {self.text!r}")

    def skip(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1

    def peek(self):
        self.skip()
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self, wanted):
        if self.peek() != wanted:
            return False
        self.at += 1
        return True

    def value(self):
        first = self.peek()
        if first in ("(", "[", "{") and first:
            return self.container(first)
        if first in ("'", '"') and first:
            text = self.string(first)
            while self.peek() in ("'", '"') and self.peek():
                text += self.string(self.peek())
            return text
        if first in ("+", "-") and first:
            self.at += 1
            number = self.value()
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                self.fail()
            return -number if first == "-" else number
        return self.word()

    def word(self):
        begin = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] in "._" or (self.text[self.at] in "+-" and self.text[self.at - 1] in "eE" and self.text[begin].isdigit())):
            self.at += 1
        word = self.text[begin : self.at]
        known = {"True": True, "False": False, "None": None}
        if word in known:
            return known[word]
        if not word or not (word[0].isdigit() or word[0] == "."):
            self.fail()
        try:
            return int(word, 0)
        except ValueError:
            try:
                return float(word)
            except ValueError:
                self.fail()

    def string(self, quote):
        self.at += 1
        out = ""
        while True:
            if self.at >= len(self.text):
                raise SyntaxError("unterminated string literal")
            c = self.text[self.at]
            self.at += 1
            if c == quote:
                return out
            if c == "\\":
                c = self.text[self.at]
                self.at += 1
                if c not in _escapes:
                    self.fail()
                c = _escapes[c]
            out += c

    def container(self, opening):
        self.at += 1
        closing, items, pairs, commas = _closing[opening], [], [], 0
        while not self.take(closing):
            key = self.value()
            if opening == "{" and self.take(":"):
                pairs.append((key, self.value()))
            else:
                items.append(key)
            if self.take(","):
                commas += 1
            elif self.peek() != closing:
                self.fail()
        if opening == "[":
            return items
        if opening == "(":
            return items[0] if len(items) == 1 and not commas else tuple(items)
        if items and pairs:
            self.fail()
        return set(items) if items else dict(pairs)


def literal_eval(node_or_string):
    if not isinstance(node_or_string, str):
        raise ValueError(f"malformed node or string: {node_or_string!r}")
    reader = _Reader(node_or_string.lstrip(" \t"))
    value = reader.value()
    if reader.peek() == ",":
        items = [value]
        while reader.take(",") and reader.peek():
            items.append(reader.value())
        value = tuple(items)
    if reader.peek():
        raise SyntaxError("invalid syntax")
    return value
