# SPDX-License-Identifier: Apache-2.0
def fnmatchcase(name, pat):
    if not pat:
        return not name
    head, rest = pat[0], pat[1:]
    if head == "*":
        return any(fnmatchcase(name[i:], rest) for i in range(len(name) + 1))
    if not name:
        return False
    if head == "?":
        return fnmatchcase(name[1:], rest)
    if head == "[" and "]" in rest[1:]:
        end = rest.index("]", 1)
        body, rest = rest[:end], rest[end + 1 :]
        negated = body.startswith("!")
        body = body[1:] if negated else body
        found, i = False, 0
        while i < len(body):
            if i + 2 < len(body) and body[i + 1] == "-":
                found = found or body[i] <= name[0] <= body[i + 2]
                i += 3
            else:
                found = found or body[i] == name[0]
                i += 1
        return found != negated and fnmatchcase(name[1:], rest)
    return name[0] == head and fnmatchcase(name[1:], rest)


fnmatch = fnmatchcase


def filter(names, pat):
    return [name for name in names if fnmatchcase(name, pat)]
