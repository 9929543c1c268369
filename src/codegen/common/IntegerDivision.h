// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/common/CodeBuilder.h"

namespace pellucid::codegen {

/// Quotient toward zero and remainder of scalars or vectors. A zero divisor and the smallest
/// number by -1 give some value instead of a trap.
struct QuotientRemainder {
  llvm::Value *quotient, *remainder;
};
QuotientRemainder emitDivision(CodeBuilder &builder, llvm::Value *dividend, llvm::Value *divisor,
                               bool isSigned);

/// Rounded toward minus infinity or plus infinity.
llvm::Value *emitFloorDivision(CodeBuilder &builder, llvm::Value *dividend, llvm::Value *divisor);
llvm::Value *emitCeilDivision(CodeBuilder &builder, llvm::Value *dividend, llvm::Value *divisor,
                              bool isSigned);

/// Shifts by any amount: from the width on, what is shifted in fills all bits.
llvm::Value *emitShift(CodeBuilder &builder, llvm::Instruction::BinaryOps kind, llvm::Value *value,
                       llvm::Value *amount);

} // namespace pellucid::codegen
