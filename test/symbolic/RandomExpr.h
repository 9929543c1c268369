// SPDX-License-Identifier: Apache-2.0
/// Random expressions with an evaluation of their own that never goes through canonical forms.
#pragma once

#include "symbolic/Expr.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>

namespace pellucid::symbolic::testing {

using Values = std::array<int64_t, 3>;
inline const std::array<std::string, 3> names = {"p", "q", "r"};

struct Tree {
  ExprOp op;
  int64_t value = 0; ///< constant, or the symbol's index
  std::vector<std::unique_ptr<Tree>> operands;
};

inline std::unique_ptr<Tree> randomTree(std::mt19937 &rng, int depth) {
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  auto tree = std::make_unique<Tree>();
  if (depth == 0 || pick(0, 5) == 0) {
    bool constant = pick(0, 2) == 0;
    static constexpr int constants[] = {-7, -4, -2, -1, 0, 1, 2, 3, 4, 6, 8, 16};
    tree->op = constant ? ExprOp::Constant : ExprOp::Symbol;
    tree->value = constant ? constants[pick(0, 11)] : pick(0, 2);
    return tree;
  }
  tree->op = static_cast<ExprOp>(
      pick(static_cast<int>(ExprOp::Add), static_cast<int>(ExprOp::NextPowerOf2)));
  int count = tree->op == ExprOp::Select                                    ? 3
              : tree->op == ExprOp::Not || tree->op == ExprOp::NextPowerOf2 ? 1
                                                                            : 2;
  for (int i = 0; i < count; ++i)
    tree->operands.push_back(randomTree(rng, depth - 1));
  return tree;
}

inline Expr build(const Tree &t) {
  auto at = [&](size_t i) { return build(*t.operands[i]); };
  switch (t.op) {
  case ExprOp::Constant:
    return Expr(t.value);
  case ExprOp::Symbol:
    return Expr::symbol(names[static_cast<size_t>(t.value)]);
  case ExprOp::Add:
    return at(0) + at(1);
  case ExprOp::Mul:
    return at(0) * at(1);
  case ExprOp::FloorDiv:
    return floorDiv(at(0), at(1));
  case ExprOp::Mod:
    return mod(at(0), at(1));
  case ExprOp::CeilDiv:
    return ceilDiv(at(0), at(1));
  case ExprOp::Min:
    return min(at(0), at(1));
  case ExprOp::Max:
    return max(at(0), at(1));
  case ExprOp::Eq:
    return equal(at(0), at(1));
  case ExprOp::Ne:
    return notEqual(at(0), at(1));
  case ExprOp::Lt:
    return less(at(0), at(1));
  case ExprOp::Le:
    return lessEqual(at(0), at(1));
  case ExprOp::And:
    return logicalAnd(at(0), at(1));
  case ExprOp::Or:
    return logicalOr(at(0), at(1));
  case ExprOp::Not:
    return logicalNot(at(0));
  case ExprOp::Select:
    return select(at(0), at(1), at(2));
  case ExprOp::NextPowerOf2:
    return nextPowerOf2(at(0));
  }
  return Expr(0);
}

/// Strict: an operand without a value leaves the whole without one, save what Select does not
/// choose.
inline std::optional<__int128> value(const Tree &t, const Values &values) {
  if (t.op == ExprOp::Constant)
    return t.value;
  if (t.op == ExprOp::Symbol)
    return values[static_cast<size_t>(t.value)];
  std::optional<__int128> a = value(*t.operands[0], values);
  if (!a)
    return a;
  if (t.op == ExprOp::Not)
    return *a == 0;
  if (t.op == ExprOp::NextPowerOf2) {
    __int128 power = *a > 0;
    while (power < *a)
      power *= 2;
    return power;
  }
  if (t.op == ExprOp::Select)
    return value(*t.operands[*a ? 1 : 2], values);
  std::optional<__int128> b = value(*t.operands[1], values);
  if (!b)
    return b;
  __int128 x = *a, y = *b;
  // Far inside __int128, and outside 64 bits it counts as no value.
  constexpr __int128 limit = __int128(1) << 60;
  if (x > limit || x < -limit || y > limit || y < -limit)
    return std::nullopt;
  auto floored = [](__int128 u, __int128 v) { return u / v - (u % v != 0 && (u < 0) != (v < 0)); };
  switch (t.op) {
  case ExprOp::Add:
    return x + y;
  case ExprOp::Mul:
    return x * y;
  case ExprOp::FloorDiv:
    return y == 0 ? std::optional<__int128>() : floored(x, y);
  case ExprOp::Mod:
    return y == 0 ? std::optional<__int128>() : x - y * floored(x, y);
  case ExprOp::CeilDiv:
    return y == 0 ? std::optional<__int128>() : -floored(-x, y);
  case ExprOp::Min:
    return std::min(x, y);
  case ExprOp::Max:
    return std::max(x, y);
  case ExprOp::Eq:
    return x == y;
  case ExprOp::Ne:
    return x != y;
  case ExprOp::Lt:
    return x < y;
  case ExprOp::Le:
    return x <= y;
  case ExprOp::And:
    return x != 0 && y != 0;
  case ExprOp::Or:
    return x != 0 || y != 0;
  default:
    return std::nullopt;
  }
}

} // namespace pellucid::symbolic::testing
