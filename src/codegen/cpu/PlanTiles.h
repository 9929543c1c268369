// SPDX-License-Identifier: Apache-2.0
// Which tiles are kept in scratch memory, and which are computed where they are used.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pellucid::codegen {

enum class TilePlacement : uint8_t {
  Lazy,         ///< evaluated at every use
  AtDefinition, ///< written to scratch where it stands in the program
  AtFirstUse,   ///< written to scratch by the first nest that evaluates it
};

struct TilePlan {
  llvm::DenseMap<mlir::Value, TilePlacement> placement;
  /// Of tiles placed AtFirstUse.
  llvm::DenseMap<mlir::Value, mlir::Operation *> firstUse;
  /// Lines of indices that most likely count up by one, as `offsets % n` does: placed AtDefinition,
  /// and asked there.
  llvm::DenseSet<mlir::Value> likelyRamps;

  TilePlacement lookup(mlir::Value tile) const { return placement.lookup(tile); }
};

/// True for operations whose tile results can be evaluated at an index.
bool isLazyTileOp(mlir::Operation *op);

/// Decides for every tile of `kernel`. Loads keep their place in program order: one is evaluated
/// later only if no store that may alias lies between.
TilePlan planTiles(mlir::Operation *kernel);

/// Operations of the value's own block at which a lazy value is evaluated, in order.
llvm::SmallVector<mlir::Operation *, 4> evaluationPoints(mlir::Value value, const TilePlan &plan);

} // namespace pellucid::codegen
