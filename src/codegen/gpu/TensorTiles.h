// SPDX-License-Identifier: Apache-2.0
// Tiles of pointers that are boxes of a tensor, so that one instruction copies them (TMA).
//
// Example: `p + (m0 + arange(0, 128))[:, None] * 2000 + (k + arange(0, 64))[None, :]` under
// `m0 + … < 1000` and `k + … < 2000` is the box at (k, m0) of a tensor of 1000 rows of 2000.
#pragma once

#include "codegen/gpu/TtGpu.h"
#include "tt/AxisInfo.h"
#include "tt/OffsetAnalysis.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace pellucid::ttgpu {

/// The number that a scalar always is.
std::optional<int64_t> scalarConstantOf(mlir::Value value);

/// A tile that a loop loads as a box of a tensor.
struct TensorTile {
  TensorMapAttr map;
  unsigned number = 0; ///< of the map in the function
  /// Where the box begins, the innermost dim first, as sums of products.
  struct Term {
    int64_t coefficient;
    /// Numbers in `scalars`; -1 is the loop's round.
    llvm::SmallVector<int> factors;
  };
  struct Place {
    llvm::SmallVector<Term> terms;
    bool mayBeNegative = false;
  };
  llvm::SmallVector<Place, 3> at;
  /// The first one is where the loop begins.
  llvm::SmallVector<mlir::Value> scalars;
};

/// The boxes that one loop loads.
class TensorTiles {
public:
  /// Of a dim: places are numbers of 32 bits, and a box may end beyond the tensor.
  static constexpr int64_t mostSize = INT32_MAX - 512;

  TensorTiles(mlir::scf::ForOp loop, const tt::AxisAnalysis &axes);

  /// Adds its map to the function. None where it is not proved that the copy reads what the load
  /// reads, and nothing but zeros where that is masked off.
  std::optional<TensorTile> tileOf(tt::LoadOp load, BufferType type);

  /// What a product by warpgroups reads of a load of f32 and nobody else does, rounded to tf32: the
  /// copy by box rounds by itself. null: there is no such thing.
  mlir::Value roundedOf(tt::LoadOp load, BufferType type);

  /// The place (i32 for each dim) in the round whose index is `index`; `known` has the scalars of
  /// that round.
  llvm::SmallVector<mlir::Value> placeOf(mlir::OpBuilder &b, const TensorTile &tile,
                                         mlir::Value index, const mlir::IRMapping &known);

private:
  using Form = tt::OffsetForm;
  class Box;

  /// In terms of the number of the loop's round, where that is known.
  std::optional<Form> inRounds(const Form &form);
  std::optional<Form> inRounds(const tt::OffsetSymbol &symbol);
  bool isOfRound(const tt::OffsetSymbol &symbol) const { return symbol == round; }
  bool isNeverNegative(const Form &form);
  /// What a form that is never negative is at most; none where that is not known.
  std::optional<int64_t> mostOf(const Form &form);
  std::optional<int64_t> mostOf(const tt::OffsetSymbol &symbol);
  std::optional<int64_t> mostOf(mlir::Value value, unsigned depth);
  bool addPlace(TensorTile &tile, const Form &form);
  mlir::Value scalarOf(const tt::OffsetSymbol &symbol);

  mlir::scf::ForOp loop;
  const tt::AxisAnalysis &axes;
  /// The number of the loop's round, where its index steps by a constant.
  tt::OffsetSymbol round;
  Form lower;
  int64_t step = 0; ///< 0: not known
  std::optional<int64_t> mostRound, mostIndex;
  /// What values, and the programs' numbers by axis, are assumed to be at most.
  llvm::DenseMap<mlir::Value, int64_t> assumed;
  llvm::SmallDenseMap<unsigned, int64_t> programs;
};

/// The copies that follow it, one after the other.
llvm::SmallVector<TensorCopyOp> copiesOf(ExpectCopiesOp expected);
/// The argument that a copy reads.
mlir::Value baseOf(TensorCopyOp copy);

} // namespace pellucid::ttgpu
