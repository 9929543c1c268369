// SPDX-License-Identifier: Apache-2.0
// The f64 functions behind VectorMath.h.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "llvm/ADT/ArrayRef.h"

namespace pellucid::codegen {

/// c[0] + c[1] x + c[2] x^2 + ... with fused steps.
llvm::Value *emitPolynomial(CodeBuilder &builder, llvm::Value *x,
                            llvm::ArrayRef<double> coefficients);
llvm::Value *emitFma(CodeBuilder &builder, llvm::Value *x, llvm::Value *y, llvm::Value *z);

/// erf of 16 f32, with AVX-512. VectorMathErf.cpp.
llvm::Value *erfOfSixteen(CodeBuilder &builder, llvm::Value *x);
llvm::Value *tanhOfSixteen(CodeBuilder &builder, llvm::Value *x);

/// x - quadrant * pi/2, in [-pi/4, pi/4] and a little beyond; `low` is what `remainder` misses. NaN
/// for infinities.
struct QuarterTurns {
  llvm::Value *quadrant; ///< i64; only its last two bits mean something
  llvm::Value *remainder, *low;
};
QuarterTurns reduceByQuarterTurns(CodeBuilder &builder, llvm::Value *x, bool needLow);

/// Replaces what `small` says of angles above 2^30, where it is not to be trusted. LargeAngles.cpp.
QuarterTurns reduceLargeAngles(CodeBuilder &builder, llvm::Value *x, const QuarterTurns &small);

llvm::Value *expDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *exp2Double(CodeBuilder &builder, llvm::Value *x);
llvm::Value *exp10Double(CodeBuilder &builder, llvm::Value *x);
llvm::Value *expm1Double(CodeBuilder &builder, llvm::Value *x);
llvm::Value *logDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *log2Double(CodeBuilder &builder, llvm::Value *x);
llvm::Value *log10Double(CodeBuilder &builder, llvm::Value *x);
llvm::Value *log1pDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *sinDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *cosDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *tanDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *asinDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *acosDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *atanDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *sinhDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *coshDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *tanhDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *asinhDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *acoshDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *atanhDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *erfDouble(CodeBuilder &builder, llvm::Value *x);
/// The same as 1 - 2^(-a q(a)) for large a = |x|, without a quotient: for a device, whose quotients
/// take some ten multiplications. With `isBesideOne`, where only the absolute error counts, for all
/// x, within 1.4 * 2^-53.
llvm::Value *erfByExponential(CodeBuilder &builder, llvm::Value *x, bool isBesideOne);
llvm::Value *erfcDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *cbrtDouble(CodeBuilder &builder, llvm::Value *x);
llvm::Value *powDouble(CodeBuilder &builder, llvm::Value *x, llvm::Value *y);
llvm::Value *fmodDouble(CodeBuilder &builder, llvm::Value *x, llvm::Value *y);
llvm::Value *atan2Double(CodeBuilder &builder, llvm::Value *y, llvm::Value *x);
llvm::Value *hypotDouble(CodeBuilder &builder, llvm::Value *x, llvm::Value *y);

} // namespace pellucid::codegen
