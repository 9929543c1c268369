// SPDX-License-Identifier: Apache-2.0
#include "host/MadeKernels.h"

#include "host/InterpreterState.h"
#include "host/TreeWalk.h"

#include <algorithm>

namespace pellucid::host {

using namespace syntax;

bool hasJitDecorator(const FunctionDef &function) {
  auto isJit = [](const auto &decorator) {
    const syntax::Expr *e = decorator.get();
    if (auto *call = as<Call>(e))
      e = call->func.get();
    auto *attribute = as<Attribute>(e);
    auto *plain = as<Name>(e);
    return (attribute && attribute->attr == "jit") || (plain && plain->id == "jit");
  };
  return std::any_of(function.decoratorList.begin(), function.decoratorList.end(), isJit);
}

std::shared_ptr<JitFunction> kernelDefined(Interpreter &interpreter, const Module &module,
                                           const std::string &name) {
  for (const auto &kernel : interpreter.state().kernels)
    if (kernel->function->module == module.syntax && kernel->name() == name)
      return kernel;
  return nullptr;
}

/// Visits the functions of a list of statements and of their branches, outermost ones alone.
static void forEachFunction(const Stmt &stmt,
                            const std::function<void(const FunctionDef &)> &visit) {
  if (auto *function = as<FunctionDef>(&stmt))
    return visit(*function);
  if (stmt.kind == StmtKind::ClassDef)
    return;
  forEachChild(
      stmt, [](const syntax::Expr &) {}, [&](const Stmt &inner) { forEachFunction(inner, visit); });
}

static void addMadeBy(const FunctionDef &maker, const FunctionDef &inside,
                      std::vector<MadeKernel> &out) {
  for (const auto &statement : inside.body)
    forEachFunction(*statement, [&](const FunctionDef &nested) {
      if (hasJitDecorator(nested))
        out.push_back({&maker, &nested});
      else
        addMadeBy(maker, nested, out);
    });
}

std::vector<MadeKernel> kernelsMadeByFunctions(const syntax::Module &file) {
  std::vector<MadeKernel> out;
  for (const auto &statement : file.body)
    forEachFunction(*statement, [&](const FunctionDef &maker) {
      if (!hasJitDecorator(maker))
        addMadeBy(maker, maker, out);
    });
  return out;
}

static std::shared_ptr<JitFunction> find(Interpreter &interpreter, const MadeKernel &made) {
  for (const auto &kernel : interpreter.state().kernels)
    if (&kernel->def() == made.kernel)
      return kernel;
  return nullptr;
}

bool isMade(Interpreter &interpreter, const MadeKernel &made) {
  return find(interpreter, made) != nullptr;
}

static bool takesNoArguments(const syntax::Arguments &args) {
  size_t positional = args.posonlyargs.size() + args.args.size();
  return positional == args.defaults.size() &&
         std::all_of(args.kwDefaults.begin(), args.kwDefaults.end(),
                     [](const auto &fallback) { return fallback != nullptr; });
}

Value makeKernel(Interpreter &interpreter, const Module &module, const MadeKernel &made) {
  const std::string &maker = made.maker->name;
  const Value *function = module.globals->find(maker);
  if (!function || !takesNoArguments(made.maker->args))
    interpreter.refuse(module.syntax->locate(*made.kernel),
                       "kernel '" + made.kernel->name + "' is made when '" + maker +
                           "' is called; name one at the file's top level: " + made.kernel->name +
                           " = " + maker + "(...)");
  CallArgs noArguments;
  noArguments.location = module.syntax->locate(*made.maker);
  Value result = interpreter.call(*function, std::move(noArguments));
  auto outermost = innermostKernel(result);
  if (outermost && &outermost->def() == made.kernel)
    return result;
  if (auto kernel = find(interpreter, made))
    return Value(kernel);
  interpreter.refuse(module.syntax->locate(*made.kernel),
                     "'" + maker + "()' does not make kernel '" + made.kernel->name + "'");
}

} // namespace pellucid::host
