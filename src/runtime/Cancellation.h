// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/Result.h"

#include <atomic>
#include <chrono>

namespace pellucid::runtime {

/// Whether the caller of one call wants it to end: its flag, or its time limit. Asked by every
/// thread of the call.
class Cancellation {
public:
  explicit Cancellation(const pellucid_run_options *options);

  /// False: nothing can cancel this call, and nobody needs to ask.
  bool isPossible() const { return flag || hasLimit; }
  bool isRequested();
  /// PELLUCID_CANCELLED and why, once isRequested() said so to anyone.
  Result result() const;

private:
  const int32_t *flag = nullptr;
  bool hasLimit = false;
  int64_t milliseconds = 0;
  std::chrono::steady_clock::time_point end;
  enum class Reason : uint8_t { None, Flag, Time };
  std::atomic<Reason> reason = Reason::None;
};

} // namespace pellucid::runtime
