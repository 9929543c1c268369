// SPDX-License-Identifier: Apache-2.0
// One function of VectorMath.h as an image that maps arrays, for measuring its error.
#pragma once

#include "codegen/KernelRunner.h"
#include "codegen/common/VectorMath.h"

namespace pellucid::codegen {

/// out[i] = function(x[i]) or function(x[i], y[i]); counts are multiples of 16.
class MathImage {
public:
  MathImage(UnaryMath function, bool wide, CpuLevel level);
  MathImage(BinaryMath function, bool wide, CpuLevel level);
  void run(const void *x, const void *y, void *out, int64_t count) const;

private:
  void build(UnaryMath unary, BinaryMath binary, bool wide, CpuLevel level);
  std::unique_ptr<CompiledKernel> kernel;
};

/// The distance of `actual` from `exact` in units of the last place of the result's format; 0 for
/// matching NaN or infinity, 1e30 for anything else that is not finite. Subnormals have the spacing
/// of the smallest ones.
double errorInUlps(float actual, double exact);
double errorInUlps(double actual, long double exact);

} // namespace pellucid::codegen
