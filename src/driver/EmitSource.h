// SPDX-License-Identifier: Apache-2.0
/// Generated Triton source through the front end: how the scheduler and fusion get their kernels.
#pragma once

#include "fusion/FuseIntoKernels.h"
#include "passes/graph/LowerToLaunches.h"

#include "mlir/IR/MLIRContext.h"

namespace pellucid::driver {

/// Compiles kernels of passes/graph/KernelText.h to TTIR text in `context`, which must outlive the
/// result.
passes::CompileText textCompiler(mlir::MLIRContext &context);

/// Compiles chains of fusion/FuseIntoKernels.h.
fusion::EmitChain chainEmitter(mlir::MLIRContext &context);

} // namespace pellucid::driver
