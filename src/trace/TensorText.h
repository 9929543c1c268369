// SPDX-License-Identifier: Apache-2.0
/// Tensors with values as print() shows them in PyTorch.
#pragma once

#include "support/DataType.h"

#include <optional>
#include <string>
#include <vector>

namespace pellucid::trace {

struct ConcreteTensor;

/// torch.set_printoptions.
struct PrintOptions {
  int64_t precision = 4, threshold = 1000, edgeItems = 3, lineWidth = 80;
  std::optional<bool> scientific; ///< none: by the values
  /// What torch.set_default_dtype chose: it is not said.
  DataType floats = DataType::Float32;
};

/// `tensor([…], dtype=torch.int32, requires_grad=True)`. `before` and `after` are words to stand
/// in front of the dtype and behind it: the device; what is known of gradients.
std::string tensorText(const ConcreteTensor &tensor, const PrintOptions &options,
                       const std::vector<std::string> &before,
                       const std::vector<std::string> &after);

} // namespace pellucid::trace
