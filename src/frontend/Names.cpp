// SPDX-License-Identifier: Apache-2.0
#include "frontend/Names.h"

#include "host/TreeWalk.h"

#include <algorithm>
#include <functional>

namespace pellucid::frontend {

/// Calls `visit` for every statement in the list and in the bodies of its compound statements.
static void walk(const syntax::List<syntax::Stmt> &list,
                 const std::function<void(const syntax::Stmt &)> &visit) {
  for (const auto &statement : list) {
    visit(*statement);
    if (auto *branch = syntax::as<syntax::If>(statement.get())) {
      walk(branch->body, visit);
      walk(branch->orelse, visit);
    } else if (auto *loop = syntax::as<syntax::For>(statement.get())) {
      walk(loop->body, visit);
    } else if (auto *whileLoop = syntax::as<syntax::While>(statement.get())) {
      walk(whileLoop->body, visit);
    }
  }
}

/// Calls `visit` for the target of every `:=` of the expression.
static void forEachNamed(const syntax::Expr &expr,
                         const std::function<void(const syntax::Expr &)> &visit) {
  if (auto *named = syntax::as<syntax::NamedExpr>(&expr))
    visit(*named->target);
  host::forEachChild(expr, [&](const syntax::Expr &child) { forEachNamed(child, visit); });
}

bool assignsNames(const syntax::Expr &expr) {
  bool found = false;
  forEachNamed(expr, [&](const syntax::Expr &) { found = true; });
  return found;
}

const syntax::Stmt *firstReturn(const syntax::List<syntax::Stmt> &list) {
  const syntax::Stmt *found = nullptr;
  walk(list, [&](const syntax::Stmt &s) {
    if (!found && s.kind == syntax::StmtKind::Return)
      found = &s;
  });
  return found;
}

static void addTargets(const syntax::Expr &target, std::vector<std::string> &names) {
  if (auto *name = syntax::as<syntax::Name>(&target)) {
    if (std::find(names.begin(), names.end(), name->id) == names.end())
      names.push_back(name->id);
  } else if (auto *tuple = syntax::as<syntax::Tuple>(&target)) {
    for (const auto &element : tuple->elts)
      addTargets(*element, names);
  } else if (auto *list = syntax::as<syntax::ListExpr>(&target)) {
    for (const auto &element : list->elts)
      addTargets(*element, names);
  } else if (auto *starred = syntax::as<syntax::Starred>(&target)) {
    addTargets(*starred->value, names);
  }
}

std::vector<std::string> assignedNames(const syntax::List<syntax::Stmt> &list) {
  std::vector<std::string> names;
  walk(list, [&](const syntax::Stmt &s) {
    if (auto *assign = syntax::as<syntax::Assign>(&s)) {
      for (const auto &target : assign->targets)
        addTargets(*target, names);
    } else if (auto *augmented = syntax::as<syntax::AugAssign>(&s)) {
      addTargets(*augmented->target, names);
    } else if (auto *annotated = syntax::as<syntax::AnnAssign>(&s)) {
      addTargets(*annotated->target, names);
    } else if (auto *loop = syntax::as<syntax::For>(&s)) {
      addTargets(*loop->target, names);
    }
    host::forEachChild(
        s,
        [&](const syntax::Expr &expr) {
          forEachNamed(expr, [&](const syntax::Expr &target) { addTargets(target, names); });
        },
        [](const syntax::Stmt &) {});
  });
  return names;
}

bool sameValue(const Val &a, const Val &b) {
  if (a.kind != b.kind || a.elements.size() != b.elements.size() || a.tupleClass != b.tupleClass)
    return false;
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!sameValue(a.elements[i], b.elements[i]))
      return false;
  if (a.isTuple())
    return true;
  if (a.value || b.value)
    return a.value == b.value && a.type == b.type;
  return a.constant.kind() == b.constant.kind() && host::equal(a.constant, b.constant);
}

} // namespace pellucid::frontend
