// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Says attention whose rows are too wide for tiles, or of a width without a bound, in products, a
/// mask and a softmax. Composites among these are left to decomposeComposites.
void openWideAttention(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
