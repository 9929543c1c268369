// SPDX-License-Identifier: Apache-2.0
/// Packages whose launches a thread of its own queues on a device while the script's thread goes on
/// recording (docs/design/0074).
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace pellucid::eager {

/// One run at a time. Whoever asks the device for something that must come behind it settles first;
/// copies to new memory need not.
class QueuedRuns {
public:
  /// Never destroyed, as the devices.
  static QueuedRuns &get();

  /// Settles, and hands `run` to the thread. It holds what it needs until the next settle(), which
  /// lets go of it on its caller's thread.
  void add(std::function<void()> run);
  /// Everything that was added is queued. Throws what went wrong there, once.
  void settle();
  /// The same where nobody can be told what went wrong.
  void settleQuietly() noexcept;

private:
  QueuedRuns() = default;
  void work();

  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> pending; ///< until settle()
  bool isDone = true;
  std::exception_ptr failure;
  bool isWorking = false;
};

} // namespace pellucid::eager
