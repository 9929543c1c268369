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

/// Visits the functions of a list of statements and of their branches, outermost ones alone, and
/// the methods of classes there.
static void
forEachFunction(const Stmt &stmt, const std::string &className,
                const std::function<void(const FunctionDef &, const std::string &)> &visit) {
  if (auto *function = as<FunctionDef>(&stmt))
    return visit(*function, className);
  auto *cls = as<ClassDef>(&stmt);
  forEachChild(
      stmt, [](const syntax::Expr &) {},
      [&](const Stmt &inner) { forEachFunction(inner, cls ? cls->name : className, visit); });
}

static void addMadeBy(MadeKernel made, std::vector<MadeKernel> &out) {
  for (const auto &statement : made.makers.back()->body)
    forEachFunction(*statement, "", [&](const FunctionDef &nested, const std::string &) {
      MadeKernel inside = made;
      if (hasJitDecorator(nested)) {
        inside.kernel = &nested;
        out.push_back(std::move(inside));
      } else {
        inside.makers.push_back(&nested);
        addMadeBy(std::move(inside), out);
      }
    });
}

std::vector<MadeKernel> kernelsMadeByFunctions(const syntax::Module &file) {
  std::vector<MadeKernel> out;
  for (const auto &statement : file.body)
    forEachFunction(*statement, "", [&](const FunctionDef &maker, const std::string &cls) {
      if (!hasJitDecorator(maker))
        addMadeBy({{&maker}, nullptr, cls}, out);
    });
  return out;
}

static std::shared_ptr<JitFunction> find(Interpreter &interpreter, const MadeKernel &made) {
  const auto &known = interpreter.state().kernelsByText;
  auto entry = known.find(made.kernel);
  return entry == known.end() ? nullptr : entry->second;
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

/// What a maker was called for, with its decorators; nullopt: it does not run here, or makes none.
static std::optional<Value> callMaker(Interpreter &interpreter, const Module &module,
                                      const MadeKernel &made) {
  const Value *function = module.globals->find(made.maker().name);
  if (!function || !made.className.empty() || !takesNoArguments(made.maker().args))
    return std::nullopt;
  CallArgs noArguments;
  noArguments.location = module.syntax->locate(made.maker());
  try {
    Value result = interpreter.call(*function, std::move(noArguments));
    auto outermost = innermostKernel(result);
    if (outermost && &outermost->def() == made.kernel)
      return result;
  } catch (const DiagnosticError &) {
    // What came before the failure may have made it.
  }
  auto kernel = find(interpreter, made);
  return kernel ? std::optional(Value(kernel)) : std::nullopt;
}

/// The kernel by the name that the function which defines it gives it, decorators included.
static std::optional<Value> readMakers(Interpreter &interpreter, const Module &module,
                                       const MadeKernel &made) {
  std::shared_ptr<Scope> scope = readFunctions(interpreter, module, made.makers);
  auto kernel = find(interpreter, made);
  if (!kernel)
    return std::nullopt;
  for (const auto &[name, value] : scope->names->items())
    if (innermostKernel(value) == kernel && !value.as<WrappedKernel>())
      return value;
  return Value(kernel);
}

static std::string namesOfArguments(const syntax::Arguments &args) {
  std::string names;
  for (const auto *list : {&args.posonlyargs, &args.args, &args.kwonlyargs})
    for (const auto &argument : *list)
      if (argument->arg != "self" && argument->arg != "cls")
        names += (names.empty() ? "" : ", ") + argument->arg;
  return names;
}

Value makeKernel(Interpreter &interpreter, const Module &module, const MadeKernel &made) {
  Interpreter::State &state = interpreter.state();
  // One maker that never ends leaves time for the others, and all of them for the kernels.
  constexpr uint64_t mostSteps = 200'000;
  struct Restore {
    Interpreter::State &state;
    size_t raises;
    ~Restore() { state.passedRaises.resize(raises); }
  } restore{state, state.passedRaises.size()};
  {
    StepsLimit limit(state.budget, mostSteps);
    if (auto called = callMaker(interpreter, module, made))
      return *called;
  }
  {
    StepsLimit limit(state.budget, mostSteps);
    if (auto read = readMakers(interpreter, module, made))
      return *read;
  }
  std::string maker = made.makerName();
  interpreter.refuse(module.syntax->locate(*made.kernel),
                     "kernel '" + made.kernel->name + "' is made when '" + maker +
                         "' is called; name one at the file's top level: " + made.kernel->name +
                         " = " + maker + "(" + namesOfArguments(made.maker().args) + ")");
}

} // namespace pellucid::host
