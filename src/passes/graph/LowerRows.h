// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/LaunchEmitter.h"

namespace pellucid::passes {

/// Row operators with the pointwise operators around them; each leaves its nodes replaced.
void lowerRow(LaunchEmitter &emitter, graph::Node &node, bool forCpu);
/// Where `members`, a pointwise group that ends in `root`, goes on from rows that nothing else
/// reads: one kernel for all. False where there is no such row operator.
bool lowerRowConsumers(LaunchEmitter &emitter, graph::Node &root,
                       const std::vector<graph::Node *> &members, bool forCpu);
/// A gather of one element of each row of a logarithmic softmax that nothing else reads: one
/// kernel that leaves the others unwritten. False for any other gather.
bool lowerPickedRow(LaunchEmitter &emitter, graph::Node &node, bool forCpu);

} // namespace pellucid::passes
