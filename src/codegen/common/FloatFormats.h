// SPDX-License-Identifier: Apache-2.0
// Narrow float formats, held as their bits. All conversions round to nearest even and work on
// scalars and vectors alike.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "llvm/IR/IntrinsicInst.h"

namespace pellucid::codegen {

/// True for floats that are computed in f32: f16, bf16 and the 8-bit formats.
bool isNarrowFloat(mlir::Type element);

/// The bits of `format` -> f32, exactly. f32 and f64 pass unchanged.
llvm::Value *widenFloat(CodeBuilder &builder, llvm::Value *value, mlir::Type format);

/// f32 or f64 -> the bits of `format`, rounded once. f32 and f64 formats get a float conversion.
/// 8-bit formats saturate at their largest finite value; NaN stays NaN. `shortNan`: the upper half
/// of a NaN in `value` is one by itself, which bf16 makes use of.
llvm::Value *narrowFloat(CodeBuilder &builder, llvm::Value *value, mlir::Type format,
                         bool towardZero = false, bool shortNan = false);

/// The PTX instruction that made the bits of an f16 or bf16 out of its first operand, alone
/// (CodeBuilder::hasPackedRounding); else null.
llvm::IntrinsicInst *packedRounding(llvm::Value *half);

} // namespace pellucid::codegen
