// SPDX-License-Identifier: Apache-2.0
/// How work grows, without a clock: pellucid_counted compiles files so that every basic block that
/// runs calls a counter. The same on every machine, however busy it is.
#pragma once

#include <cstdint>

namespace pellucid::test {

/// Basic blocks of the counted sources that have run.
uint64_t blocksRun();

/// How many times more blocks `work(8 * size)` runs than `work(size)`: about 8 when it is linear,
/// 64 when it is quadratic.
template <typename Work> double growthOverEightfold(const Work &work, int size) {
  uint64_t start = blocksRun();
  work(size);
  uint64_t small = blocksRun() - start;
  work(8 * size);
  return static_cast<double>(blocksRun() - start - small) / static_cast<double>(small);
}

} // namespace pellucid::test
