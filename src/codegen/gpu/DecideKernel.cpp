// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/SharedUse.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

namespace pellucid::ttgpu {

static void buildPipeline(mlir::OpPassManager &pm, const ChooseProductsOptions &options) {
  pm.addPass(createNarrowArithmetic());
  pm.addPass(createChooseProducts(options));
  pm.addPass(createUnwrapRanges());
  pm.addPass(createAccumulateProducts());
  pm.addPass(createRestartSums());
  pm.addPass(createFlattenBranches());
  pm.addPass(createCountRounds());
  pm.addPass(createPipelineLoops());
  pm.addPass(createChooseLayouts());
  pm.addPass(createAllocateShared());
  pm.addPass(createInsertBarriers());
  pm.addPass(createDependOnLaunches());
}

/// What a launch of any of the functions takes.
static uint64_t sharedBytesOf(mlir::ModuleOp module) {
  uint64_t most = 0;
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    if (auto bytes = function->getAttrOfType<mlir::IntegerAttr>(sharedBytesName))
      most = std::max<uint64_t>(most, bytes.getInt());
  return most;
}

mlir::OwningOpRef<mlir::ModuleOp> decideKernel(mlir::ModuleOp source,
                                               ChooseProductsOptions options) {
  for (;; --options.mostStages) {
    mlir::OwningOpRef<mlir::ModuleOp> module = source.clone();
    mlir::PassManager pm(module->getContext());
#ifdef NDEBUG
    pm.enableVerifier(false);
#endif
    buildPipeline(pm, options);
    if (mlir::failed(pm.run(*module)))
      return nullptr;
    if (options.mostStages <= 1 || sharedBytesOf(*module) <= mostSharedBytes(options.sm))
      return module;
  }
}

namespace {
struct DecideOptions : mlir::PassPipelineOptions<DecideOptions> {
  Option<unsigned> sm{*this, "sm", llvm::cl::init(90)};
  Option<unsigned> warps{*this, "warps", llvm::cl::init(4)};
  Option<unsigned> stages{*this, "stages", llvm::cl::init(3)};
  Option<unsigned> mostStages{*this, "most-stages", llvm::cl::init(8)};
  Option<bool> generationOnly{*this, "generation-only", llvm::cl::init(false)};
  Option<bool> tensorCopies{*this, "tensor-copies", llvm::cl::init(false)};
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
        options.tensorCopies = from.tensorCopies;
        buildPipeline(pm, options);
      });
}

} // namespace pellucid::ttgpu
