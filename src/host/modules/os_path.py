# SPDX-License-Identifier: Apache-2.0
import _script
from _script import exists, isdir, isfile, islink, realpath

sep = "/"
lexists = exists


def join(path, *paths):
    out = _script.fspath(path)
    for part in paths:
        part = _script.fspath(part)
        if part.startswith("/"):
            out = part
        elif not out or out.endswith("/"):
            out += part
        else:
            out += "/" + part
    return out


def split(path):
    path = _script.fspath(path)
    i = path.rfind("/") + 1
    head, tail = path[:i], path[i:]
    if head and head != "/" * len(head):
        head = head.rstrip("/")
    return head, tail


def dirname(path):
    return split(path)[0]


def basename(path):
    return split(path)[1]


def splitext(path):
    path = _script.fspath(path)
    name = basename(path)
    stem = name.lstrip(".")
    dot = stem.rfind(".")
    if dot <= 0 and not (dot == 0 and len(stem) < len(name)):
        if dot != 0:
            return path, ""
    if dot < 0:
        return path, ""
    cut = len(path) - (len(stem) - dot)
    return path[:cut], path[cut:]


def isabs(path):
    return _script.fspath(path).startswith("/")


def normpath(path):
    path = _script.fspath(path)
    if not path:
        return "."
    root = "/" if path.startswith("/") else ""
    parts = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".." or not root:
            parts.append(part)
    return root + "/".join(parts) or "."


def abspath(path):
    path = _script.fspath(path)
    return normpath(path if path.startswith("/") else join(_script.getcwd(), path))


def relpath(path, start="."):
    origin = [part for part in abspath(start).split("/") if part]
    target = [part for part in abspath(path).split("/") if part]
    same = 0
    while same < min(len(origin), len(target)) and origin[same] == target[same]:
        same += 1
    return "/".join([".."] * (len(origin) - same) + target[same:]) or "."


def commonpath(paths):
    parts = [[part for part in _script.fspath(path).split("/") if part] for path in paths]
    first, same = parts[0], 0
    while same < min(len(row) for row in parts) and all(row[same] == first[same] for row in parts):
        same += 1
    root = "/" if _script.fspath(paths[0]).startswith("/") else ""
    return root + "/".join(first[:same])


def expanduser(path):
    path = _script.fspath(path)
    home = _script.environment().get("HOME")
    if home and (path == "~" or path.startswith("~/")):
        return home.rstrip("/") + path[1:]
    return path


def expandvars(path):
    path, out, environment = _script.fspath(path), "", _script.environment()
    while "$" in path:
        before, _, rest = path.partition("$")
        out += before
        if rest.startswith("{") and "}" in rest:
            name, _, after = rest[1:].partition("}")
            spelling = "${" + name + "}"
        else:
            end = 0
            while end < len(rest) and (rest[end].isalnum() or rest[end] == "_"):
                end += 1
            name, after, spelling = rest[:end], rest[end:], "$" + rest[:end]
        out += environment.get(name, spelling)
        path = after
    return out + path


def getsize(path):
    return _script.stat(path)[1]


def getmtime(path):
    return _script.stat(path)[2]


def getatime(path):
    return _script.stat(path)[3]


def getctime(path):
    return _script.stat(path)[4]


def samefile(path1, path2):
    return realpath(path1) == realpath(path2)
