// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace pellucid::package {

/// A tensor as copies by box see it: what the run time describes to the device (CUtensorMap) and
/// passes behind the kernel's own parameters and Triton's scratch pointers.
struct TensorMap {
  /// In elements.
  struct Dim {
    int64_t size = 1, stride = 1;
    uint32_t box = 1; ///< of a copy
    /// That say how long the dim and its stride are instead, unless -1.
    int32_t sizeParameter = -1, strideParameter = -1;
  };

  uint32_t parameter = 0; ///< of the kernel: where the tensor begins
  uint32_t elementBytes = 0;
  uint32_t swizzleBytes = 0; ///< a row of a box: 16 (no swizzle), 32, 64 or 128
  /// f32, of which copies leave the nearest numbers of tf32.
  bool roundsToTf32 = false;
  std::vector<Dim> dims; ///< the innermost first, whose stride is 1
};

} // namespace pellucid::package
