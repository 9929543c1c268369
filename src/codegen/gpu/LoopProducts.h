// SPDX-License-Identifier: Apache-2.0
// Products in a loop that is staged: what they read from before it, and where they are awaited.
#pragma once

#include "codegen/gpu/MatrixUnits.h"
#include "tt/AxisInfo.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pellucid::ttgpu {

inline bool hasMatrixUnit(tt::DotOp dot) { return unitOf(dot) != MatrixUnit::None; }

/// The dim along which most pointers are neighbours.
unsigned contiguousDim(mlir::Value pointers, const tt::AxisAnalysis &axes);

/// Puts operands from before the loop in shared memory once; the buffers.
llvm::SmallVector<mlir::Value> shareInvariants(mlir::scf::ForOp loop, const tt::AxisAnalysis &axes,
                                               uint64_t mostBytes = UINT64_MAX);
/// The same for a loop that stays as it is: its products would put them down again in every round.
void holdInvariants(mlir::scf::ForOp loop, const tt::AxisAnalysis &axes);

/// The first operation of a body that waits for the product, regions included.
mlir::Operation *firstUser(mlir::Value product, mlir::Block *body);

/// A branch that reads a product under way waits for it, and hands it on as it is then.
void awaitInBranches(mlir::Value running);

/// Zeros, also behind what changes their type.
bool isZero(mlir::Value value);

/// The loop may write what the pointer reads: memory that is read early must be what it would be
/// later.
bool mayBeWritten(mlir::Value pointer, mlir::scf::ForOp loop);

/// What computes addresses may do so for a later round of the loop.
bool canComeEarly(mlir::Operation *op, mlir::scf::ForOp loop);
/// A load of a round that may not come touches nothing then.
void maskLoad(tt::LoadOp load, mlir::Value comes);

bool isByWarpgroups(tt::DotOp dot);

/// Sums of other types are rounded behind the product.
bool addsAsItIs(tt::DotOp dot);

/// `copies`, of a later round, follow the start of the round's products, once those of the round
/// before have read what they write over. What they need is computed while threads would wait for
/// that.
void runIntoNextRound(llvm::ArrayRef<tt::DotOp> products, llvm::ArrayRef<mlir::Operation *> copies);
/// `copies` follow the start of a product, which is awaited behind them, before its first use.
void runBesideCopies(tt::DotOp dot, llvm::ArrayRef<mlir::Operation *> copies);

/// The tile goes into products of 16-bit elements and nowhere else.
bool isOperandOnly(mlir::Value tile);

} // namespace pellucid::ttgpu
