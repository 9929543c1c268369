// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fusion/FuseIntoKernels.h"

#include <string>
#include <vector>

namespace pellucid::driver {

/// `{"edges": [{"from", "to", "fused", "reason"}]}`: what `explain --json` prints and packages
/// carry.
std::string explainJson(const std::vector<fusion::FusionEdge> &edges);

} // namespace pellucid::driver
