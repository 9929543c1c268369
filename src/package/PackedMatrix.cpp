// SPDX-License-Identifier: Apache-2.0
#include "package/PackedMatrix.h"

#include <algorithm>
#include <cstring>

namespace pellucid::package {

bool hasMatrixKernel(DataType type) {
  return type == DataType::Float32 || type == DataType::Float64 || type == DataType::BFloat16 ||
         type == DataType::Float16;
}

/// Elements of a mapped .npz lie at any address.
template <typename Bits> static Bits loadAt(const void *b, int64_t element) {
  Bits value;
  std::memcpy(&value, static_cast<const char *>(b) + element * int64_t(sizeof value), sizeof value);
  return value;
}

template <typename Bits>
static void pack(DataType type, const void *from, int64_t n, int64_t k, int64_t strideK,
                 int64_t strideN, Bits *to) {
  int64_t group = packedGroup(type), depth = packedDepth(type, k);
  for (int64_t panel = 0; panel < packedElements(type, n, k) / std::max<int64_t>(1, depth);
       panel += productPanel, to += depth * productPanel)
    for (int64_t lane = 0; lane < productPanel; ++lane)
      for (int64_t row = 0; row < depth; ++row)
        to[(row / group * productPanel + lane) * group + row % group] =
            panel + lane < n && row < k
                ? loadAt<Bits>(from, row * strideK + (panel + lane) * strideN)
                : Bits(0);
}

void packMatrix(DataType type, const void *b, int64_t n, int64_t k, int64_t strideK,
                int64_t strideN, void *packed) {
  switch (byteSize(type)) {
  case 2:
    return pack(type, b, n, k, strideK, strideN, static_cast<uint16_t *>(packed));
  case 4:
    return pack(type, b, n, k, strideK, strideN, static_cast<uint32_t *>(packed));
  default:
    return pack(type, b, n, k, strideK, strideN, static_cast<uint64_t *>(packed));
  }
}

} // namespace pellucid::package
