// SPDX-License-Identifier: Apache-2.0
// A launch may be queued before the one ahead of it in its stream has ended, where the kernel waits
// for that itself: its blocks are placed, its parameters read and its code fetched meanwhile. Such
// a kernel says at its very beginning that the next launch may do so too, and then waits: nothing
// of it touches memory before the launch ahead has ended and all that it wrote is seen. The one
// ahead either waited likewise or was queued in its turn, so everything ahead of it has ended as
// well.
//
// All blocks of a kernel have started when the next launch's are placed, so none that waits can
// keep one of those out that are waited for.
//
// Waiting empties the nearest cache of what other blocks have read, and takes a third of a
// microsecond of each block. Blocks that go through a loop or exchange what they have do not feel
// it; straight lines of loads and stores, in thousands of short blocks, do. Beside a block that
// multiplies there is no shared memory for the next launch's, so there is nothing to gain.
#include "codegen/gpu/Passes.h"
#include "tt/Tt.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_DEPENDONLAUNCHES
#include "codegen/gpu/Passes.h.inc"

namespace {

constexpr unsigned firstWithDependentLaunches = 90;

bool gains(tt::FuncOp function) {
  bool isLong = false, multiplies = false;
  function.walk([&](Operation *op) {
    isLong |= isa<LoopLikeOpInterface, tt::ReduceOp, tt::ScanOp>(op);
    multiplies |= isa<tt::DotOp>(op);
  });
  return isLong && !multiplies;
}

struct DependOnLaunches : impl::DependOnLaunchesBase<DependOnLaunches> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      // The kernel's own waits have nothing left to wait for.
      llvm::SmallVector<Operation *> own;
      function.walk([&](Operation *op) {
        if (isa<tt::GridDependencyWaitOp, tt::GridDependencyLaunchDependentsOp>(op))
          own.push_back(op);
      });
      for (Operation *op : own)
        op->erase();
      auto target = function->getAttrOfType<TargetAttr>(targetName);
      if (!target || target.getSm() < firstWithDependentLaunches || !gains(function))
        continue;
      auto b = OpBuilder::atBlockBegin(&function.getBody().front());
      tt::GridDependencyLaunchDependentsOp::create(b, function.getLoc());
      tt::GridDependencyWaitOp::create(b, function.getLoc());
      function->setAttr(dependentLaunchName, b.getUnitAttr());
    }
  }
};

} // namespace
} // namespace pellucid::ttgpu
