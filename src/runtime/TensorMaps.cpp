// SPDX-License-Identifier: Apache-2.0
#include "runtime/TensorMaps.h"

#include <algorithm>
#include <bit>

namespace pellucid::runtime::cuda {

static constexpr size_t mostDims = 5;
static constexpr int64_t alignment = 16;

namespace {
/// As the driver takes it; strides count bytes, and that of the innermost dim is left out.
struct Extents {
  uint64_t sizes[mostDims] = {1, 1, 1, 1, 1},
           strides[mostDims] = {alignment, alignment, alignment, alignment, alignment};
  bool isEmpty = false;
};
} // namespace

static Result findExtents(const package::TensorMap &map,
                          const std::function<int64_t(uint32_t)> &valueOf, Extents &out) {
  // Copies name places in 32 bits, up to a box beyond the end.
  constexpr int64_t mostSize = INT32_MAX - 512, mostStride = int64_t(1) << 40;
  auto number = [&](int32_t parameter, int64_t known) {
    return parameter < 0 ? known : valueOf(static_cast<uint32_t>(parameter));
  };
  for (size_t d = 0; d < map.dims.size(); ++d) {
    int64_t size = number(map.dims[d].sizeParameter, map.dims[d].size);
    out.isEmpty |= size <= 0;
    if (size > mostSize)
      return Result::error(PELLUCID_UNSUPPORTED, "a dim of " + std::to_string(size) +
                                                     " elements is copied by box up to " +
                                                     std::to_string(mostSize));
    out.sizes[d] = static_cast<uint64_t>(size);
  }
  if (out.isEmpty)
    return {};
  for (size_t d = 1; d < map.dims.size(); ++d) {
    int64_t stride = number(map.dims[d].strideParameter, map.dims[d].stride);
    if (stride <= 0 || stride >= mostStride / map.elementBytes ||
        stride * map.elementBytes % alignment != 0)
      return Result::error(PELLUCID_UNSUPPORTED,
                           "a tensor descriptor has a stride of " + std::to_string(stride) +
                               " elements of " + std::to_string(map.elementBytes) +
                               " bytes, which must be a positive multiple of 16 bytes");
    out.strides[d - 1] = static_cast<uint64_t>(stride) * map.elementBytes;
  }
  return {};
}

Result encodeTensorMap(const Driver &driver, const package::TensorMap &map, Address address,
                       Address zeros, const std::function<int64_t(uint32_t)> &valueOf,
                       TensorMap &out) {
  // CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
  constexpr int types[] = {0, 1, 2, 4}; // unsigned integers of 1, 2, 4 and 8 bytes
  constexpr int tf32 = 11, promotedTo256 = 3;
  Extents extents;
  if (Result result = findExtents(map, valueOf, extents); !result.ok())
    return result;
  if (extents.isEmpty) {
    extents = Extents();
    address = zeros;
  }
  unsigned box[mostDims], steps[mostDims] = {1, 1, 1, 1, 1};
  for (size_t d = 0; d < map.dims.size(); ++d)
    box[d] = map.dims[d].box;
  int swizzle = std::countr_zero(map.swizzleBytes / 16);
  Code code = driver.tensorMapEncodeTiled(
      &out, map.roundsToTf32 ? tf32 : types[std::countr_zero(map.elementBytes)],
      static_cast<unsigned>(map.dims.size()),
      reinterpret_cast<void *>(static_cast<uintptr_t>(address)), extents.sizes, extents.strides,
      box, steps, 0, swizzle, promotedTo256, 0);
  return code == 0 ? Result() : driver.check(code, "describe a tensor to the device");
}

bool mayBeEmpty(const package::TensorMap &map) {
  return std::any_of(map.dims.begin(), map.dims.end(),
                     [](const auto &dim) { return dim.sizeParameter >= 0; });
}

} // namespace pellucid::runtime::cuda
