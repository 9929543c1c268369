// SPDX-License-Identifier: Apache-2.0
/// Slices of what is computed (docs/design/0057).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Where a few pointwise operators and joins make a tensor that is read through slices alone
/// (`as_strided` with a step along some dims), each slice is computed of slices of their operands
/// instead, if that computes at most twice as many elements: the tensor is never in memory. What
/// nobody reads any more is left where it is. Returns how many tensors there were.
size_t computeSlices(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
