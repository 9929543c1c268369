// SPDX-License-Identifier: Apache-2.0
// Which functions of a kernel may be computed to the accuracy of bf16.
// docs/design/0009-vector-math.md states the rule and the bounds.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace pellucid::codegen {

/// On a function: a relative error of 2^-16 is harmless, so bfloat16GradeMath computes it.
inline constexpr llvm::StringLiteral bfloat16GradeAttr = "tt.bf16_grade";
/// On a rounding to bf16: the upper half of a NaN that arrives here is a NaN.
inline constexpr llvm::StringLiteral shortNanAttr = "tt.short_nan";

/// Puts both attributes where they hold. True when some function may be of bf16 grade.
bool markBFloat16Grade(mlir::Operation *kernel);

} // namespace pellucid::codegen
