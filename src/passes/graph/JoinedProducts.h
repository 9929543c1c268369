// SPDX-License-Identifier: Apache-2.0
/// Linear layers of one input are one product (docs/design/0061).
#pragma once

#include "graph/Program.h"
#include "graph/Registry.h"

namespace pellucid::passes {

/// Linear layers of the same input, whose results are looked at through views by what takes them
/// however they lie, become one layer and parts of its result. Their weights, which nobody else may
/// read, are put together while the package is written. Returns how many layers are gone.
size_t joinProducts(graph::Program &program, const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
