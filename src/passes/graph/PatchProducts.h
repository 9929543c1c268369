// SPDX-License-Identifier: Apache-2.0
/// Convolutions whose windows lie side by side, on the CPU (docs/design/0100).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Where windows lie side by side and cover the image, as a transformer's patches do, a convolution
/// is a product of the patches, copied one after the other, and the weight: lines of a patch are
/// copied as vectors, where a kernel that packs windows takes places with a step between them.
/// Returns how many there were.
size_t multiplyPatches(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
