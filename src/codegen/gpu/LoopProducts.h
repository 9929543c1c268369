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
llvm::SmallVector<mlir::Value> shareInvariants(mlir::scf::ForOp loop, const tt::AxisAnalysis &axes);

/// The first operation of a body that waits for the product, regions included.
mlir::Operation *firstUser(mlir::Value product, mlir::Block *body);

/// A branch that reads a product under way waits for it, and hands it on as it is then.
void awaitInBranches(mlir::Value running);

/// Zeros, also behind what changes their type.
bool isZero(mlir::Value value);

} // namespace pellucid::ttgpu
