// SPDX-License-Identifier: Apache-2.0
// Reading on after a refused statement of a file's top level.
#include "host/InterpreterState.h"

namespace pellucid::host {

using namespace syntax;

static bool isMutable(const Value &value) {
  return value.kind() == Kind::List || value.kind() == Kind::Dict || value.kind() == Kind::Set ||
         (value.isObject() && value.as<Instance>());
}

/// The variable behind `a.b[0].c(…)`.
static const Name *nameAtRoot(const syntax::Expr *e) {
  while (e) {
    if (auto *name = as<Name>(e))
      return name;
    if (auto *attribute = as<Attribute>(e))
      e = attribute->value.get();
    else if (auto *subscript = as<Subscript>(e))
      e = subscript->value.get();
    else if (auto *call = as<Call>(e))
      e = call->func.get();
    else
      return nullptr;
  }
  return nullptr;
}

/// The variables whose contents the statement may have been about to change.
static std::vector<const Name *> namesChangedBy(const Stmt &stmt) {
  std::vector<const Name *> names;
  auto add = [&](const syntax::Expr *e) {
    if (auto *name = nameAtRoot(e))
      names.push_back(name);
  };
  if (auto *assignment = as<Assign>(&stmt)) {
    for (const auto &target : assignment->targets)
      add(target.get());
  } else if (auto *augmented = as<AugAssign>(&stmt)) {
    add(augmented->target.get());
  } else if (auto *expression = as<ExprStmt>(&stmt)) {
    add(expression->value.get());
    if (auto *call = as<Call>(expression->value.get()))
      for (const auto &argument : call->args)
        add(argument.get());
  }
  return names;
}

void Evaluator::makeUnusable(const Stmt &stmt, const Diagnostic &reason) {
  NameSet names = namesBoundBy(stmt);
  for (const Name *name : namesChangedBy(stmt))
    if (const Value *value = scope->globals->find(name->id); value && isMutable(*value))
      names.insert(name->id);
  auto shared = std::make_shared<const Diagnostic>(reason);
  for (const std::string &name : names)
    scope->globals->set(name,
                        Value(std::make_shared<Opaque>(name, scope->module->locate(stmt), shared)));
}

/// Whether the statement is of the file that is read for its kernels alone: nobody waits for its
/// exceptions, as the `try` of an importing file may.
bool Evaluator::isInFirstFile() const {
  return defersImports && state.order.front()->syntax == scope->module;
}

/// Imports fail as Python's do; so does what a `try` around the statement may handle, and a program
/// that has used up its steps.
Evaluator::Flow Evaluator::execDeferring(const Stmt &stmt) {
  bool isImport = stmt.kind == StmtKind::Import || stmt.kind == StmtKind::ImportFrom;
  if ((isImport && !defersImports) || (stmt.kind == StmtKind::Raise && !isInFirstFile()))
    return exec(stmt);
  try {
    return exec(stmt);
  } catch (const RaisedError &error) {
    auto *exception = error.exception.as<Instance>();
    bool fromImport = exception && (exception->cls->name == "ImportError" ||
                                    exception->cls->name == "ModuleNotFoundError");
    if (triesAround || (fromImport && !defersImports))
      throw;
    if (isInFirstFile() && (stmt.kind == StmtKind::Raise || stmt.kind == StmtKind::Try))
      state.passedRaises.push_back(error.diagnostic);
    makeUnusable(stmt, error.diagnostic);
  } catch (const DiagnosticError &error) {
    if (state.budget.isSpent() || probesAround)
      throw;
    makeUnusable(stmt, error.diagnostic);
  }
  return Flow::Normal;
}

/// Binds the parameters of a function that nobody calls: to their defaults, else to what names the
/// missing argument where it is used.
static void bindUnknown(const Function &function, Namespace &names) {
  const Arguments &args = *function.parameters;
  auto unknown = [&](const Arg &parameter) {
    SourceLocation where = function.module->locate(parameter);
    auto reason = std::make_shared<const Diagnostic>(
        Severity::Error, where,
        "'" + parameter.arg + "' is an argument of '" + function.name +
            "', which nothing here calls; name a kernel made with it at the file's top level: "
            "kernel = " +
            function.name + "(...)");
    return Value(std::make_shared<Opaque>(parameter.arg, where, reason));
  };
  size_t index = 0, positional = args.posonlyargs.size() + args.args.size(),
         firstDefault = positional - function.defaults.size();
  for (const auto *list : {&args.posonlyargs, &args.args})
    for (const auto &parameter : *list) {
      names.set(parameter->arg, index < firstDefault ? unknown(*parameter)
                                                     : function.defaults[index - firstDefault]);
      ++index;
    }
  for (size_t i = 0; i < args.kwonlyargs.size(); ++i)
    names.set(args.kwonlyargs[i]->arg, function.keywordDefaults[i] ? *function.keywordDefaults[i]
                                                                   : unknown(*args.kwonlyargs[i]));
  for (const auto *rest : {args.vararg.get(), args.kwarg.get()})
    if (rest)
      names.set(rest->arg, unknown(*rest));
}

/// The scope of one call of `function` whose arguments nobody gives.
static std::shared_ptr<Scope> scopeOf(Interpreter &interpreter, const Function &function) {
  const ScopeFacts &facts =
      interpreter.state().factsOf(function.def, &function.def->args, function.def->body);
  auto scope = std::make_shared<Scope>();
  scope->names = std::make_shared<Namespace>();
  scope->globals = function.globals;
  scope->parent = function.closure;
  scope->module = function.module;
  scope->locals = &facts.locals;
  scope->globalNames = &facts.globals;
  scope->nonlocalNames = &facts.nonlocals;
  bindUnknown(function, *scope->names);
  interpreter.state().capture(scope);
  return scope;
}

std::shared_ptr<Scope> readFunctions(Interpreter &interpreter, const Module &module,
                                     const std::vector<const FunctionDef *> &functions) {
  Interpreter::State &state = interpreter.state();
  auto scope = std::make_shared<Scope>();
  scope->form = Scope::Form::Module;
  scope->names = scope->globals = module.globals;
  scope->module = module.syntax;
  PlaceGuard place(state);
  state.module = module.syntax.get();
  std::vector<std::shared_ptr<Function>> running;
  struct Restore {
    std::vector<Frame> &frames;
    size_t count;
    ~Restore() { frames.resize(count); }
  } restore{state.frames, state.frames.size()};
  for (const FunctionDef *def : functions)
    try {
      auto function = running.emplace_back(Evaluator(interpreter, scope).makeFunction(def->args));
      function->name = def->name;
      function->def = def;
      scope = scopeOf(interpreter, *function);
      state.frames.push_back({function.get(), scope, module.syntax->locate(*def)});
      Evaluator evaluator(interpreter, scope);
      evaluator.defersErrors = evaluator.defersImports = true;
      evaluator.run(def->body);
    } catch (const DiagnosticError &) {
      // What came before the failure stands.
    }
  return scope;
}

} // namespace pellucid::host
