// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace pellucid {

/// `body(i, thread)` for every i < count, in order of i, on at most `mostThreads` threads, this one
/// among them; those that may not be started are done without. `body` does not throw.
void sideBySide(size_t count, size_t mostThreads, const auto &body) {
  std::atomic<size_t> next = 0;
  auto work = [&](size_t thread) {
    for (size_t i = next++; i < count; i = next++)
      body(i, thread);
  };
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < std::min(count, mostThreads))
      others.emplace_back(work, others.size() + 1);
  } catch (const std::system_error &) { // as many as there are
  }
  work(0);
  for (std::thread &thread : others)
    thread.join();
}

/// What this machine computes at once, at most `most`.
inline size_t threadsHere(size_t most) {
  return std::min(most, std::max<size_t>(std::thread::hardware_concurrency(), 1));
}

} // namespace pellucid
