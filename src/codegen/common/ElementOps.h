// SPDX-License-Identifier: Apache-2.0
// Operations that compute an element from the same element of their operands.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace pellucid::codegen {

/// True for the arith, math and tt operations that emitElementOp knows.
bool isElementOp(mlir::Operation *op);

/// True for those whose recomputation costs more than a trip through the cache.
bool isExpensiveElementOp(mlir::Operation *op);

/// Emits `op` on operands in register form, all scalars or all vectors of equal length; one value
/// per result. Never traps and has no undefined results: dividing by zero gives some value.
llvm::SmallVector<llvm::Value *, 2> emitElementOp(CodeBuilder &builder, mlir::Operation *op,
                                                  llvm::ArrayRef<llvm::Value *> operands);

} // namespace pellucid::codegen
