// SPDX-License-Identifier: Apache-2.0
// Conversions of fp8 by the instructions of sm_90, two elements at a time.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "mlir/IR/Operation.h"

#include <array>

namespace pellucid::codegen {

/// A conversion from or to e4m3 or e5m2 that such an instruction makes: to the nearest, saturating.
bool hasFloat8Instruction(mlir::Operation *op, unsigned sm);

/// Two results, in register form, of two operands.
std::array<llvm::Value *, 2> emitFloat8Pair(CodeBuilder &builder, mlir::Operation *op,
                                            std::array<llvm::Value *, 2> operands);

} // namespace pellucid::codegen
