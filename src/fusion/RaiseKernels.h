// SPDX-License-Identifier: Apache-2.0
/// Users' kernels that compute each element of one tensor from the same element of others
/// (docs/design/0061).
#pragma once

#include "fusion/FuseIntoKernels.h"

namespace pellucid::fusion {

/// A launch of such a kernel behind a product whose result it alone reads becomes a pointwise
/// operator, which is added to `registry`: the product computes it before it stores. `edges` says
/// so, where they said why it could not be. Returns how many there were.
size_t raiseElementwiseKernels(graph::Program &program, graph::OperatorRegistry &registry,
                               mlir::MLIRContext &context, std::vector<FusionEdge> &edges);

} // namespace pellucid::fusion
