// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace pellucid::runtime {

/// A mutex that no other thread holds in a forked child: fork waits for it. For short sections in
/// which no other such mutex is made.
class ForkSafeMutex {
public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex &) = delete;
  ForkSafeMutex &operator=(const ForkSafeMutex &) = delete;

  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  friend class ForkSafeMutexes;
  std::mutex mutex;
  ForkSafeMutex *next = nullptr, *previous = nullptr;
};

} // namespace pellucid::runtime
