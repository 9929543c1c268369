// SPDX-License-Identifier: Apache-2.0
/// `import` and `from … import`, at once or when the name is used.
#include "host/Imports.h"

#include <filesystem>

namespace pellucid::host {

using namespace syntax;
namespace fs = std::filesystem;

static std::pair<std::string, std::string> relativeBase(Interpreter &, const Namespace &globals,
                                                        int level);

/// The file `name` of the package that `from package import name` names: what Python gives while
/// the package's own __init__ is being read.
static std::shared_ptr<Module> submoduleOf(Interpreter &interpreter, const Namespace &globals,
                                           const Stmt &statement, const std::string &name) {
  auto *import = as<ImportFrom>(&statement);
  if (!import)
    return nullptr;
  std::string part = (import->module ? *import->module + "." : "") + name;
  if (import->level == 0)
    return findModule(interpreter, part).shared<Module>();
  auto [folder, package] = relativeBase(interpreter, globals, import->level);
  return findUnder(interpreter, folder, part, package.empty() ? "" : package + ".");
}

Value LateImport::resolve(Interpreter &interpreter) {
  if (value)
    return *value;
  Interpreter::State &state = interpreter.state();
  if (isRunning)
    if (auto module = submoduleOf(interpreter, *scope->globals, statement, alias->name))
      return Value(module);
  if (std::exchange(isRunning, true))
    interpreter.raise("ImportError", "cannot import name '" + alias->name +
                                         "': the file that has it is being read (a circle of "
                                         "imports)");
  PlaceGuard place(state);
  struct Restore {
    Interpreter::State &state;
    uint32_t guards;
    bool &isRunning;
    ~Restore() {
      state.importGuards = guards;
      state.frames.pop_back();
      isRunning = false;
    }
  } restore{state, std::exchange(state.importGuards, 0), isRunning};
  state.frames.push_back({nullptr, scope, interpreter.location()});
  state.module = scope->module.get();
  value = Evaluator(interpreter, scope).importNow(statement, *alias);
  return *value;
}

std::optional<Value> settled(Interpreter &interpreter, Namespace &names, std::string_view name) {
  const Value *found = names.find(name);
  return found ? std::optional(settled(interpreter, names, name, *found)) : std::nullopt;
}

Value settled(Interpreter &interpreter, Namespace &names, std::string_view name,
              const Value &found) {
  auto late = found.shared<LateImport>();
  if (!late)
    return found;
  Value value = late->resolve(interpreter);
  names.set(name, value);
  return value;
}

/// Files below --path import far more than what is traced needs of them: their names are looked up
/// when they are used. What a file may rely on while it is read stays: guarded imports, modules by
/// their dotted names, and all of the first file and the packages around it.
bool Evaluator::importsLate(const std::string &module, int level) const {
  if (!state.options.defersFileErrors || scope->form != Scope::Form::Module || triesAround ||
      state.importGuards || state.order.empty() || !state.order.front()->syntax)
    return false;
  const std::string &path = scope->module->file->path();
  std::string own = folderOf(canonical(state.order.front()->syntax->file->path()));
  while (isFile(own + "/" + std::string(packageFile)))
    own = folderOf(own);
  if (path.starts_with("<") || canonical(path).starts_with(own + "/"))
    return false;
  return level > 0 || !interpreter.nativeModule(module.substr(0, module.find('.')));
}

void Evaluator::execImport(const Import &s) {
  for (const Alias &alias : s.names) {
    at(alias);
    bool bindsIt = alias.asname || alias.name.find('.') == std::string::npos;
    if (bindsIt && importsLate(alias.name, 0)) {
      store(alias.asname.value_or(alias.name),
            Value(std::make_shared<LateImport>(scope, s, alias)));
      continue;
    }
    Value module = findModule(interpreter, alias.name);
    if (alias.asname) {
      store(*alias.asname, module);
      continue;
    }
    // `import a.b` binds `a`; the parts below hang off it.
    std::string root = alias.name.substr(0, alias.name.find('.'));
    store(root, root == alias.name ? module : findModule(interpreter, root));
  }
}

/// The folder that `level` dots stand for, and the dotted name of that package.
static std::pair<std::string, std::string> relativeBase(Interpreter &interpreter,
                                                        const Namespace &globals, int level) {
  const Value *file = globals.find("__file__"), *package = globals.find("__package__");
  std::string folder = file ? folderOf(canonical(file->str())) : ".",
              name = package ? package->str() : "";
  for (int i = 1; i < level; ++i) {
    folder = folderOf(folder);
    size_t dot = name.rfind('.');
    name = dot == std::string::npos ? "" : name.substr(0, dot);
  }
  (void)interpreter;
  return {folder, name};
}

/// Triton under the names that projects re-export it by, where the module that does so is not
/// there.
static std::optional<Value> tritonByName(Interpreter &interpreter, const std::string &name) {
  if (name == "triton")
    return Value(interpreter.nativeModule("triton"));
  if (name == "tl")
    return Value(interpreter.nativeModule("triton.language"));
  if (name == "HAS_TRITON")
    return Value(true);
  return std::nullopt;
}

/// A module that is compiled code: nothing of it can be evaluated.
static bool isExtension(const std::string &folder, const std::string &part) {
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(part + ".") && name.ends_with(".so"))
      return true;
  }
  return false;
}

