// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

namespace pellucid::ttgpu {

static void buildPipeline(mlir::OpPassManager &pm, const ChooseProductsOptions &options) {
  pm.addPass(createChooseProducts(options));
  pm.addPass(createAccumulateProducts());
  pm.addPass(createPipelineLoops());
  pm.addPass(createChooseLayouts());
}

mlir::LogicalResult decideKernel(mlir::ModuleOp module, const ChooseProductsOptions &options) {
  mlir::PassManager pm(module.getContext());
#ifdef NDEBUG
  pm.enableVerifier(false);
#endif
  buildPipeline(pm, options);
  return pm.run(module);
}

namespace {
struct DecideOptions : mlir::PassPipelineOptions<DecideOptions> {
  Option<unsigned> sm{*this, "sm", llvm::cl::init(90)};
  Option<unsigned> warps{*this, "warps", llvm::cl::init(4)};
  Option<unsigned> stages{*this, "stages", llvm::cl::init(3)};
  Option<unsigned> mostStages{*this, "most-stages", llvm::cl::init(8)};
  Option<bool> generationOnly{*this, "generation-only", llvm::cl::init(false)};
};
} // namespace

void registerDecidePipeline() {
  mlir::PassPipelineRegistration<DecideOptions>(
      "ttgpu-decide", "everything that is decided of a kernel for a GPU before it is emitted",
      [](mlir::OpPassManager &pm, const DecideOptions &from) {
        ChooseProductsOptions options;
        options.sm = from.sm;
        options.warps = from.warps;
        options.stages = from.stages;
        options.mostStages = from.mostStages;
        options.generationOnly = from.generationOnly;
        buildPipeline(pm, options);
      });
}

} // namespace pellucid::ttgpu
