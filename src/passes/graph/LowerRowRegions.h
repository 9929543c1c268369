// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/LaunchEmitter.h"

namespace pellucid::passes {

/// Where `root`, a pointwise operator or a reduction along the last dim, goes on from reductions
/// along that dim that nothing else reads, as `x / x.sum(-1, True)` does: one kernel that reads
/// each row once and holds it. False where there is no such region, or rows are long or few.
bool lowerRowRegion(LaunchEmitter &emitter, graph::Node &root);

} // namespace pellucid::passes
