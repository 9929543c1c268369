// SPDX-License-Identifier: Apache-2.0
// What is known of the elements of a tile along each of its dims: how many are neighbours, how many
// are equal, and what divides them. One place of truth for every choice of how memory is accessed.
//
// Example: `(pid * 64 + arange(0, 64)) % M` with M a multiple of 16 has contiguity 16 and
// divisibility 16: sixteen elements at a time are consecutive, and the first of them is a multiple
// of 16.
//
// Arithmetic counts as exact, as in OffsetAnalysis.h. All numbers are powers of two.
#pragma once

#include "tt/TtOps.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <string>

#include <optional>

namespace pellucid::tt {

/// Of an integer or pointer, or a tile of them; a scalar counts as a tile of one dim and element.
struct AxisInfo {
  using PerDim = llvm::SmallVector<int64_t, 4>;

  /// Divides everything that is known to be zero.
  static constexpr int64_t mostDivisibility = int64_t(1) << 30;

  /// Aligned groups of so many elements along the dim are consecutive: x, x + 1, … For pointers
  /// that is one element of memory after the other.
  PerDim contiguity;
  /// Divides the first element of each such group; of pointers the address in bytes.
  PerDim divisibility;
  /// Aligned groups of so many elements along the dim are equal.
  PerDim constancy;
  /// No element is negative; or some are seen to be, for some values: constants below zero, and
  /// differences of tiles. Remainders and quotients of what is neither are taken to round down.
  bool nonNegative = false, fallsBelowZero = false;

  bool isKnown() const { return !contiguity.empty(); }
  unsigned rank() const { return contiguity.size(); }

  /// What divides every element at a multiple of `step` along `dim`; `unit` is the distance of
  /// neighbours (bytes, for pointers).
  int64_t divisibilityAt(unsigned dim, int64_t step, int64_t unit = 1) const;
  /// The dim along which the longest groups are consecutive, the innermost of several; none where
  /// no two neighbours are.
  std::optional<unsigned> contiguousDim() const;
  /// What divides all elements.
  int64_t divisibilityOfAll(int64_t unit = 1) const;

  /// Nothing but what the type says.
  static AxisInfo unknown(mlir::Type type);
  /// What holds of both. One without contents stands for "not reached".
  static AxisInfo join(const AxisInfo &a, const AxisInfo &b);

  bool operator==(const AxisInfo &) const = default;
  /// "contiguity = [1, 64], divisibility = [16, 16], constancy = [1, 1], nonnegative" (or "falls
  /// below zero", or neither)
  std::string text() const;
  void print(llvm::raw_ostream &os) const { os << text(); }
};

/// The bytes that a pointer's neighbour is away; 1 for what is no pointer.
int64_t axisUnit(mlir::Type type);

/// The analysis of one function, with loops, branches and hints (`tt.divisibility`,
/// `tt.contiguity`, `tt.constancy`, `pellucid.nonnegative`, assumptions). The function must not
/// change meanwhile.
class AxisAnalysis {
public:
  explicit AxisAnalysis(FuncOp function);
  ~AxisAnalysis();

  AxisInfo of(mlir::Value value) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

/// A cast whose result has the elements of its operand, held in another way.
bool keepsElements(mlir::Operation *op);

/// The info of each result of `op` from that of its operands (AxisTransfer.cpp); hints are not
/// looked at.
llvm::SmallVector<AxisInfo, 1> axisTransfer(mlir::Operation *op, llvm::ArrayRef<AxisInfo> operands);

} // namespace pellucid::tt
