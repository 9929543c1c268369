// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/DataType.h"

#include <pellucid/dlpack.h>

#include <optional>
#include <string>

namespace pellucid::runtime {

DLDataType toDlpack(DataType type);
/// nullopt for what no tensor of ours has.
std::optional<DataType> fromDlpack(DLDataType type);
inline bool isSame(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/// "bf16"; for foreign types "code 5, 64 bits, 1 lane".
std::string text(DLDataType type);
/// "cpu", "cuda:1".
std::string text(DLDevice device);

/// Where a tensor's first element lies.
inline unsigned char *dataOf(const DLTensor &tensor) {
  return static_cast<unsigned char *>(tensor.data) + tensor.byte_offset;
}

} // namespace pellucid::runtime
