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

void fillImportlib(Interpreter &, Module &m) {
  m.globals->set("import_module", native("importlib.import_module", "name, package=None",
                                         [](Interpreter &i, std::vector<Value> &a) {
                                           return i.importModule(a[0].str());
                                         }));
}

void fillImportlibUtil(Interpreter &, Module &m) {
  m.globals->set("find_spec",
                 native("importlib.util.find_spec", "name, package=None",
                        [](Interpreter &i, std::vector<Value> &a) {
                          const std::string &name = a[0].str();
                          bool known = i.nativeModule(name.substr(0, name.find('.'))) != nullptr;
                          return known ? a[0] : Value();
                        }));
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
