// SPDX-License-Identifier: Apache-2.0
// The passes that decide a kernel for a GPU, in the order of decideKernel(). In and out is the tt
// dialect; what was decided is in the ttgpu dialect.
#pragma once

#include "codegen/gpu/TtGpu.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace pellucid::ttgpu {

#define GEN_PASS_DECL
#include "codegen/gpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/gpu/Passes.h.inc"

/// A copy of `source` that all of them have been through, with as many stages as shared memory has
/// room for; null when one failed, which goes to the context's diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> decideKernel(mlir::ModuleOp source,
                                               ChooseProductsOptions options);

/// `ttgpu-decide`: all of them, for pellucid-opt.
void registerDecidePipeline();

} // namespace pellucid::ttgpu
