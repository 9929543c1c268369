// SPDX-License-Identifier: Apache-2.0
/// Attention reads its operands where they lie (docs/design/0061).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Queries, keys and values that a program copies into another order for attention alone are read
/// where they lie; the result lies as the query then, and copies behind it that put it there are
/// none any more. What asks for the strides that it was traced with gets a copy. Returns how many
/// copies are gone.
size_t readOperandsInPlace(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
