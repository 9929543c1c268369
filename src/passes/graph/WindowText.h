// SPDX-License-Identifier: Apache-2.0
/// The template of convolutions with few channels to a group, in the kernel language
/// (docs/design/0043).
#pragma once

#include "passes/graph/DeviceModel.h"
#include "passes/graph/KernelText.h"

namespace pellucid::passes {

/// result[b, c, y…] = stored(sum over i, t… of x[b, c / outputs * inputs + i, y * stride - padding
/// + t * dilation] * weight[c, i, t…] + bias[c]), accumulated in `accumulate` and rounded once, to
/// `type`; elements of x beyond its border are zeros. Strides of x, bias, result and inputs run
/// over batch, channel, spatial dims, those of the weight over channel, i, kernel dims.
struct WindowSpec {
  std::string name;
  DataType type = DataType::Float32, accumulate = DataType::Float32;
  symbolic::Expr batch = 1, channels = 1; ///< of the result
  int64_t inputs = 1, outputs = 1;        ///< channels of a group
  std::vector<symbolic::Expr> inputSizes, outputSizes;
  std::vector<int64_t> kernel, stride, padding, dilation;
  TextOperand x, weight, result;
  std::vector<TextOperand> bias; ///< none or one
  /// What becomes of an element before it is stored: as in GemmSpec.
  std::vector<TextOperand> operands;
  std::vector<TextScalar> scalars;
  std::vector<TextStatement> body;
  std::string stored = "product";
};

/// Pointers: x, weight, the bias where there is one, the operands, the result.
KernelText writeWindows(const WindowSpec &spec, const DeviceModel &device,
                        const symbolic::SymbolTable &symbols);

} // namespace pellucid::passes
