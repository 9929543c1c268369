// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace pellucid::tt {

/// A block of a strided tensor in memory. Sizes, strides and offsets are i64 scalars, in elements.
struct TileView {
  mlir::Value base;
  llvm::SmallVector<mlir::Value> sizes, strides, offsets;
  llvm::ArrayRef<int64_t> block;

  int64_t rank() const { return static_cast<int64_t>(block.size()); }
};

/// The tile of pointers to the elements of the block. What varies from block to block stays scalar,
/// so that the tile part can be hoisted out of loops.
mlir::Value tilePointers(mlir::OpBuilder &builder, mlir::Location loc, const TileView &view);

/// True where the element lies inside the tensor in each of `dims`; null for no dims.
mlir::Value tileMask(mlir::OpBuilder &builder, mlir::Location loc, const TileView &view,
                     llvm::ArrayRef<int32_t> dims);

/// A 1-d tile of i64 or i1 laid along dim `dim` of `shape` and repeated along the others.
mlir::Value spreadAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value line, int64_t dim,
                        llvm::ArrayRef<int64_t> shape);

/// A tile of `shape` that holds `value` everywhere.
mlir::Value splatTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<int64_t> shape);

/// A tile of `type` with the value of masked-off elements: NaN where `padNan` (an i1) and the type
/// has one, else zero.
mlir::Value paddingTile(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        mlir::Value padNan);

/// i32 -> i64, sign-extended; an i64 stays.
mlir::Value toI64(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

} // namespace pellucid::tt
