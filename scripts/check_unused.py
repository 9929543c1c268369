#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names every function that is declared or defined in src/ or tools/ and that nothing calls.

A name that stands once more than it is declared and defined is used; so is one that overrides or implements something, that
the C ABI exports, or that a macro makes. With --tests also those that only tests use.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = r"[a-z]\w*"
# `type name(`, at the beginning of a line of a class or a namespace; what returns, throws or calls is no declaration.
DECLARATION = re.compile(rf"^(?:  )?(?! )(?:\[\[\w+\]\] )?(?:(?:static|inline|constexpr|virtual|explicit|friend|const) )*[\w:<>,&* \[\]]+[ &*>]((?:\w+::)*)({NAME})\((.*)", re.M)
NOT_TYPES = ("return", "throw", "else", "new", "delete", "case", "using", "co_return", "goto")
# Called by MLIR, LLVM, the standard library or the language.
BY_OTHERS = {"main", "begin", "end", "size", "count", "print", "parse", "verify", "build", "fold", "what", "value", "swap", "rbegin", "rend", "max_size"}
MLIR = re.compile(r"^(?:print|parse|verify|register|populate|stringify|infer|materialize|canonicalize$|get|set|addArg|initialize$|areCastCompatible$)")  # by TableGen's code


def without_comments(text):
    return re.sub(r'//[^\n]*|("(?:[^"\\\n]|\\.)*")', lambda m: m[1] or "", text)


def texts(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".hpp", ".c", ".td", ".inc"):
                yield path, without_comments(path.read_text(errors="replace"))


def declared(text, is_header):
    """name -> how often it is declared or defined here; overrides and variables left out."""
    found = collections.Counter()
    for match in DECLARATION.finditer(text):
        head = match[0][: match.start(2) - match.start()]
        if (not is_header and match[0].endswith(";")) or "[&" in match[3]:
            continue
        if not head.split() or head.split()[0] in NOT_TYPES or "override" in text[match.end() - len(match[3]) : match.end() + 200].split("{")[0].split(";")[0]:
            continue
        found[match[2]] += 1
    return found


def main():
    ours = list(texts("src", "tools"))
    declarations, uses, tested = collections.Counter(), collections.Counter(), collections.Counter()
    overridden, place = set(), {}
    for path, text in ours:
        here = declared(text, path.suffix != ".cpp")
        declarations += here
        for name in here:
            place.setdefault(name, path.relative_to(ROOT))
        uses.update(re.findall(r"\w+", text))
        overridden.update(re.findall(rf"({NAME})\([^;{{]*\)[^;{{]*\b(?:override|final)\b", text))
    for _, text in texts("include", "examples"):
        uses.update(re.findall(r"\w+", text))
    for _, text in texts("test", "bench"):
        tested.update(re.findall(r"\w+", text))
    unused = sorted((str(place[name]), name) for name, count in declarations.items()
                    if uses[name] <= count and name not in overridden and name not in BY_OTHERS and not name.startswith("pellucid_")
                    and not (place[name].parts[:2] in (("src", "tt"), ("src", "codegen"), ("tools", "pellucid-opt")) and MLIR.match(name)))
    count = 0
    for path, name in unused:
        if tested[name] and "--tests" not in sys.argv[1:]:
            continue
        count += 1
        print(f"{path}: nothing{' but tests' if tested[name] else ''} calls {name}()")
    print(f"{len(declarations)} names of functions, {count} of nothing")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
