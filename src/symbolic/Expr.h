// SPDX-License-Identifier: Apache-2.0
/// Symbolic integers: the one type for shapes, strides, offsets, grids, scalar kernel arguments,
/// buffer sizes and guards.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::symbolic {

enum class ExprOp : uint8_t {
  Constant,
  Symbol,
  Add,
  Mul,
  FloorDiv,
  Mod,
  CeilDiv,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  And,
  Or,
  Not,
  Select, ///< comparisons and logic give 0 or 1; Select(condition, a, b)
  NextPowerOf2,
};

struct ExprNode;

/// Thrown where an expression would become larger than anybody means: its tree is bounded in parts
/// and in height.
class ExpressionTooLarge : public std::overflow_error {
public:
  using overflow_error::overflow_error;
};

/// An immutable expression over named symbols in canonical form: sums and products are flattened
/// and sorted, constants folded, like terms merged, so that expressions equal under those rules
/// compare equal. Cheap to copy; hash-consing is per thread-safe global table, so equality is
/// pointer equality. Arithmetic is 64-bit; an overflow while folding throws std::overflow_error,
/// one while evaluating is reported by evaluate(). Division and modulo round like Python's (towards
/// minus infinity).
class Expr {
public:
  Expr(int64_t constant = 0); // NOLINT: integers convert on purpose
  static Expr symbol(std::string_view name);

  ExprOp op() const;
  bool isConstant() const { return op() == ExprOp::Constant; }
  std::optional<int64_t> constant() const;
  int64_t constantOr(int64_t fallback) const { return constant().value_or(fallback); }
  const std::string &symbolName() const;     ///< Symbol only
  const std::vector<Expr> &operands() const; ///< empty for leaves
  /// Parts and levels of the tree: what a walk of it costs.
  size_t size() const;
  size_t height() const;

  friend bool operator==(const Expr &a, const Expr &b) { return a.node == b.node; }
  const void *identity() const { return node.get(); }

  /// Python-like text that parse() reads back: `(batch*64 + 1023)//1024`, `Min(a, b)`, `CeilDiv(n,
  /// 128)`.
  std::string text() const;
  /// The symbols it mentions, sorted by name, each once.
  std::vector<std::string> symbols() const;

private:
  explicit Expr(std::shared_ptr<const ExprNode> n) : node(std::move(n)) {}
  std::shared_ptr<const ExprNode> node;
  friend struct ExprTable;
};

Expr operator+(const Expr &a, const Expr &b);
Expr operator-(const Expr &a, const Expr &b);
Expr operator-(const Expr &a);
Expr operator*(const Expr &a, const Expr &b);
Expr floorDiv(const Expr &a, const Expr &b);
Expr mod(const Expr &a, const Expr &b);
Expr ceilDiv(const Expr &a, const Expr &b);
Expr min(const Expr &a, const Expr &b);
Expr max(const Expr &a, const Expr &b);
/// Comparisons and logic, as expressions with value 0 or 1.
Expr equal(const Expr &a, const Expr &b);
Expr notEqual(const Expr &a, const Expr &b);
Expr less(const Expr &a, const Expr &b);
Expr lessEqual(const Expr &a, const Expr &b);
Expr logicalAnd(const Expr &a, const Expr &b);
Expr logicalOr(const Expr &a, const Expr &b);
Expr logicalNot(const Expr &a);
Expr select(const Expr &condition, const Expr &a, const Expr &b);
/// The least power of two that is not below `a`; 0 for a <= 0, as Triton's.
Expr nextPowerOf2(const Expr &a);

/// Parses what Expr::text() writes; nullopt on anything else.
std::optional<Expr> parse(std::string_view text);

/// Replaces symbols; those without an entry stay.
Expr substitute(const Expr &expr, const std::map<std::string, Expr> &replacements);

/// The value under `values`; nullopt on an unknown symbol, a division by zero or a 64-bit overflow.
std::optional<int64_t> evaluate(const Expr &expr, const std::map<std::string, int64_t> &values);

/// Inclusive bounds.
struct Range {
  int64_t min = INT64_MIN, max = INT64_MAX;
  bool contains(int64_t v) const { return min <= v && v <= max; }
};

/// What is known of one symbol.
struct SymbolInfo {
  Range range{0, INT64_MAX};
  int64_t divisor = 1;         ///< the symbol is a multiple of it
  std::optional<int64_t> hint; ///< example size; never used to decide anything strict
};

/// Symbols with their facts, and proofs from them. Iteration is in order of declaration.
class SymbolTable {
public:
  /// Declares or replaces.
  void declare(const std::string &name, SymbolInfo info);
  const SymbolInfo *find(std::string_view name) const;
  const std::vector<std::string> &names() const { return order; }

  /// Interval of `expr` over all declared ranges (conservative).
  Range range(const Expr &expr) const;
  /// True when every value of `expr` is a multiple of `divisor`, as far as can be proved.
  bool isMultipleOf(const Expr &expr, int64_t divisor) const;
  /// Decides `condition` (0/1) for the whole range: true, false, or unknown.
  std::optional<bool> prove(const Expr &condition) const;
  bool proveEqual(const Expr &a, const Expr &b) const { return prove(equal(a, b)).value_or(false); }
  /// Value at the hints (a symbol without a hint counts as unknown).
  std::optional<int64_t> hint(const Expr &expr) const;

private:
  std::vector<std::string> order;
  std::map<std::string, SymbolInfo, std::less<>> infos;
};

} // namespace pellucid::symbolic

template <> struct std::hash<pellucid::symbolic::Expr> {
  size_t operator()(const pellucid::symbolic::Expr &e) const {
    return std::hash<const void *>()(e.identity());
  }
};
