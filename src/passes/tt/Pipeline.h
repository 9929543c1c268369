// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace pellucid::tt {

/// Brings a module of kernels into the form that analyses, fusion and code generation take: one
/// block per function, no calls, no block pointers, no descriptors.
void buildKernelPipeline(mlir::OpPassManager &pm);

/// Runs it on `module`. False when a pass refuses the kernel; `diagnostics` says why, at the user's
/// line.
bool runKernelPipeline(mlir::ModuleOp module, Diagnostics &diagnostics);

/// Makes the pipeline known as `--tt-kernel-pipeline`.
void registerKernelPipeline();

} // namespace pellucid::tt
