// SPDX-License-Identifier: Apache-2.0
// Which accesses of global memory may be of the same elements.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"

namespace pellucid::ttgpu {

/// The scalars that a pointer, or a tile of them, may be computed from: arguments of the kernel,
/// and what is loaded or made from integers. Loops and branches are looked through.
llvm::SetVector<mlir::Value> pointerRoots(mlir::Value pointer);

/// Threads of a block may access the same memory through both, other than each its own elements.
/// Different arguments are taken to be different memory, as Triton's users do. `ofOtherRound`: the
/// accesses may belong to different rounds of a loop.
bool accessesMeet(mlir::Value pointer, mlir::Value other, bool ofOtherRound);

} // namespace pellucid::ttgpu
