// SPDX-License-Identifier: Apache-2.0
#include "runtime/Cancellation.h"

namespace pellucid::runtime {

using std::chrono::steady_clock;

Cancellation::Cancellation(const pellucid_run_options *options) {
  if (!options)
    return;
  flag = options->cancel;
  hasLimit = options->timeout_ms > 0;
  milliseconds = options->timeout_ms;
  // A limit beyond the clock's range is none.
  constexpr int64_t longest = int64_t(1) << 40;
  if (hasLimit)
    end = steady_clock::now() +
          std::chrono::milliseconds(options->timeout_ms < longest ? options->timeout_ms : longest);
}

bool Cancellation::isRequested() {
  if (reason.load(std::memory_order_relaxed) != Reason::None)
    return true;
  if (flag && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0)
    reason.store(Reason::Flag, std::memory_order_relaxed);
  else if (hasLimit && steady_clock::now() >= end)
    reason.store(Reason::Time, std::memory_order_relaxed);
  else
    return false;
  return true;
}

Result Cancellation::result() const {
  switch (reason.load(std::memory_order_relaxed)) {
  case Reason::None:
    break;
  case Reason::Flag:
    return Result::error(PELLUCID_CANCELLED, "the call was cancelled by its caller");
  case Reason::Time:
    return Result::error(PELLUCID_CANCELLED, "the call took longer than its limit of " +
                                                 std::to_string(milliseconds) + " ms");
  }
  return {};
}

} // namespace pellucid::runtime
