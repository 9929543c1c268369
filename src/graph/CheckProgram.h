// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

#include <functional>

namespace pellucid::graph {

/// Holds what a program says of its nodes against what they call, once per node: arguments against
/// the operator's schema, results against its fake function; launches against the parameters of
/// their kernels; a user operator's call against the placeholders and results of its body; weights,
/// inputs and outputs against their placeholders. Readers believe nothing else, and passes are
/// checked by it. Throws DiagnosticError at `placeOf` the node, with what is said and what holds.
void checkProgram(const Program &program, const OperatorRegistry &registry,
                  const std::function<SourceLocation(const Node &)> &placeOf);

} // namespace pellucid::graph
