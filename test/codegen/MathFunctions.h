// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/MathImage.h"

#include <cmath>

namespace pellucid::codegen {

/// A function, what it should be, and how far it may be off, in units of the last place.
struct MathFunction {
  const char *name;
  double (*exact)(double);
  long double (*exactLong)(long double);
  double singleBound, doubleBound;
};

inline const std::vector<MathFunction> &mathFunctions() {
  static const std::vector<MathFunction> table = {
      {"exp", exp, expl, 1, 1},
      {"exp2", exp2, exp2l, 1, 1},
      {"exp10", exp10, exp10l, 0.51, 1.5},
      {"expm1", expm1, expm1l, 0.51, 2},
      {"log", log, logl, 1, 1},
      {"log2", log2, log2l, 1.1, 1},
      {"log10", log10, log10l, 0.51, 1},
      {"log1p", log1p, log1pl, 1.5, 2},
      {"sin", sin, sinl, 1.6, 1},
      {"cos", cos, cosl, 1.6, 1},
      {"tan", tan, tanl, 0.51, 3},
      {"asin", asin, asinl, 0.51, 2},
      {"acos", acos, acosl, 0.51, 2},
      {"atan", atan, atanl, 0.51, 3},
      {"sinh", sinh, sinhl, 0.51, 3},
      {"cosh", cosh, coshl, 0.51, 2},
      {"tanh", tanh, tanhl, 2, 3},
      {"asinh", asinh, asinhl, 0.51, 3},
      {"acosh", acosh, acoshl, 0.51, 3},
      {"atanh", atanh, atanhl, 0.51, 3},
      {"erf", erf, erfl, 2, 2},
      {"erfc", erfc, erfcl, 0.51, 4},
      {"cbrt", cbrt, cbrtl, 0.51, 1},
      {"sqrt", sqrt, sqrtl, 0.5, 0.5},
      {"floor", floor, floorl, 0, 0},
      {"ceil", ceil, ceill, 0, 0},
      {"trunc", trunc, truncl, 0, 0},
      {"round", round, roundl, 0, 0},
      {"rint", rint, rintl, 0, 0},
  };
  return table;
}

} // namespace pellucid::codegen
