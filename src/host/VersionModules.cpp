// SPDX-License-Identifier: Apache-2.0
// What files ask before they choose between two spellings: packaging.version and importlib.
#include "host/InterpreterState.h"
#include "host/Text.h"

#include <algorithm>
#include <filesystem>

namespace pellucid::host {

namespace {

const char *const versionSource =
#include "host/modules/version.py.inc"
    ;

void fillPackagingVersion(Interpreter &interpreter, Module &m) {
  auto source = interpreter.importSource(
      "packaging_version", std::make_shared<SourceFile>("<packaging.version>", versionSource));
  for (const char *name : {"Version", "parse"})
    m.globals->set(name, *source->globals->find(name));
}

const char *const importlibSource =
#include "host/modules/importlib_util.py.inc"
    ;

void fillImportlib(Interpreter &, Module &m) {
  m.globals->set("import_module",
                 native("importlib.import_module", "name, package=None",
                        [](Interpreter &i, std::vector<Value> &a) {
                          std::string name = i.toStr(a[0], "a module's name");
                          if (!name.starts_with("."))
                            return importInstalled(i, name);
                          std::string package = i.toStr(a[1], "the package of a relative name");
                          size_t dots = std::min(name.find_first_not_of('.'), name.size());
                          for (size_t up = 1; up < dots; ++up)
                            package.resize(std::min(package.rfind('.'), package.size()));
                          return importInstalled(i, package + "." + name.substr(dots));
                        }));
}

void fillImportlibUtil(Interpreter &interpreter, Module &m) {
  auto source = interpreter.importSource(
      "importlib_util", std::make_shared<SourceFile>("<importlib.util>", importlibSource));
  source->globals->set("known", native("known", "name", [](Interpreter &i, std::vector<Value> &a) {
                         return Value(isInstalled(i, i.toStr(a[0], "a module's name")));
                       }));
  source->globals->set("import_module",
                       *interpreter.nativeModule("importlib")->globals->find("import_module"));
  for (const char *name : {"find_spec", "module_from_spec"})
    m.globals->set(name, *source->globals->find(name));
}

/// The name as installers compare it: in lower case, a `-`, `_` or `.` as `-`.
std::string normalName(std::string_view name) {
  std::string out = lowerCase(name);
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return out;
}

/// What an installer noted beside a library that a search root holds: NAME-VERSION.dist-info.
std::optional<std::string> installedVersion(Interpreter &interpreter, const std::string &name) {
  namespace fs = std::filesystem;
  constexpr std::string_view ending = ".dist-info";
  for (const std::string &root : interpreter.options().searchRoots) {
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(root, error)) {
      std::string found = entry.path().filename().string();
      size_t dash = found.find('-');
      if (found.ends_with(ending) && dash != std::string::npos &&
          normalName(found.substr(0, dash)) == normalName(name))
        return found.substr(dash + 1, found.size() - ending.size() - dash - 1);
    }
  }
  return std::nullopt;
}

/// A library that is neither one of those here nor below a search root counts as not installed.
void fillMetadata(Interpreter &interpreter, Module &m) {
  m.globals->set("packages_distributions", native("importlib.metadata.packages_distributions", "",
                                                  [](Interpreter &, std::vector<Value> &) {
                                                    Dict out;
                                                    for (const char *name : {"torch", "triton"})
                                                      out.set(Value(name),
                                                              Value::list({Value(name)}));
                                                    return Value::dict(std::move(out));
                                                  }));
  m.globals->set("version", native("importlib.metadata.version", "distribution_name",
                                   [](Interpreter &i, std::vector<Value> &a) {
                                     auto module = i.nativeModule(a[0].str());
                                     const Value *version =
                                         module ? module->globals->find("__version__") : nullptr;
                                     if (version)
                                       return *version;
                                     auto installed = installedVersion(i, a[0].str());
                                     if (!installed)
                                       i.raise("ModuleNotFoundError",
                                               "No package metadata was found for " + a[0].str());
                                     return Value(*installed);
                                   }));
  // No plugins are installed.
  m.globals->set("entry_points",
                 native("importlib.metadata.entry_points", "group=None, name=None",
                        [](Interpreter &, std::vector<Value> &) { return Value::list({}); }));
  m.globals->set("PackageNotFoundError", Value(interpreter.builtinClass("ModuleNotFoundError")));
}

} // namespace

void addVersionModules(NativeModules &modules) {
  modules.add("packaging.version", fillPackagingVersion);
  modules.add("importlib", fillImportlib);
  modules.add("importlib.util", fillImportlibUtil);
  modules.add("importlib.metadata", fillMetadata);
}

} // namespace pellucid::host
