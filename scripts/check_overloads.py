#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several sources of a layer may be compiled as one (PELLUCID_UNITY), and a function of a source's own (in its unnamed namespace, or
static) is then an overload beside another source's function of that name: where both can take a call of as many arguments, the
compiler may choose another one than it chose for the source alone, and says nothing. So no two sources of a layer that are compiled
together have such a pair. Sources in a target's ALONE list are not looked at: they meet no other."""

import argparse
import collections
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLANK = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M
)
NOT_NAMES = {"if", "for", "while", "switch", "catch", "return", "defined", "alignas", "decltype", "noexcept", "requires", "sizeof"}


def blanked(text):
    """The text without comments, literals and directives; lines stay where they are."""
    return BLANK.sub(lambda match: " " + "\n" * match[0].count("\n") + ("0" if match[0][:1] in "'\"R" else ""), text)


def split_arguments(text):
    """The parameters of a list, split at commas that no bracket encloses."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += letter in "([{<"
        depth -= letter in ")]}>"
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [part for part in [*parts, part] if part.strip() and part.strip() != "void"]


def arguments_taken(parameters):
    """The least and the largest number of arguments that a call can have."""
    least = sum("=" not in part and "..." not in part for part in parameters)
    return least, 1000 if any("..." in part for part in parameters) else len(parameters)


def function_of(head):
    """The name and the number of arguments of the definition whose text before its body is `head`, or None: methods that are
    defined outside their class, operators and anything that is no function."""
    head = re.sub(r"\btemplate\s*<", "<", head)
    for match in re.finditer(r"(?<![\w:~])([A-Za-z_]\w*)\s*\(", head):
        if match[1] in NOT_NAMES or match[1].isupper():
            continue
        depth, end = 0, match.end() - 1
        for end in range(match.end() - 1, len(head)):
            depth += head[end] == "("
            depth -= head[end] == ")"
            if depth == 0:
                break
        before, after = head[: match.start()].rstrip(), head[end + 1 :].strip()
        if not before or before.endswith(("=", "->", ",", "(", "return", "operator")):
            continue
        if re.fullmatch(r"(?:const|noexcept|override|\s)*(?:->.*)?", after, re.S):
            return match[1], arguments_taken(split_arguments(head[match.end() : end]))
    return None


def functions(text):
    """(name, arguments taken, is the source's own, line) of each function that a source defines at the level of a namespace."""
    text, found = blanked(text), []
    scopes, position, head_start = [], 0, 0
    while position < len(text):
        letter = text[position]
        if letter == "{":
            head = text[head_start:position]
            space = re.search(r"\bnamespace\b\s*([\w:]*)\s*$", head)
            linkage = re.search(r"\bextern\s+0\s*$", head)
            if space or linkage:
                scopes.append(space is not None and not space[1])
            else:
                function = function_of(head)
                if function:
                    own = any(scopes) or re.search(r"\bstatic\b", head) is not None
                    found.append((*function, own, text.count("\n", 0, position) + 1))
                depth = 0
                for position in range(position, len(text)):
                    depth += text[position] == "{"
                    depth -= text[position] == "}"
                    if depth == 0:
                        break
            head_start = position + 1
        elif letter == "}":
            if scopes:
                scopes.pop()
            head_start = position + 1
        elif letter == ";":
            head_start = position + 1
        position += 1
    return found


def sources_of(lists):
    """The sources of the target in a CMakeLists.txt that are compiled together: those of its folder, and of folders below without a
    list of their own, that no ALONE names."""
    text = re.sub(r"#[^\n]*", "", lists.read_text())
    alone = set()
    for match in re.finditer(r"\bALONE\b([^)]*?)(?=\b[A-Z_]{3,}\b|\))", text):
        alone |= set(re.findall(r"([\w/.]+)\.cpp", match[1]))
    below = {path.parent for path in lists.parent.rglob("CMakeLists.txt")} - {lists.parent}
    for path in sorted(lists.parent.rglob("*.cpp")):
        if not any(folder in path.parents for folder in below) and str(path.relative_to(lists.parent))[:-4] not in alone:
            yield path


def pairs(layer):
    """The pairs of definitions of one layer, {path: text}, that are overloads only where sources are compiled together."""
    by_name = collections.defaultdict(list)
    for path, text in layer.items():
        for name, taken, own, line in functions(text):
            by_name[name].append((path, line, taken, own))
    for name, definitions in sorted(by_name.items()):
        for one, other in itertools.combinations(definitions, 2):
            apart = one[2][1] < other[2][0] or other[2][1] < one[2][0]
            if one[0] != other[0] and (one[3] or other[3]) and not apart:
                yield name, one, other


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", default=["src", "tools"], help="folders with CMakeLists.txt")
    wrong = count = 0
    for folder in parser.parse_args().folders:
        for lists in sorted((ROOT / folder).rglob("CMakeLists.txt")):
            layer = {path: path.read_text() for path in sources_of(lists)}
            count += sum(len(functions(text)) for text in layer.values())
            for name, one, other in pairs(layer):
                wrong += 1
                where = [f"{path.relative_to(ROOT)}:{line}" for path, line, _, _ in (one, other)]
                print(f"{where[0]}: {name} is also a function of {where[1]}, which is compiled with it: give the source's own one a name of its own")
    print(f"{count} functions, {wrong} pairs")
    sys.exit(bool(wrong) or count == 0)


if __name__ == "__main__":
    main()
