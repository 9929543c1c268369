// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Kernel.h"

#include <optional>
#include <set>
#include <string>

namespace pellucid::driver {

/// The type that an annotation such as `tl.int32` gives a scalar.
std::optional<DataType> annotatedScalar(const host::JitFunction::Parameter &parameter);

struct PointerGuess {
  std::set<std::string> pointers; ///< parameters that the kernel, or what it calls, addresses with
  std::set<std::string> integers; ///< those of them whose elements go into offsets and bounds
};

/// Found in the kernel's text alone. `depth` counts the calls above.
PointerGuess guessPointers(host::Interpreter &interpreter, const host::JitFunction &kernel,
                           int depth = 0);

} // namespace pellucid::driver
