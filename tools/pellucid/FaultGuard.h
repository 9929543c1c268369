// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace pellucid::cli {

/// From here to its end, an access of a native kernel to memory that is not there ends the process
/// with exit code 1 and the target's name, instead of a signal. What a kernel overwrote may be
/// noticed long after its launch.
void guardAgainstFaults(const std::string &target);

} // namespace pellucid::cli
