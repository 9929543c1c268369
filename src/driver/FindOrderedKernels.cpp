// SPDX-License-Identifier: Apache-2.0
#include "driver/FindOrderedKernels.h"

#include "tt/Tt.h"
#include "tt/TtOps.h"

namespace pellucid::driver {

using namespace mlir;

static bool dependsOnOrder(Operation *op) {
  if (auto update = dyn_cast<tt::AtomicRMWOp>(op)) {
    tt::RMWOp kind = update.getAtomicRmwOp();
    return !op->use_empty() || kind == tt::RMWOp::FADD || kind == tt::RMWOp::XCHG;
  }
  return isa<tt::AtomicCASOp, tt::AtomicPollOp, tt::DescriptorReduceOp>(op);
}

void findOrderedKernels(LoweredProgram &lowered, MLIRContext &context) {
  for (uint32_t index : lowered.usedKernels) {
    const graph::KernelDef &kernel = lowered.program.kernels[index];
    // Most kernels have none, and reading one back costs a millisecond.
    if (kernel.ttir.find("tt.atomic_") == std::string::npos &&
        kernel.ttir.find("tt.descriptor_reduce") == std::string::npos)
      continue;
    Diagnostics ignored;
    auto module = tt::parseTtir(kernel.ttir, &context, ignored, kernel.name);
    if (!module || module
                       ->walk([](Operation *op) {
                         return dependsOnOrder(op) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
                       })
                       .wasInterrupted())
      lowered.orderedKernels.insert(index);
  }
}

} // namespace pellucid::driver
