// SPDX-License-Identifier: Apache-2.0
#include "package/PackedMatrix.h"

namespace pellucid::package {

bool hasMatrixKernel(DataType type) {
  return type == DataType::Float32 || type == DataType::Float64 || type == DataType::BFloat16 ||
         type == DataType::Float16;
}

template <typename Bits>
static void pack(const Bits *from, int64_t n, int64_t k, int64_t strideK, int64_t strideN,
                 Bits *to) {
  for (int64_t panel = 0; panel < packedElements(n, 1);
       panel += productPanel, to += k * productPanel)
    for (int64_t lane = 0; lane < productPanel; ++lane)
      for (int64_t row = 0; row < k; ++row)
        to[row * productPanel + lane] =
            panel + lane < n ? from[row * strideK + (panel + lane) * strideN] : Bits(0);
}

void packMatrix(DataType type, const void *b, int64_t n, int64_t k, int64_t strideK,
                int64_t strideN, void *packed) {
  switch (byteSize(type)) {
  case 2:
    return pack(static_cast<const uint16_t *>(b), n, k, strideK, strideN,
                static_cast<uint16_t *>(packed));
  case 4:
    return pack(static_cast<const uint32_t *>(b), n, k, strideK, strideN,
                static_cast<uint32_t *>(packed));
  default:
    return pack(static_cast<const uint64_t *>(b), n, k, strideK, strideN,
                static_cast<uint64_t *>(packed));
  }
}

} // namespace pellucid::package
