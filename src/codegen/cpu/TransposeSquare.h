// SPDX-License-Identifier: Apache-2.0
// Squares of elements are transposed in registers.
#pragma once

#include "codegen/common/CodeBuilder.h"

namespace pellucid::codegen {

/// `rows`: as many vectors as each has lanes, a power of two. Lane j of vector i and lane i of
/// vector j change places.
void transposeSquare(CodeBuilder &builder, llvm::MutableArrayRef<llvm::Value *> rows);

} // namespace pellucid::codegen