/// `from source import name`: an attribute, or a submodule not imported yet.
static Value importName(Interpreter &interpreter, const Value &source, const std::string &name) {
  auto *module = source.as<Module>();
  if (!module && interpreter.options().defersMissingImports)
    if (auto known = tritonByName(interpreter, name))
      return *known;
  if (!module)
    return interpreter.getAttr(source, name);
  if (auto found = settled(interpreter, *module->globals, name))
    return *found;
  if (module->isPackage) {
    std::string full = module->name.empty() ? name : module->name + "." + name;
    if (auto sub = findIn(interpreter, module->packageFolder, name, full, true)) {
      module->globals->set(name, Value(sub));
      return Value(sub);
    }
    if (isExtension(module->packageFolder, name))
      return Value(std::make_shared<Opaque>(full, interpreter.location()));
  }
  if (auto found = interpreter.findAttr(source, name))
    return *found;
  interpreter.raise("ImportError", "cannot import name '" + name + "' from '" + module->name + "'");
}

/// As importName; but where failing imports are deferred, one name that is refused does not take
/// those beside it along.
Value Evaluator::importDeferring(const Value &source, const std::string &name) {
  if (!defersErrors || !defersImports || triesAround)
    return importName(interpreter, source, name);
  try {
    return importName(interpreter, source, name);
  } catch (const DiagnosticError &error) {
    if (state.budget.isSpent())
      throw;
    auto reason = std::make_shared<const Diagnostic>(error.diagnostic);
    return Value(std::make_shared<Opaque>(name, interpreter.location(), reason));
  }
}

/// What `from …` names: a module, or what stands for one.
/// A module of Triton's that is native here, asked for from a file of Triton's own package: that
/// package's kernels are compiled here, its compiler is not run.
static bool isNativeTriton(Interpreter &interpreter, const std::string &name) {
  bool isTriton = name == "triton" || name.starts_with("triton.");
  return isTriton &&
         (interpreter.nativeModule(name) != nullptr || name.starts_with("triton.language"));
}

Value Evaluator::sourceOf(const ImportFrom &s) {
  if (s.level == 0)
    return findModule(interpreter, *s.module);
  auto [folder, package] = relativeBase(interpreter, *scope->globals, s.level);
  if (std::string full = package + (s.module ? "." + *s.module : "");
      isNativeTriton(interpreter, full))
    return findModule(interpreter, full);
  if (!s.module)
    return Value(shellFor(interpreter, package, folder));
  std::string prefix = package.empty() ? "" : package + ".";
  if (auto found = findUnder(interpreter, folder, *s.module, prefix))
    return Value(found);
  if (isExtension(folder, *s.module))
    return Value(std::make_shared<Opaque>(prefix + *s.module, interpreter.location()));
  interpreter.raise("ModuleNotFoundError", "No module named '" + prefix + *s.module + "'");
}

void Evaluator::execImportFrom(const ImportFrom &s) {
  if (s.module == "__future__")
    return;
  bool late = importsLate(s.module.value_or(""), s.level);
  Value source;
  if (!late || s.names[0].name == "*")
    source = sourceOf(s);
  for (const Alias &alias : s.names) {
    at(alias);
    if (alias.name != "*" && late) {
      store(alias.asname.value_or(alias.name),
            Value(std::make_shared<LateImport>(scope, s, alias)));
      continue;
    }
    if (alias.name != "*") {
      store(alias.asname.value_or(alias.name), importDeferring(source, alias.name));
      continue;
    }
    auto *module = source.as<Module>();
    if (!module)
      interpreter.refuse("'from " + s.module.value_or(".") + " import *' is not supported: " +
                         interpreter.repr(source) + " is not a file; name what you need");
    const Value *all = module->globals->find("__all__");
    if (all)
      for (const Value &name : interpreter.iterate(*all)) {
        // What is looked up late there is so here.
        const Value *found = module->globals->find(name.str());
        store(name.str(), found ? *found : importName(interpreter, source, name.str()));
      }
    else
      for (const auto &[name, value] : std::vector(module->globals->items()))
        if (!name.starts_with("_"))
          store(name, value);
  }
}

Value Evaluator::importNow(const Stmt &statement, const Alias &alias) {
  at(alias);
  if (statement.kind == StmtKind::Import)
    return findModule(interpreter, alias.name);
  return importName(interpreter, sourceOf(*as<ImportFrom>(&statement)), alias.name);
}

} // namespace pellucid::host
