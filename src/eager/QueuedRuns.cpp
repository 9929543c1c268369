// SPDX-License-Identifier: Apache-2.0
#include "eager/QueuedRuns.h"

#include <thread>
#include <utility>

namespace pellucid::eager {

QueuedRuns &QueuedRuns::get() {
  static auto *runs = new QueuedRuns;
  return *runs;
}

void QueuedRuns::add(std::function<void()> run) {
  settle();
  std::lock_guard lock(mutex);
  pending = std::move(run);
  isDone = false;
  if (!std::exchange(isWorking, true))
    // The process may end while it sleeps.
    std::thread([this] { work(); }).detach();
  changed.notify_all();
}

void QueuedRuns::settle() {
  std::function<void()> spent;
  std::exception_ptr error;
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return isDone; });
    spent = std::exchange(pending, nullptr);
    error = std::exchange(failure, nullptr);
  }
  spent = nullptr;
  if (error)
    std::rethrow_exception(error);
}

void QueuedRuns::settleQuietly() noexcept {
  try {
    settle();
  } catch (...) {
  }
}

void QueuedRuns::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return !isDone; });
    lock.unlock();
    std::exception_ptr error;
    try {
      pending();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    failure = error;
    isDone = true;
    changed.notify_all();
  }
}

} // namespace pellucid::eager
