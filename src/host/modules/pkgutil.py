# SPDX-License-Identifier: Apache-2.0
import os as _os
from collections import namedtuple as _namedtuple

ModuleInfo = _namedtuple("ModuleInfo", "module_finder name ispkg")


def iter_modules(path=None, prefix=""):
    if path is None:
        import sys

        path = sys.path
    seen = set()
    for folder in path:
        if not _os.path.isdir(folder or "."):
            continue
        for entry in sorted(_os.listdir(folder or ".")):
            whole = _os.path.join(folder, entry)
            ispkg = _os.path.isdir(whole)
            if ispkg and not _os.path.isfile(_os.path.join(whole, "__init__.py")) or not ispkg and not entry.endswith(".py"):
                continue
            name = entry if ispkg else entry[:-3]
            if name != "__init__" and name not in seen and "." not in name:
                seen.add(name)
                yield ModuleInfo(None, prefix + name, ispkg)


def walk_packages(path=None, prefix="", onerror=None):
    import importlib

    for info in iter_modules(path, prefix):
        yield info
        if info.ispkg:
            try:
                package = importlib.import_module(info.name)
            except ImportError:
                if onerror is not None:
                    onerror(info.name)
            else:
                yield from walk_packages(package.__path__, info.name + ".", onerror)
