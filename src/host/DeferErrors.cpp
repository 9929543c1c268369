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
static const Name *rootOf(const syntax::Expr *e) {
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
    if (auto *name = rootOf(e))
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
    if (state.steps > state.options.maxSteps)
      throw;
    makeUnusable(stmt, error.diagnostic);
  }
  return Flow::Normal;
}

} // namespace pellucid::host
