// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f16 and bf16 by the instructions that devices have for it, two elements at a time.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace pellucid::codegen {

/// One instruction on f16 or bf16 gives the bits of the same operation in f32 that is rounded
/// behind: f32 has more than twice the digits, so the first rounding does not change the second.
bool hasHalfInstruction(mlir::Operation *op);

/// The result's bits from those of the operands: i16, or vectors of two.
llvm::Value *emitHalfInstruction(CodeBuilder &builder, mlir::Operation *op,
                                 llvm::ArrayRef<llvm::Value *> operands);

} // namespace pellucid::codegen
