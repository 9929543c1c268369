// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/Program.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace pellucid::driver {

/// Makes one kernel of the program's kernels from index `first` on that differ by floating-point
/// numbers alone, which it takes as arguments: generating code takes far longer than a launch. A
/// few such kernels stay as they are, their numbers known to the code generator (docs/design/0024).
void shareKernels(graph::Program &program, size_t first, mlir::MLIRContext &context);

} // namespace pellucid::driver
