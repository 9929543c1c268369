# SPDX-License-Identifier: Apache-2.0
import _script
import fnmatch as _fnmatch
import os as _os


def _matches(folder, parts, recursive):
    head, rest = parts[0], parts[1:]
    if not any(mark in head for mark in "*?["):
        path = folder + head
        if _script.exists(path):
            if rest:
                for found in _matches(path + "/", rest, recursive):
                    yield found
            else:
                yield path
        return
    if head == "**" and recursive:
        for row in _os.walk(folder or "."):
            inner = row[0][2:] + "/" if not folder and row[0].startswith("./") else "" if not folder else row[0].rstrip("/") + "/"
            for found in _matches(inner, rest or ["*"], recursive):
                yield found
        return
    for name in _script.listdir(folder or ".") if _script.isdir(folder or ".") else []:
        if not _fnmatch.fnmatchcase(name, head) or (name.startswith(".") and not head.startswith(".")):
            continue
        if not rest:
            yield folder + name
        elif _script.isdir(folder + name):
            for found in _matches(folder + name + "/", rest, recursive):
                yield found


def iglob(pathname, *, recursive=False):
    pathname = _script.fspath(pathname)
    root = "/" if pathname.startswith("/") else ""
    return _matches(root, [part for part in pathname.split("/") if part], recursive)


def glob(pathname, *, recursive=False):
    return list(iglob(pathname, recursive=recursive))
