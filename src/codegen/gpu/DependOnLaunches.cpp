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
// microsecond of each block, of which a multiprocessor begins one in some 150 nanoseconds then,
// instead of 80. Blocks that go through a loop, or exchange what they have, and move more than
// is moved in that time, do not feel it; straight lines of loads and stores and rows of a few
// hundred elements, in thousands of short blocks, do. Beside a block that
// multiplies there is no shared memory for the next launch's, so there is nothing to gain.
#include "codegen/common/CodeBuilder.h"
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

/// What a block moves of a tile.
uint64_t bytesOf(Value pointers, Type data) {
  auto tile = dyn_cast<RankedTensorType>(pointers.getType());
  return tile ? tile.getNumElements() * codegen::memoryBytes(codegen::elementTypeOf(data)) : 0;
}

/// How often a block comes to it, where a loop of unknown length is one of a few dozen rounds.
uint64_t roundsAround(Operation *op) {
  constexpr uint64_t usual = 32;
  uint64_t rounds = 1;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>()) {
    std::optional<llvm::APInt> known = loop.getStaticTripCount();
    rounds =
        std::min<uint64_t>(rounds, 1 << 20) * (known ? known->getLimitedValue(1 << 20) : usual);
  }
  return rounds;
}

bool gains(tt::FuncOp function) {
  constexpr uint64_t enough = 8 << 10;
  bool loops = false, exchanges = false, multiplies = false;
  uint64_t moved = 0;
  function.walk([&](Operation *op) {
    loops |= isa<LoopLikeOpInterface>(op);
    exchanges |= isa<tt::ReduceOp, tt::ScanOp>(op);
    multiplies |= isa<tt::DotOp>(op);
    if (auto load = dyn_cast<tt::LoadOp>(op))
      moved += roundsAround(op) * bytesOf(load.getPtr(), load.getType());
    if (auto store = dyn_cast<tt::StoreOp>(op))
      moved += roundsAround(op) * bytesOf(store.getPtr(), store.getValue().getType());
  });
  return (loops || exchanges) && moved >= enough && !multiplies;
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
