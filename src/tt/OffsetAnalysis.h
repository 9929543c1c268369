// SPDX-License-Identifier: Apache-2.0
// Offsets as polynomials over scalars and lane numbers, where that can be proved.
//
// Example: program_id(0) * 1024 + arange(0, 1024) is `1024*pid0 + lane0`; a row-major tile with a
// run-time stride is `stride*lane0 + lane1`.
//
// Arithmetic counts as exact: a kernel whose 32-bit offsets wrap has no other meaning to give
// (Triton's own analyses assume the same).
#pragma once

#include "tt/TtOps.h"

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::tt {

/// On a tt.load that was one through a tensor descriptor, whose strides are positive and whose base
/// and strides are multiples of 16 bytes.
inline constexpr llvm::StringLiteral ofDescriptorName = "pellucid.of_descriptor";

struct OffsetSymbol {
  enum Kind { Lane, ProgramId, NumPrograms, Scalar };
  Kind kind = Scalar;
  /// The dim of the tile, or the axis of the grid.
  unsigned dim = 0;
  /// An SSA scalar that is not taken apart any further, without the sign extensions around it.
  void *scalar = nullptr;

  static OffsetSymbol lane(unsigned dim) { return {Lane, dim, nullptr}; }
  static OffsetSymbol programId(unsigned axis) { return {ProgramId, axis, nullptr}; }
  static OffsetSymbol ofValue(mlir::Value value) { return {Scalar, 0, value.getAsOpaquePointer()}; }
  mlir::Value value() const { return mlir::Value::getFromOpaquePointer(scalar); }
  auto operator<=>(const OffsetSymbol &) const = default;
};

/// A product of symbols, sorted; empty for 1.
using OffsetMonomial = std::vector<OffsetSymbol>;

/// A sum of monomials with integer coefficients. Linear in the lanes.
class OffsetForm {
public:
  OffsetForm() = default;
  static OffsetForm constant(int64_t value);
  static OffsetForm symbol(OffsetSymbol symbol);

  /// None when a coefficient overflows, or when a product is not linear in the lanes any more.
  friend std::optional<OffsetForm> operator+(const OffsetForm &a, const OffsetForm &b);
  friend std::optional<OffsetForm> operator-(const OffsetForm &a, const OffsetForm &b);
  friend std::optional<OffsetForm> operator*(const OffsetForm &a, const OffsetForm &b);
  bool operator==(const OffsetForm &) const = default;

  /// What does not depend on the lane.
  OffsetForm uniformPart() const;
  /// The distance of neighbours along `dim`.
  OffsetForm strideOf(unsigned dim) const;
  std::optional<int64_t> asConstant() const;
  const std::map<OffsetMonomial, int64_t> &terms() const { return sum; }

  /// The form after lane d has become lane newDim[d]; -1 sets it to 0.
  OffsetForm withLanes(llvm::ArrayRef<int> newDim) const;

  /// "1024*pid0 + lane0"; scalars are named s0, s1, … in the order of their first appearance.
  std::string text() const;

private:
  std::map<OffsetMonomial, int64_t> sum;
  void add(const OffsetMonomial &monomial, int64_t coefficient);
};

/// The form of an integer scalar or tile; none where it cannot be proved. A scalar always has one.
std::optional<OffsetForm> offsetForm(mlir::Value value);

/// A tile of pointers, or one pointer, as a scalar pointer and an offset counted in elements of
/// what it points to.
struct PointerForm {
  mlir::Value base;
  OffsetForm offset;
};
std::optional<PointerForm> pointerForm(mlir::Value pointer);

/// lhs `predicate` rhs, for every lane.
struct OffsetComparison {
  OffsetForm lhs, rhs;
  mlir::arith::CmpIPredicate predicate;
};

/// A mask that is a conjunction of comparisons of forms; empty for constant true, none for anything
/// else.
std::optional<std::vector<OffsetComparison>> maskForm(mlir::Value mask);

} // namespace pellucid::tt
