// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pellucid::package {

/// Where a tensor lies in a file that holds tensors.
struct TensorEntry {
  std::string name;
  DataType dtype = DataType::Float32;
  std::vector<int64_t> shape;
  uint64_t offset = 0; ///< of the first byte, from the start of the file
  uint64_t bytes = 0;
  bool fortranOrder = false; ///< .npy only: the first dim varies fastest
};

/// The bytes of a tensor without gaps; nullopt for negative dims or beyond 64 bits.
inline std::optional<uint64_t> denseBytes(DataType dtype, const std::vector<int64_t> &shape) {
  uint64_t bytes = byteSize(dtype);
  bool overflow = false, empty = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    empty |= dim == 0;
    overflow |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes);
  }
  if (empty)
    return 0;
  return overflow ? std::nullopt : std::optional<uint64_t>(bytes);
}

} // namespace pellucid::package
