# SPDX-License-Identifier: Apache-2.0
def _pieces(text):
    """Words, broken behind hyphens inside of them, each with whether a blank stands before it."""
    out = []
    for word in text.split():
        first, start = True, 0
        for i in range(1, len(word) - 1):
            if word[i] == "-" and word[i - 1].isalpha() and word[i + 1].isalpha() and i - start >= 2:
                out.append((first, word[start : i + 1]))
                first, start = False, i + 1
        out.append((first, word[start:]))
    return out


def wrap(text, width=70, *, initial_indent="", subsequent_indent="", break_long_words=True, break_on_hyphens=True, **options):
    if options:
        raise NotImplementedError(f"textwrap: {', '.join(options)}")
    lines, line = [], None
    pieces = _pieces(text) if break_on_hyphens else [(True, word) for word in text.split()]
    for blank, piece in pieces:
        indent = subsequent_indent if lines else initial_indent
        room = max(width - len(indent), 1)
        joined = piece if line is None else line + (" " if blank else "") + piece
        if line is not None and len(joined) > room:
            lines.append(indent + line)
            line, indent = None, subsequent_indent
            room = max(width - len(indent), 1)
            joined = piece
        while break_long_words and len(joined) > room:
            lines.append((subsequent_indent if lines else initial_indent) + joined[:room])
            joined = joined[room:]
        line = joined
    if line is not None and line != "":
        lines.append((subsequent_indent if lines else initial_indent) + line)
    return lines


def fill(text, width=70, **options):
    return "\n".join(wrap(text, width, **options))


def shorten(text, width, *, placeholder=" [...]"):
    words = text.split()
    if len(" ".join(words)) <= width:
        return " ".join(words)
    while words and len(" ".join(words)) + len(placeholder) > width:
        words.pop()
    return " ".join(words) + placeholder if words else placeholder.lstrip()


def dedent(text):
    lines = text.split("\n")
    lines = [line if line.strip() else "" for line in lines]
    margin = None
    for line in lines:
        if not line:
            continue
        own = line[: len(line) - len(line.lstrip(" \t"))]
        if margin is None:
            margin = own
        while not own.startswith(margin):
            margin = margin[:-1]
    return "\n".join(line[len(margin) :] if line else line for line in lines) if margin else "\n".join(lines)


def indent(text, prefix, predicate=None):
    out = []
    for line in text.splitlines(keepends=True):
        wanted = line.strip() if predicate is None else predicate(line)
        out.append(prefix + line if wanted else line)
    return "".join(out)
