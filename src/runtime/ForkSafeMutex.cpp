// SPDX-License-Identifier: Apache-2.0
#include "runtime/ForkSafeMutex.h"

#include <pthread.h>

namespace pellucid::runtime {

/// All that exist.
class ForkSafeMutexes {
public:
  /// Never destroyed: packages may be unloaded while the process ends.
  static ForkSafeMutexes &all() {
    static ForkSafeMutexes *instance = [] {
      pthread_atfork([] { all().lock(); }, [] { all().unlock(); }, [] { all().unlock(); });
      return new ForkSafeMutexes;
    }();
    return *instance;
  }

  void add(ForkSafeMutex &added) {
    std::lock_guard guard(mutex);
    added.next = first;
    if (first)
      first->previous = &added;
    first = &added;
  }
  void remove(ForkSafeMutex &removed) {
    std::lock_guard guard(mutex);
    (removed.previous ? removed.previous->next : first) = removed.next;
    if (removed.next)
      removed.next->previous = removed.previous;
  }

private:
  std::mutex mutex;
  ForkSafeMutex *first = nullptr;

  void lock() {
    mutex.lock();
    for (ForkSafeMutex *each = first; each; each = each->next)
      each->mutex.lock();
  }
  void unlock() {
    for (ForkSafeMutex *each = first; each; each = each->next)
      each->mutex.unlock();
    mutex.unlock();
  }
};

ForkSafeMutex::ForkSafeMutex() { ForkSafeMutexes::all().add(*this); }
ForkSafeMutex::~ForkSafeMutex() { ForkSafeMutexes::all().remove(*this); }

} // namespace pellucid::runtime
