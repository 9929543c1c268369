// SPDX-License-Identifier: Apache-2.0
// `num_warps = 4 if n < 256 else 8` and the statement of that meaning, for a dynamic n: both sides
// are evaluated and the numbers that differ become selections, so that no side has to be taken.
#include "host/InterpreterState.h"
#include "host/TreeWalk.h"

#include <algorithm>

namespace pellucid::host {

using namespace syntax;

namespace {

/// Thrown through the evaluation of a side that branches on its own; the branch is then decided.
struct CannotMerge {};

/// Reads values and computes with them; whatever else a call does cannot be taken back.
bool isPure(const syntax::Expr &e) {
  switch (e.kind) {
  case ExprKind::Constant:
  case ExprKind::Name:
  case ExprKind::Attribute:
  case ExprKind::BinOp:
  case ExprKind::UnaryOp:
  case ExprKind::BoolOp:
  case ExprKind::Compare:
  case ExprKind::IfExp:
  case ExprKind::Tuple:
  case ExprKind::Subscript:
    break;
  case ExprKind::Call: {
    static constexpr std::string_view known[] = {
        "min", "max", "int", "abs", "cdiv", "next_power_of_2", "size", "numel", "stride", "len"};
    const syntax::Expr *callee = as<Call>(&e)->func.get();
    const Name *name = as<Name>(callee);
    const Attribute *attribute = as<Attribute>(callee);
    const std::string &last = name ? name->id : attribute ? attribute->attr : std::string();
    if (std::find(std::begin(known), std::end(known), last) == std::end(known))
      return false;
    break;
  }
  default:
    return false;
  }
  bool pure = true;
  forEachChild(e, [&](const syntax::Expr &child) { pure = pure && isPure(child); });
  return pure;
}

/// Nothing but assignments of such values to variables.
bool assignsOnly(const syntax::List<Stmt> &body) {
  return std::all_of(body.begin(), body.end(), [](const auto &stmt) {
    if (auto *assignment = as<Assign>(stmt.get()))
      return isPure(*assignment->value) &&
             std::all_of(assignment->targets.begin(), assignment->targets.end(),
                         [](const auto &target) { return target->kind == ExprKind::Name; });
    if (auto *augmented = as<AugAssign>(stmt.get()))
      return augmented->target->kind == ExprKind::Name && isPure(*augmented->value);
    if (auto *branch = as<If>(stmt.get()))
      return isPure(*branch->test) && assignsOnly(branch->body) && assignsOnly(branch->orelse);
    return stmt->kind == StmtKind::Pass;
  });
}

std::optional<symbolic::Expr> asNumber(const Value &value) {
  if (value.isSymInt())
    return value.symInt();
  if (value.isInt() && value.integer() >= INT64_MIN && value.integer() <= INT64_MAX)
    return symbolic::Expr(static_cast<int64_t>(value.integer()));
  return std::nullopt;
}

std::optional<symbolic::Expr> asCondition(const Value &value) {
  if (value.isSymBool())
    return value.symBool();
  if (value.isBool())
    return symbolic::Expr(value.boolean());
  return std::nullopt;
}

std::optional<Value> merged(const symbolic::Expr &condition, const Value &a, const Value &b) {
  if (auto left = asNumber(a), right = asNumber(b); left && right)
    return Value::integer(symbolic::select(condition, *left, *right));
  if (auto left = asCondition(a), right = asCondition(b); left && right)
    return Value::condition(symbolic::select(condition, *left, *right));
  return a.kind() == b.kind() && sameStructure(a, b) ? std::optional(a) : std::nullopt;
}

symbolic::Expr conditionOf(const Value &test) {
  return test.isSymBool() ? test.symBool() : symbolic::notEqual(test.symInt(), 0);
}

bool branchesBothWays(Interpreter &interpreter, const Value &test) {
  return (test.isSymBool() || test.isSymInt()) && interpreter.hooks().merges(conditionOf(test));
}

/// Evaluates one side; false where it cannot be.
template <typename Side> bool tried(Interpreter::State &state, Side side) {
  PlaceGuard place(state);
  ++state.merging;
  struct Leave {
    uint32_t &count;
    ~Leave() { --count; }
  } leave{state.merging};
  try {
    side();
    return true;
  } catch (const CannotMerge &) {
    return false;
  } catch (const DiagnosticError &) {
    return false;
  }
}

} // namespace

void leaveMerge(Interpreter &interpreter, const Value &test) {
  if (interpreter.merging() && branchesBothWays(interpreter, test))
    throw CannotMerge();
}

std::optional<Value> Evaluator::mergedChoice(const IfExp &choice, const Value &test) {
  if (!branchesBothWays(interpreter, test) || !isPure(*choice.body) || !isPure(*choice.orelse))
    return std::nullopt;
  Value taken, other;
  if (!tried(state, [&] { taken = eval(*choice.body), other = eval(*choice.orelse); }))
    return std::nullopt;
  return merged(conditionOf(test), taken, other);
}

bool Evaluator::mergedBranch(const If &branch, const Value &test) {
  if (scope->form != Scope::Form::Function || !branchesBothWays(interpreter, test) ||
      !assignsOnly(branch.body) || !assignsOnly(branch.orelse))
    return false;
  NameSet names = namesBoundBy(branch);
  for (const NameSet *elsewhere : {scope->globalNames, scope->nonlocalNames})
    for (const std::string &name : names)
      if (elsewhere && elsewhere->count(name))
        return false;
  using Snapshot = std::map<std::string, std::optional<Value>>;
  auto snapshot = [&] {
    Snapshot values;
    for (const std::string &name : names) {
      const Value *found = scope->names->find(name);
      values[name] = found ? std::optional(*found) : std::nullopt;
    }
    return values;
  };
  auto restore = [&](const Snapshot &values) {
    for (const auto &[name, value] : values)
      if (value)
        scope->names->set(name, *value);
      else
        scope->names->erase(name);
  };
  const Snapshot before = snapshot();
  Snapshot taken, other;
  bool both = tried(state, [&] { run(branch.body), taken = snapshot(); });
  restore(before);
  both = both && tried(state, [&] { run(branch.orelse), other = snapshot(); });
  restore(before);
  if (!both)
    return false;
  Snapshot after;
  for (const std::string &name : names) {
    if (!taken[name] || !other[name])
      return false;
    after[name] = merged(conditionOf(test), *taken[name], *other[name]);
    if (!after[name])
      return false;
  }
  restore(after);
  return true;
}

} // namespace pellucid::host
