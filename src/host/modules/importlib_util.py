# SPDX-License-Identifier: Apache-2.0
class Loader:
    def exec_module(self, module):
        pass


class Spec:
    def __init__(self, name):
        self.name = name
        self.loader = Loader()


def find_spec(name, package=None):
    return Spec(name) if known(name) else None


def module_from_spec(spec):
    return import_module(spec.name)
