// SPDX-License-Identifier: Apache-2.0
/// What this machine itself reaches, measured now: the yardstick of every benchmark.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pellucid::driver {

struct Ceiling {
  double copyBytesPerSecond = 0;   ///< read plus written, plain stores
  double streamBytesPerSecond = 0; ///< the same with non-temporal stores
  double fmaFlopsPerSecond = 0;    ///< float32, two per fused multiply-add, all threads
  double best() const {
    return copyBytesPerSecond > streamBytesPerSecond ? copyBytesPerSecond : streamBytesPerSecond;
  }
};

/// Copies `bytes` (default: far beyond the caches) on `threads` threads, best of `rounds`; then
/// runs independent fused multiply-adds for some milliseconds. Takes about 0.3 s.
Ceiling measureCeiling(unsigned threads, size_t bytes = size_t(128) << 20, int rounds = 7);

} // namespace pellucid::driver
