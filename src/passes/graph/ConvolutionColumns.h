// SPDX-License-Identifier: Apache-2.0
// How the CPU's convolution kernel divides the places of a result (docs/design/0077).
#pragma once

#include "support/DataType.h"
#include "symbolic/Expr.h"

#include <vector>

namespace pellucid::passes {

struct ConvolutionColumns {
  symbolic::Expr blocks; ///< of columns: programs
  int64_t atOnce = 1;    ///< columns of a program
  bool byLines = false;  ///< columns are places of lines that go on as far as windows reach
  int64_t rows = 1;      ///< results' channels of a program
};

struct ConvolutionPlaces {
  DataType type;
  int64_t outputs; ///< channels of a group
  symbolic::Expr images;
  std::vector<symbolic::Expr> output;
  std::vector<int64_t> kernel, stride, dilation;
};

ConvolutionColumns divideColumns(const ConvolutionPlaces &places);

} // namespace pellucid::passes
