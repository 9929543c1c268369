// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <string>

namespace pellucid::cli {

/// While it lives, an access of a native kernel to memory that is not there ends the process with
/// exit code 1 and the target's name, instead of a signal.
class FaultGuard {
public:
  explicit FaultGuard(const std::string &target);
  ~FaultGuard();
  FaultGuard(const FaultGuard &) = delete;
  FaultGuard &operator=(const FaultGuard &) = delete;

private:
  struct sigaction before[3];
};

} // namespace pellucid::cli
