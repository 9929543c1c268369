// SPDX-License-Identifier: Apache-2.0
// What files ask before they choose between two spellings: packaging.version and importlib.
#include "host/InterpreterState.h"

namespace pellucid::host {

namespace {

const char *const versionSource = R"py(
class Version:
    def __init__(self, version):
        self.text = str(version)
        self.release = tuple(number(part) for part in self.text.split("+")[0].split("."))
        while len(self.release) > 1 and self.release[-1] == 0:
            self.release = self.release[:-1]

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<Version('{self.text}')>"

    def __eq__(self, other):
        return self.release == other.release

    def __ne__(self, other):
        return self.release != other.release

    def __lt__(self, other):
        return self.release < other.release

    def __le__(self, other):
        return self.release <= other.release

    def __gt__(self, other):
        return self.release > other.release

    def __ge__(self, other):
        return self.release >= other.release

    @property
    def major(self):
        return self.release[0]

    @property
    def minor(self):
        return self.release[1] if len(self.release) > 1 else 0


def number(text):
    digits = ""
    for c in text:
        if c not in "0123456789":
            break
        digits += c
    return int(digits) if digits else 0


def parse(version):
    return Version(version)
)py";

void fillVersion(Interpreter &interpreter, Module &m) {
  auto source = interpreter.importSource(
      "packaging_version", std::make_shared<SourceFile>("<packaging.version>", versionSource));
  for (const char *name : {"Version", "parse"})
    m.globals->set(name, *source->globals->find(name));
}

const char *const importlibSource = R"py(
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
)py";

void fillImportlib(Interpreter &, Module &m) {
  m.globals->set("import_module", native("importlib.import_module", "name, package=None",
                                         [](Interpreter &i, std::vector<Value> &a) {
                                           return i.importModule(a[0].str());
                                         }));
}

void fillImportlibUtil(Interpreter &interpreter, Module &m) {
  auto source = interpreter.importSource(
      "importlib_util", std::make_shared<SourceFile>("<importlib.util>", importlibSource));
  source->globals->set("known", native("known", "name", [](Interpreter &i, std::vector<Value> &a) {
                         const std::string &name = a[0].str();
                         return Value(i.nativeModule(name.substr(0, name.find('.'))) != nullptr);
                       }));
  source->globals->set("import_module",
                       *interpreter.nativeModule("importlib")->globals->find("import_module"));
  for (const char *name : {"find_spec", "module_from_spec"})
    m.globals->set(name, *source->globals->find(name));
}

/// A library that is not one of those here counts as not installed.
void fillMetadata(Interpreter &, Module &m) {
  m.globals->set("version", native("importlib.metadata.version", "distribution_name",
                                   [](Interpreter &i, std::vector<Value> &a) {
                                     auto module = i.nativeModule(a[0].str());
                                     const Value *version =
                                         module ? module->globals->find("__version__") : nullptr;
                                     if (!version)
                                       i.raise("ModuleNotFoundError",
                                               "No package metadata was found for " + a[0].str());
                                     return *version;
                                   }));
}

} // namespace

void addVersionModules(NativeModules &modules) {
  modules.add("packaging.version", fillVersion);
  modules.add("importlib", fillImportlib);
  modules.add("importlib.util", fillImportlibUtil);
  modules.add("importlib.metadata", fillMetadata);
}

} // namespace pellucid::host
