#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our AST with CPython's, every node and every position, over the running Python's standard library.

usage: compare_with_cpython.py path/to/syntax_ast_dump [directory or file ...]

Files that CPython refuses are counted and must be refused by us as well. Not compared, each counted:
  * positions inside f-strings (masked on both sides): CPython before 3.12 parses a replacement field as a text of its
    own and reports places that do not exist in the file;
  * files that this parser refuses by design: \\N{...} escapes and encodings other than UTF-8, ASCII and Latin-1;
  * files with identifiers that NFKC normalization would change.
"""
import ast
import concurrent.futures
import os
import subprocess
import sys
import tokenize
import unicodedata
import warnings

REFUSED_BY_DESIGN = (
    "named character escapes",
    "is not supported; save the file as UTF-8",
)
SKIPPED = 77


def make_dumper():
    """A dumper per node class, some ten times as fast as ast.dump; held against ast.dump on sampled files."""
    writers = {}

    def text_of(value, masked):
        if isinstance(value, ast.AST):
            writer = writers.get(type(value))
            if writer is None:
                writer = writers[type(value)] = make_writer(type(value))
            return writer(value, masked)
        if type(value) is list:
            return "[" + ", ".join([text_of(item, masked) for item in value]) + "]"
        return repr(value)

    def make_writer(cls):
        fields = [(name, getattr(cls, name, ...) is None) for name in cls._fields]
        attributes = cls._attributes
        name_of_class = cls.__name__
        is_joined = cls is ast.JoinedStr

        def write(node, masked):
            parts = []
            inner = masked or is_joined
            for name, optional in fields:
                value = getattr(node, name)
                if value is None and optional:
                    continue
                parts.append(name + "=" + text_of(value, inner))
            for name in attributes:
                parts.append(name + "=" + ("0" if masked else str(getattr(node, name))))
            return name_of_class + "(" + ", ".join(parts) + ")"

        return write

    return lambda tree: text_of(tree, False)


fast_dump = make_dumper()


def mask_fstrings(tree):
    for outer in ast.walk(tree):
        if isinstance(outer, ast.JoinedStr):
            for part in outer.values:
                for node in ast.walk(part):
                    for name in node._attributes:
                        setattr(node, name, 0)


def expected_dump(path, sampled):
    """CPython's dump, or None where it refuses the file."""
    with open(path, "rb") as stream:
        source = stream.read()
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    text = fast_dump(tree)
    if sampled:
        mask_fstrings(tree)
        assert text == ast.dump(tree, include_attributes=True), "the fast dumper is wrong on " + path
    return text


def changes_under_nfkc(path):
    with open(path, "rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type == tokenize.NAME and not token.string.isascii():
                if unicodedata.normalize("NFKC", token.string) != token.string:
                    return True
    return False


class OurDumper:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def dump(self, path):
        """(whether it parsed, the dump or the diagnostic)"""
        self.process.stdin.write(path.encode() + b"\n")
        self.process.stdin.flush()
        header = self.process.stdout.readline().split()
        if len(header) != 2:
            sys.exit("syntax_ast_dump died on " + path)
        text = self.process.stdout.read(int(header[1]))
        parsed = header[0] == b"ok"
        return parsed, text.decode("utf-8", "surrogatepass" if parsed else "replace")


def first_difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    begin = max(0, at - 120)
    return "  ours:    ...%s\n  cpython: ...%s" % (ours[begin : at + 80], theirs[begin : at + 80])


def compare_chunk(program, numbered_paths):
    """(kind, path, detail) per file; kinds: same, differ, refused, by_design, nfkc."""
    sys.setrecursionlimit(20000)
    warnings.simplefilter("ignore")
    ours = OurDumper(program)
    results = []
    for number, path in numbered_paths:
        theirs = expected_dump(path, sampled=number % 40 == 0)
        parsed, text = ours.dump(path)
        if theirs is None:
            results.append(("differ", path, "  CPython refuses it, we do not") if parsed else ("refused", path, ""))
        elif not parsed and any(reason in text for reason in REFUSED_BY_DESIGN):
            results.append(("by_design", path, ""))
        elif parsed and text == theirs:
            results.append(("same", path, ""))
        elif changes_under_nfkc(path):
            results.append(("nfkc", path, ""))
        else:
            results.append(("differ", path, first_difference(text, theirs) if parsed else text))
    ours.process.stdin.close()
    ours.process.wait()
    return results


def python_files(roots):
    for root in roots:
        if os.path.isfile(root):
            yield root
        for directory, directories, names in os.walk(root):
            directories.sort()
            if "site-packages" in directories:
                directories.remove("site-packages")
            for name in sorted(names):
                if name.endswith(".py"):
                    yield os.path.join(directory, name)


def main():
    if sys.version_info[:2] != (3, 11):
        print("skipped: the dump is the one of Python 3.11, this is", sys.version.split()[0])
        return SKIPPED
    program, roots = sys.argv[1], sys.argv[2:]
    whole_library = not roots
    paths = list(enumerate(python_files(roots or [os.path.dirname(os.__file__)])))
    workers = min(os.cpu_count() or 1, 8)
    counts = dict.fromkeys(("same", "differ", "refused", "by_design", "nfkc"), 0)
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        chunks = [paths[i :: workers * 4] for i in range(workers * 4)]
        for results in pool.map(compare_chunk, [program] * len(chunks), chunks):
            for kind, path, detail in results:
                counts[kind] += 1
                if kind == "differ":
                    print("DIFFERS: %s\n%s" % (path, detail))
                elif kind != "same":
                    print("%s: %s" % (kind, path))
    compared = counts["same"] + counts["differ"]
    print("%d files compared, %d differ" % (compared, counts["differ"]))
    print("%(refused)d refused by both, %(by_design)d refused by design, %(nfkc)d need NFKC" % counts)
    if whole_library and compared < 500:
        print("too few files: a standard library has many more")
        return 1
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
