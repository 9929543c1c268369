// SPDX-License-Identifier: Apache-2.0
// What files ask before they choose between two spellings: packaging.version and importlib.
#include "host/InterpreterState.h"

namespace pellucid::host {

namespace {

const char *const versionSource =
#include "host/modules/version.py.inc"
    ;

void fillVersion(Interpreter &interpreter, Module &m) {
  auto source = interpreter.importSource(
      "packaging_version", std::make_shared<SourceFile>("<packaging.version>", versionSource));
  for (const char *name : {"Version", "parse"})
    m.globals->set(name, *source->globals->find(name));
}

const char *const importlibSource =
#include "host/modules/importlib_util.py.inc"
    ;

void fillImportlib(Interpreter &, Module &m) {
  m.globals->set("import_module", native("importlib.import_module", "name, package=None",
                                         [](Interpreter &i, std::vector<Value> &a) {
                                           return importInstalled(i,
                                                                  i.toStr(a[0], "a module's name"));
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
void fillMetadata(Interpreter &interpreter, Module &m) {
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
  m.globals->set("PackageNotFoundError", Value(interpreter.builtinClass("ModuleNotFoundError")));
}

} // namespace

void addVersionModules(NativeModules &modules) {
  modules.add("packaging.version", fillVersion);
  modules.add("importlib", fillImportlib);
  modules.add("importlib.util", fillImportlibUtil);
  modules.add("importlib.metadata", fillMetadata);
}

} // namespace pellucid::host
