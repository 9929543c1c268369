// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/common/LaneEvaluator.h"

#include "mlir/IR/Region.h"

namespace pellucid::codegen {

/// Emits a combining or mapping region on register values, all scalars or all vectors of equal
/// length, and returns what it returns. Both sides of an scf.if are computed and chosen from.
llvm::SmallVector<llvm::Value *, 2> emitRegion(CodeBuilder &builder, LaneEnvironment &environment,
                                               mlir::Region &region,
                                               llvm::ArrayRef<llvm::Value *> arguments);

/// A scalar constant in register form.
llvm::Constant *scalarConstant(llvm::LLVMContext &context, mlir::Attribute value, mlir::Type type);

} // namespace pellucid::codegen
