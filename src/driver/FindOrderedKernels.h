// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/AssemblePackage.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace pellucid::driver {

/// Fills `lowered.orderedKernels`: the kernels whose result depends on the order in which their
/// programs run, because they add floating-point numbers atomically or use what an atomic operation
/// found.
void findOrderedKernels(LoweredProgram &lowered, mlir::MLIRContext &context);

} // namespace pellucid::driver
