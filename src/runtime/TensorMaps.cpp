// SPDX-License-Identifier: Apache-2.0
#include "runtime/TensorMaps.h"

#include <bit>

namespace pellucid::runtime::cuda {

Code encodeTensorMap(const Driver &driver, const package::TensorMap &map, Address address,
                     TensorMap &out) {
  constexpr size_t mostDims = 5;
  // CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
  constexpr int types[] = {0, 1, 2, 4}; // unsigned integers of 1, 2, 4 and 8 bytes
  constexpr int promotedTo256 = 3;
  uint64_t sizes[mostDims], strides[mostDims];
  unsigned box[mostDims], steps[mostDims];
  for (size_t d = 0; d < map.dims.size(); ++d) {
    sizes[d] = static_cast<uint64_t>(map.dims[d].size);
    if (d > 0) // that of the innermost dim is its element
      strides[d - 1] = static_cast<uint64_t>(map.dims[d].stride) * map.elementBytes;
    box[d] = map.dims[d].box;
    steps[d] = 1;
  }
  int swizzle = std::countr_zero(map.swizzleBytes / 16);
  return driver.tensorMapEncodeTiled(&out, types[std::countr_zero(map.elementBytes)],
                                     static_cast<unsigned>(map.dims.size()),
                                     reinterpret_cast<void *>(static_cast<uintptr_t>(address)),
                                     sizes, strides, box, steps, 0, swizzle, promotedTo256, 0);
}

} // namespace pellucid::runtime::cuda
