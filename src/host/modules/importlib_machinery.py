# SPDX-License-Identifier: Apache-2.0
# Whether there is a file, for who looks for a library of compiled code beside it; none is loaded.
import os as _os

SOURCE_SUFFIXES, BYTECODE_SUFFIXES = [".py"], [".pyc"]
EXTENSION_SUFFIXES = [".cpython-311-x86_64-linux-gnu.so", ".abi3.so", ".so"]


def all_suffixes():
    return SOURCE_SUFFIXES + BYTECODE_SUFFIXES + EXTENSION_SUFFIXES


class _FileLoader:
    def __init__(self, fullname, path):
        self.name, self.path = fullname, path

    def get_filename(self, name=None):
        if name not in (None, self.name):
            raise ImportError(f"loader for {self.name} cannot handle {name}")
        return self.path


class ExtensionFileLoader(_FileLoader):
    pass


class SourceFileLoader(_FileLoader):
    pass


class SourcelessFileLoader(_FileLoader):
    pass


class ModuleSpec:
    def __init__(self, name, loader, *, origin=None, loader_state=None, is_package=None):
        self.name, self.loader, self.origin, self.loader_state = name, loader, origin, loader_state
        self.submodule_search_locations = [] if is_package else None
        self.cached, self.has_location, self.parent = None, origin is not None, name.rpartition(".")[0]


class FileFinder:
    def __init__(self, path, *loader_details):
        self.path = path or "."
        self._loaders = [(suffix, loader) for loader, suffixes in loader_details for suffix in suffixes]

    def find_spec(self, fullname, target=None):
        if target is not None:
            raise TypeError("find_spec() looks for a file; a module to reload is not supported")
        last = fullname.rpartition(".")[2]
        for suffix, loader in self._loaders:
            file = _os.path.join(self.path, last + suffix)
            if _os.path.isfile(file):
                return ModuleSpec(fullname, loader(fullname, file), origin=file)
        return None

    def invalidate_caches(self):
        pass
