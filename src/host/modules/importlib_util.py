# SPDX-License-Identifier: Apache-2.0
class Loader:
    def exec_module(self, module):
        pass


class Spec:
    def __init__(self, name):
        self.name = name
        self.loader = Loader()


def find_spec(name, package=None):
    if name.startswith("."):
        if not package:
            raise ValueError(f"the 'package' argument is required to perform a relative import for {name!r}")
        parents, rest = package.split("."), name.lstrip(".")
        parents = parents[: len(parents) - (len(name) - len(rest) - 1)]
        name = ".".join(parents + ([rest] if rest else []))
    return Spec(name) if known(name) else None


def module_from_spec(spec):
    return import_module(spec.name)
