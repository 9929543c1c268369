// SPDX-License-Identifier: Apache-2.0
/// What templates know of the device that they are cut for. Rates are what kernels reach, not what
/// data sheets say.
#pragma once

#include <cstdint>

namespace pellucid::passes {

struct DeviceModel {
  uint32_t sm = 90;           ///< compute capability: 80, 90; 0 for the CPU
  int64_t processors = 132;   ///< multiprocessors
  int64_t sharedBytes = 0;    ///< of a block at most
  double matrixFlops = 0;     ///< per second, 16-bit operands
  double memoryBytes = 0;     ///< per second, from memory
  double cacheBytes = 0;      ///< per second, from the second-level cache, all together
  double processorBytes = 0;  ///< per second, into one multiprocessor
  double latency = 0;         ///< seconds from a copy's start to its end
  double blockStart = 0;      ///< seconds of a block outside of its loop
  double launch = 0;          ///< seconds of one launch more
  bool hasWarpgroups = false; ///< wgmma
};

/// The model of what has compute capability `sm`, or of the nearest one known; 0: of the CPU.
const DeviceModel &deviceModel(uint32_t sm);

} // namespace pellucid::passes
