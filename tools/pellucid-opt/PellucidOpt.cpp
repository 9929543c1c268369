// SPDX-License-Identifier: Apache-2.0
// Runs passes on IR text, for lit tests.
#include "codegen/gpu/Passes.h"
#include "passes/tt/Passes.h"
#include "passes/tt/Pipeline.h"
#include "tt/Tt.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int pellucidOptMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pellucid::tt::registerTtDialects(registry);
  mlir::registerTransformsPasses();
  pellucid::tt::registerTtPasses();
  pellucid::tt::registerKernelPipeline();
  registry.insert<pellucid::ttgpu::TtGpuDialect>();
  pellucid::ttgpu::registerTtGpuPasses();
  pellucid::ttgpu::registerDecidePipeline();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "Pellucid pass driver\n", registry));
}
