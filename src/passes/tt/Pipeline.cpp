// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Pipeline.h"

#include "passes/tt/Passes.h"
#include "tt/Tt.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace pellucid::tt {

void buildKernelPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createFoldSpecialization());
  pm.addPass(createLiftControlFlow());
  pm.addPass(createInlineCalls());
  pm.addPass(mlir::createCanonicalizerPass());
  // One kernel, one block, constants known: what block pointers and descriptors are made from is in
  // sight.
  pm.addPass(createRewriteBlockPointers());
  pm.addPass(createRewriteDescriptors());
  pm.addPass(createDecomposeScaledDots());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createScalarizeCarriedOffsets());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createLoopInvariantCodeMotionPass());
  pm.addPass(mlir::createCSEPass());
}

bool runKernelPipeline(mlir::ModuleOp module, Diagnostics &diagnostics) {
  DiagnosticsCollector collector(module.getContext(), diagnostics);
  mlir::PassManager pm(module.getContext());
#ifdef NDEBUG
  pm.enableVerifier(false);
#endif
  buildKernelPipeline(pm);
  if (mlir::succeeded(pm.run(module)))
    return true;
  if (!diagnostics.hasErrors())
    diagnostics.error(SourceLocation(), "a pass over the kernel failed without saying why");
  return false;
}

void registerKernelPipeline() {
  mlir::PassPipelineRegistration<>("tt-kernel-pipeline",
                                   "everything between the front end and code generation",
                                   buildKernelPipeline);
}

} // namespace pellucid::tt
