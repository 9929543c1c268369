// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Refuses, at its line, an operator that adds or multiplies floating-point numbers along dims of
/// unknown size: how many there are decides in which order kernels add, and so the last bits. The
/// program is decomposed.
void refuseSumsOverSizes(const graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
