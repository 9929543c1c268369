// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Kernel.h"

#include <set>
#include <string>

namespace pellucid::driver {

/// The parameters that the kernel, or a function it calls, makes addresses of; found in the text
/// alone. `depth` counts the calls above.
std::set<std::string> guessPointers(host::Interpreter &interpreter, const host::JitFunction &kernel,
                                    int depth = 0);

} // namespace pellucid::driver
