// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Pipeline.h"

#include "passes/tt/Passes.h"
#include "support/CrashHandler.h"
#include "tt/Tt.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
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

namespace {
/// Says which pass it was when one ends the process.
class NameThePass : public mlir::PassInstrumentation {
public:
  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    names.push_back(std::make_unique<Named>(pass->getName().str()));
  }
  void runAfterPass(mlir::Pass *, mlir::Operation *) override { names.pop_back(); }
  void runAfterPassFailed(mlir::Pass *, mlir::Operation *) override { names.pop_back(); }

private:
  struct Named {
    explicit Named(std::string n) : name(std::move(n)), work("running the pass", name) {}
    std::string name;
    Working work;
  };
  std::vector<std::unique_ptr<Named>> names;
};
} // namespace

bool runKernelPipeline(mlir::ModuleOp module, Diagnostics &diagnostics) {
  DiagnosticsCollector collector(module.getContext(), diagnostics);
  mlir::PassManager pm(module.getContext());
#ifdef NDEBUG
  pm.enableVerifier(false);
#endif
  buildKernelPipeline(pm);
  pm.addInstrumentation(std::make_unique<NameThePass>());
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
