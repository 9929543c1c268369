// SPDX-License-Identifier: Apache-2.0
// Element operations as NVIDIA devices do them: what codegen/common computes by polynomials, by the
// special function unit where that is accurate enough. Bounds in docs/design/0008-cuda-code.md.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace pellucid::codegen {

/// As emitElementOp, on scalars. f32 division is div.full (2 ulp), as in Triton; tt.precise_divf is
/// correctly rounded.
llvm::SmallVector<llvm::Value *, 2> emitCudaElementOp(CodeBuilder &builder, mlir::Operation *op,
                                                      llvm::ArrayRef<llvm::Value *> operands);

/// Every use of the result ends in a float of 16 bits or fewer by way of products, quotients, sums
/// and choices, so that a relative error of 2^-16 is lost in the rounding; or in an operation that
/// `mayEnd` the way as well.
bool feedsNarrowFloatsOnly(mlir::Value value,
                           llvm::function_ref<bool(mlir::Operation *)> mayEnd = nullptr);

} // namespace pellucid::codegen
