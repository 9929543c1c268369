// SPDX-License-Identifier: Apache-2.0
/// What a call of aten.convolution, or of one of PyTorch's functions for it, says about its
/// operands.
#pragma once

#include "graph/FakeRules.h"

namespace pellucid::graph {

/// result[b, o, y…] = sum over c, t… of input[b, c, y * stride - padding + t * dilation] *
/// weight[o, c, t…], for the channels of o's group. Transposed: each element of the input is added
/// to what it would be computed from.
struct ConvolutionDims {
  Expr batch = 1, inputChannels = 1, outputChannels = 1;
  int64_t groups = 1;
  bool transposed = false;
  bool isSingle = false;           ///< neither input nor result has a batch
  std::vector<Expr> input, output; ///< sizes of the spatial dims
  std::vector<int64_t> kernel, stride, padding, dilation, outputPadding;

  size_t spatial() const { return kernel.size(); }
  Expr inputPerGroup() const { return floorDiv(inputChannels, groups); }
  Expr outputPerGroup() const { return floorDiv(outputChannels, groups); }
};
/// Refuses what PyTorch does.
ConvolutionDims convolutionDims(const OperatorCall &call);

} // namespace pellucid::graph
