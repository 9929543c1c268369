// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "support/Target.h"

#include <vector>

namespace pellucid::driver {

/// Which CPU images a kernel goes into. Levels beyond x86-64-v4 add instructions for products and
/// nothing else, so a kernel that does not use them is in the image of a lower level only, which
/// the run time falls back to (docs/design/0020). `chosen`: all targets of the package.
bool belongsInto(const Target &target, const graph::KernelDef &kernel,
                 const std::vector<Target> &chosen);

} // namespace pellucid::driver
