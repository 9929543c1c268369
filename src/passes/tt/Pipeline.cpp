// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Pipeline.h"

#include "passes/tt/Passes.h"

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
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createScalarizeCarriedOffsets());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createLoopInvariantCodeMotionPass());
  pm.addPass(mlir::createCSEPass());
}

void registerKernelPipeline() {
  mlir::PassPipelineRegistration<>("tt-kernel-pipeline",
                                   "everything between the front end and code generation",
                                   buildKernelPipeline);
}

} // namespace pellucid::tt
