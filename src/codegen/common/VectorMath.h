// SPDX-License-Identifier: Apache-2.0
/// Elementary functions as inlined polynomials on LLVM scalars or vectors of float or double. No library is called.
/// Bounds on the error (units in the last place) stand beside each function; the coefficients come from
/// scripts/fit_polynomials.py.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace pellucid::codegen {

class VectorMath {
public:
  explicit VectorMath(llvm::IRBuilder<> &b) : b(b) {}

  llvm::Value *exp(llvm::Value *x);   ///< 1 ulp; gradual underflow, inf above 88.72 (709.78)
  llvm::Value *exp2(llvm::Value *x);  ///< 1 ulp
  llvm::Value *expm1(llvm::Value *x); ///< 2 ulp
  llvm::Value *log(llvm::Value *x);   ///< 1 ulp; -inf at 0, NaN below
  llvm::Value *log2(llvm::Value *x);  ///< 2 ulp
  llvm::Value *log1p(llvm::Value *x); ///< 2 ulp
  llvm::Value *tanh(llvm::Value *x);  ///< 2 ulp
  llvm::Value *erf(llvm::Value *x);   ///< 2 ulp (float)
  llvm::Value *sin(llvm::Value *x);   ///< 2 ulp for |x| < 2^27 (float), 2^20 (double); absolute error grows beyond
  llvm::Value *cos(llvm::Value *x);
  llvm::Value *pow(llvm::Value *x, llvm::Value *y); ///< float: through double, 1 ulp; double: a few ulp for large results
  llvm::Value *sqrt(llvm::Value *x);                ///< correctly rounded
  llvm::Value *rsqrt(llvm::Value *x);               ///< 1 / sqrt(x), each correctly rounded
  llvm::Value *floor(llvm::Value *x);
  llvm::Value *ceil(llvm::Value *x);
  llvm::Value *trunc(llvm::Value *x);
  llvm::Value *roundeven(llvm::Value *x);
  llvm::Value *fma(llvm::Value *x, llvm::Value *y, llvm::Value *z);
  llvm::Value *abs(llvm::Value *x);
  llvm::Value *copysign(llvm::Value *magnitude, llvm::Value *sign);
  /// NaN if either is; -0 below +0.
  llvm::Value *maximum(llvm::Value *x, llvm::Value *y);
  llvm::Value *minimum(llvm::Value *x, llvm::Value *y);
  /// The other one if either is NaN.
  llvm::Value *maxnum(llvm::Value *x, llvm::Value *y);
  llvm::Value *minnum(llvm::Value *x, llvm::Value *y);
  /// x - trunc(x / y) * y, exact.
  llvm::Value *fmod(llvm::Value *x, llvm::Value *y);

  /// The nearest bfloat16 (float16) of a float, as a float; ties to even, NaN stays NaN.
  llvm::Value *roundToBFloat16(llvm::Value *x);
  llvm::Value *roundToFloat16(llvm::Value *x);

  /// A constant of x's type.
  llvm::Value *constant(llvm::Value *like, double value);
  llvm::Value *isNaN(llvm::Value *x) { return b.CreateFCmpUNO(x, x); }

private:
  bool isDouble(llvm::Value *x) const { return x->getType()->getScalarType()->isDoubleTy(); }
  llvm::Type *intTypeOf(llvm::Value *x) const;
  llvm::Value *horner(llvm::Value *x, llvm::ArrayRef<double> highestFirst);
  /// value * 2^n for an integral float n, with gradual underflow.
  llvm::Value *scaleByPowerOfTwo(llvm::Value *value, llvm::Value *n);
  /// exp(r) for small r, times 2^n.
  llvm::Value *expReduced(llvm::Value *r, llvm::Value *n);
  struct Split {
    llvm::Value *s, *z, *exponent; ///< log(x) = exponent * ln 2 + 2 s + s z p(z)
  };
  Split splitForLog(llvm::Value *x);
  llvm::Value *fixLogEdges(llvm::Value *x, llvm::Value *result);
  llvm::Value *sinOrCos(llvm::Value *x, bool cosine);

  llvm::IRBuilder<> &b;
};

} // namespace pellucid::codegen
