// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"

#include <cstdint>
#include <memory>
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
  /// Of a compressed member: the bytes that `offset` counts in, instead of the file's.
  std::shared_ptr<const std::vector<uint8_t>> inflated = nullptr;
};

/// The bytes of a tensor without gaps; nullopt for negative dims, and where the dims that are not 0
/// go beyond 63 bits.
inline std::optional<uint64_t> denseBytes(DataType dtype, const std::vector<int64_t> &shape) {
  int64_t bytes = byteSize(dtype);
  bool isEmpty = false;
  for (int64_t dim : shape) {
    isEmpty |= dim == 0;
    if (dim < 0 || __builtin_mul_overflow(bytes, dim ? dim : 1, &bytes))
      return std::nullopt;
  }
  return isEmpty ? 0 : static_cast<uint64_t>(bytes);
}

} // namespace pellucid::package
