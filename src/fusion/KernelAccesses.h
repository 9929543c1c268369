// SPDX-License-Identifier: Apache-2.0
/// The loads and stores of a kernel behind one pointer argument.
#pragma once

#include "tt/TtOps.h"

#include <optional>
#include <string>

namespace pellucid::fusion {

/// The accesses that go through one pointer argument, or why they cannot be told.
struct Accesses {
  llvm::SmallVector<tt::LoadOp> loads;
  llvm::SmallVector<tt::StoreOp> stores;
  std::optional<std::string> refusal;
};

/// Follows the pointer forward through additions of offsets, splats, broadcasts and new dims to its
/// loads and stores. Anything else that it reaches is a refusal.
Accesses collectAccesses(mlir::BlockArgument pointer);

/// Bools lie in memory as bytes: pointers to them are cast before they are used.
bool isBoolPointerCast(mlir::Operation *op);

/// True when nobody sees what the masked-off elements of `load` hold: each only ever reaches the
/// same element of a store under the same mask, or of a select that the mask decides.
bool hidesMaskedOff(tt::LoadOp load);

/// ` at line 12`, or nothing.
std::string atLine(mlir::Location location);

} // namespace pellucid::fusion
