// SPDX-License-Identifier: Apache-2.0
#include "trace/CheckedSizes.h"

#include <algorithm>

namespace pellucid::trace {

using symbolic::Expr;
using symbolic::ExprOp;

void CheckedSizes::learn(const Expr &condition) {
  const std::vector<Expr> &operands = condition.operands();
  try {
    if (condition.op() == ExprOp::Eq)
      learnZero(operands[0] - operands[1]);
  } catch (const std::overflow_error &) {
    // Then it is not known.
  }
  if (condition.op() == ExprOp::And)
    for (const Expr &operand : operands)
      learn(operand);
}

/// u0 + u1 + u2 - 9 gives u2 = 9 - u0 - u1; what is known so far says it by u0 and u1, too.
void CheckedSizes::learnZero(const Expr &given) {
  Expr difference = substitute(given, values);
  std::vector<std::string> names = difference.symbols();
  for (size_t i = names.size(); i-- > 0;) {
    Expr symbol = Expr::symbol(names[i]), rest = substitute(difference, {{names[i], Expr(0)}});
    bool isAdded = difference == rest + symbol;
    if (!isAdded && !(difference == rest - symbol))
      continue;
    Expr value = isAdded ? -rest : rest;
    for (auto &[name, known] : values)
      known = substitute(known, {{names[i], value}});
    values.emplace(names[i], value);
    return;
  }
  if (!names.empty())
    zeros.push_back(given);
}

/// Whether `a` is a number other than 0 times `b`; their values at one point tell it.
static bool isMultiple(const Expr &a, const Expr &b) {
  std::map<std::string, int64_t> point;
  for (const std::string &name : b.symbols())
    point.emplace(name, 101 + 2 * static_cast<int64_t>(point.size()));
  auto left = evaluate(a, point), right = evaluate(b, point);
  return left && right && *left != 0 && *left != INT64_MIN && *right != 0 && *left % *right == 0 &&
         a == b * Expr(*left / *right);
}

bool CheckedSizes::areEqual(const symbolic::SymbolTable &symbols, const Expr &a,
                            const Expr &b) const {
  try {
    Expr difference = substitute(a - b, values);
    return symbols.proveEqual(difference, 0) ||
           std::any_of(zeros.begin(), zeros.end(), [&](const Expr &zero) {
             Expr known = substitute(zero, values);
             return isMultiple(difference, known) || isMultiple(known, difference);
           });
  } catch (const std::overflow_error &) {
    return false;
  }
}

} // namespace pellucid::trace
