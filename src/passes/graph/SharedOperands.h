// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Registry.h"
#include "passes/graph/KernelText.h"

namespace pellucid::passes {

/// Inputs that are views of one tensor, as the places of a window are, become one operand, and
/// differ by where they begin.
void shareOperands(std::vector<graph::Value *> &inputs, PointwiseSpec &spec,
                   const graph::OperatorRegistry &registry);

} // namespace pellucid::passes
