// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"

#include "mlir/IR/MLIRContext.h"

namespace pellucid::driver {

/// Holds what a program says of its kernels' parameters against their TTIR: pointers and numbers
/// and their types, and that what the kernel reads and writes is among what is said. Throws
/// DiagnosticError with the kernel's name and both.
void checkKernels(const graph::Program &program, mlir::MLIRContext &context);

} // namespace pellucid::driver
