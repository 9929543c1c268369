// SPDX-License-Identifier: Apache-2.0
// The passes that decide a kernel for a GPU, in the order of decideKernel(). In and out is the tt
// dialect; what was decided is in the ttgpu dialect.
#pragma once

#include "codegen/gpu/TtGpu.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace pellucid::ttgpu {

#define GEN_PASS_DECL
#include "codegen/gpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/gpu/Passes.h.inc"

/// Runs all of them. What they have to say goes to the context's diagnostics.
mlir::LogicalResult decideKernel(mlir::ModuleOp module, const ChooseProductsOptions &options);

/// `ttgpu-decide`: all of them, for pellucid-opt.
void registerDecidePipeline();

} // namespace pellucid::ttgpu
