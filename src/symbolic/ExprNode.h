// SPDX-License-Identifier: Apache-2.0
/// What stands behind an Expr; only for the files of this folder.
#pragma once

#include "symbolic/Expr.h"

#include <bit>
#include <stdexcept>

namespace pellucid::symbolic {

struct ExprNode {
  ExprOp op;
  int64_t value = 0; ///< Constant
  std::string name;  ///< Symbol
  std::vector<Expr> operands;
  size_t hash = 0;
  uint32_t height = 1, size = 1; ///< of the tree that this is when it is written out
};

struct ExprTable {
  /// The one node with this content; no rewriting. Throws ExpressionTooLarge.
  static Expr make(ExprOp op, int64_t value, std::string name, std::vector<Expr> operands);
  static Expr make(int64_t constant) { return make(ExprOp::Constant, constant, {}, {}); }
  static Expr make(ExprOp op, std::vector<Expr> operands) {
    return make(op, 0, {}, std::move(operands));
  }
};

/// A total order that is the same in every process.
int compare(const Expr &a, const Expr &b);

/// A product of atoms with a coefficient; without factors it is a constant.
struct Monomial {
  std::vector<Expr> factors; ///< sorted by compare
  int64_t coefficient = 0;
};
/// Terms in order, no two with the same factors, none with coefficient 0.
using Polynomial = std::vector<Monomial>;
Polynomial toPolynomial(const Expr &e);
Expr fromPolynomial(Polynomial terms);

/// Whether the value is 0 or 1 by construction.
bool isBoolean(const Expr &e);

/// Nullopt above 2**62.
constexpr std::optional<int64_t> powerOf2From(int64_t a) {
  if (a > int64_t(1) << 62)
    return std::nullopt;
  return a <= 0 ? 0 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(a)));
}

/// 64-bit arithmetic that throws std::overflow_error.
int64_t checkedAdd(int64_t a, int64_t b);
int64_t checkedMul(int64_t a, int64_t b);
int64_t checkedNegate(int64_t a);

/// Rounding towards minus infinity; b is neither 0 nor, for a == INT64_MIN, -1.
constexpr int64_t floorQuotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
constexpr int64_t floorRemainder(int64_t a, int64_t b) {
  int64_t r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

} // namespace pellucid::symbolic
