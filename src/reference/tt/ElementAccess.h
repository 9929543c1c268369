// SPDX-License-Identifier: Apache-2.0
// One element in memory, as loads, stores, atomics and blocks share it.
#pragma once

#include "reference/tt/Machine.h"

namespace pellucid::reference {

/// i1 lies in memory as a byte that is zero or not.
uint64_t loadElement(Machine &machine, mlir::Operation &op, const Element &pointer,
                     mlir::Type elementType, AccessKind kind = AccessKind::Load);
void storeElement(Machine &machine, mlir::Operation &op, const Element &pointer,
                  mlir::Type elementType, uint64_t bits, AccessKind kind = AccessKind::Store);

/// Reads, combines with `value` and writes; returns what was there.
uint64_t updateElement(Machine &machine, mlir::Operation &op, const Element &pointer,
                       mlir::Type elementType,
                       llvm::function_ref<uint64_t(uint64_t previous)> combine);

/// The sum of two floats of `floatType`, rounded once.
uint64_t addFloats(uint64_t a, uint64_t b, mlir::Type floatType);

/// What fills a padded element.
uint64_t paddingBits(mlir::Type elementType, bool withNan);

} // namespace pellucid::reference
