// SPDX-License-Identifier: Apache-2.0
/// What tests of growth measure: a busy machine changes the clock, hardly the work of this thread.
#pragma once

#include <algorithm>
#include <ctime>

namespace pellucid::test {

/// Seconds of processor time that this thread has used.
inline double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// How many times longer `work(8 * size)` takes than `work(size)`, each the best of three: about 8
/// when it is linear, 64 when it is quadratic. `work` returns the seconds it used.
template <typename Work> double growthOverEightfold(const Work &work, int size) {
  double small = 1e9, large = 1e9;
  for (int i = 0; i < 3; ++i) {
    small = std::min(small, work(size));
    large = std::min(large, work(8 * size));
  }
  return large / small;
}

} // namespace pellucid::test
