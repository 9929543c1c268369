// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "CommandLine.h"

#include <cstdint>
#include <string>

namespace pellucid::cli {

/// From here to its end, an access of a native kernel to memory that is not there ends the process
/// with exit code 1 and the target's name, instead of a signal. What a kernel overwrote may be
/// noticed long after its launch.
/// `note` says what helps then.
void guardAgainstFaults(const std::string &target, const std::string &note);

/// `--guard end|begin`: every tensor of a launch or a call ends or begins at a page without access.
Option addGuard(VerbLine &line, std::string &guard);
/// What the text stands for in pellucid_run_options.
int32_t guardNamed(const std::string &text);

} // namespace pellucid::cli
