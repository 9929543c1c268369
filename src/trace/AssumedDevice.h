// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace pellucid::trace {

/// What files are told that ask for a device.
struct AssumedDevice {
  std::string device = "cpu"; ///< or "cuda"
  uint32_t generation = 80;   ///< of the latter: 80 for sm_80
};

} // namespace pellucid::trace
