// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Frame.h"

namespace pellucid::runtime {

/// A launch of one call: its variant, its grid and, in the frame's `arguments`, its packed
/// arguments.
struct PreparedLaunch {
  const VariantPlan *variant = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint64_t programs = 0; ///< 0: nothing to do
};

/// Largest grids: of CUDA in y and z 65535, else 2^31 - 1.
struct GridLimits {
  int64_t x, y, z;
};
inline constexpr GridLimits cpuGridLimits = {INT32_MAX, INT32_MAX, INT32_MAX};
inline constexpr GridLimits cudaGridLimits = {INT32_MAX, 65535, 65535};

/// Takes the first variant that fits the call and packs its arguments.
Result prepareLaunch(const ProgramPlan &plan, const LaunchPlan &launch, const GridLimits &limits,
                     Frame &frame, PreparedLaunch &out);

} // namespace pellucid::runtime
