// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"

namespace pellucid::passes {

/// Refuses what mentions a size that is read inside of a branch or loop's body it does not belong
/// to: each turn has another, and a branch that is not taken none.
void checkSizeReads(const graph::Program &program);

/// Moves reads of sizes, with what they are computed from, before the first node of the main graph
/// that mentions their symbols: a pass may have moved that node up. Throws DiagnosticError where
/// the read itself needs that node.
void orderSizeReads(graph::Program &program);

} // namespace pellucid::passes
