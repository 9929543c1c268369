// SPDX-License-Identifier: Apache-2.0
// Tiles of integers and addresses that grow by a fixed step along each dim, as the offsets of a
// block of a matrix do.
#pragma once

#include "codegen/common/LaneEvaluator.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace pellucid::codegen {

/// Element (i, j, ...) is first + i * steps[0] + j * steps[1] + ...
struct AffineTile {
  llvm::Value *first = nullptr;              ///< an i64, or an address
  llvm::SmallVector<llvm::Value *, 4> steps; ///< i64s, of addresses in bytes; null: zero
};

/// What is found holds only where an i1 does that is made on the way. Emits scalars at the
/// builder's insertion point.
class AffineTiles {
public:
  /// A line of integers in memory that counts up by one where `holds` is true.
  struct Line {
    llvm::Value *holds, *first;
  };
  using LineOf = llvm::function_ref<std::optional<Line>(mlir::Value)>;

  AffineTiles(CodeBuilder &builder, LaneEnvironment &environment, LineOf lineOf)
      : b(builder), environment(environment), lineOf(lineOf), condition(builder.getTrue()) {}

  std::optional<AffineTile> find(mlir::Value tile);
  /// Asks that `mask` is true everywhere; false where that cannot be asked.
  bool requireTrue(mlir::Value mask);
  /// An i1: all that was taken to hold does.
  llvm::Value *holds() const { return condition; }

private:
  std::optional<AffineTile> compute(mlir::Value tile);
  std::optional<AffineTile> computeArithmetic(mlir::Operation *op, mlir::Value tile);
  std::optional<AffineTile> computeProduct(mlir::Operation *op);
  std::optional<AffineTile> computeAddress(mlir::Operation *op);
  AffineTile plus(const AffineTile &x, const AffineTile &y, bool negated);
  /// Of a tile of 32 bits nothing but these is kept of a number.
  void narrow(AffineTile &tile, unsigned bits);
  void require(llvm::Value *also) { condition = b.CreateAnd(condition, also); }
  /// That no element is beyond what its type holds.
  void requireInRange(const AffineTile &numbers, mlir::Value tile);
  /// The least or the largest element.
  llvm::Value *corner(const AffineTile &numbers, llvm::ArrayRef<int64_t> shape, bool largest);
  bool requireOrder(mlir::Operation *compare);

  CodeBuilder &b;
  LaneEnvironment &environment;
  LineOf lineOf;
  llvm::Value *condition;
  llvm::DenseMap<mlir::Value, std::optional<AffineTile>> known;
};

} // namespace pellucid::codegen
