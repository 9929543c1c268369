// SPDX-License-Identifier: Apache-2.0
// Places in shared memory. Buffers live from their allocation to where they are given back, inside
// each other. Behind them, exchanges in a row take turns in a few kilobytes, so that what one
// writes is not what another is still reading, and a barrier each is enough.
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/SharedUse.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_ALLOCATESHARED
#include "codegen/gpu/Passes.h.inc"

namespace {

constexpr uint64_t bytesForTurns = 16 << 10;

class Allocation {
public:
  Allocation(tt::FuncOp function) : function(function), b(function.getContext()) {}

  void run() {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    function->setAttr(sharedBytesName, b.getI32IntegerAttr(static_cast<int32_t>(most)));
  }
  uint64_t bytes() const { return most; }
  Operation *largest() const { return last; }

private:
  void visit(Operation *op) {
    if (auto alloc = dyn_cast<AllocSharedOp>(op)) {
      BufferType type = alloc.getBuffer().getType();
      reserve(take(op, reserved, bytesOf(type), codegen::SharedTile::alignment) + bytesOf(type));
    } else if (auto alloc = dyn_cast<AllocBarriersOp>(op)) {
      uint64_t bytes = bytesOf(alloc.getBarriers().getType());
      reserve(take(op, reserved, bytes, barrierBytes) + bytes);
    } else if (auto free = dyn_cast<FreeSharedOp>(op)) {
      for (Value buffer : free.getBuffers())
        reserve(std::min(reserved, offsetOf(buffer.getDefiningOp())));
    } else if (auto await = dyn_cast<AwaitProductsOp>(op)) {
      if (auto found = running.find(await.getRunning()); found != running.end())
        reserve(found->second);
    } else if (Scratch scratch = scratchOf(op); scratch.bytes != 0) {
      exchange(op, scratch);
    }
  }

  void exchange(Operation *op, Scratch scratch) {
    uint64_t begin = llvm::alignTo(reserved + turn, scratch.alignment);
    if (begin + scratch.bytes > reserved + bytesForTurns)
      begin = llvm::alignTo(reserved, scratch.alignment);
    begin = take(op, begin, scratch.bytes, scratch.alignment);
    turn = begin + scratch.bytes - reserved;
    // The units read it until the product is awaited, whatever threads wait for.
    if (op->hasAttr(runsName)) {
      running[op->getResult(0)] = reserved;
      reserve(begin + scratch.bytes);
    }
  }

  void reserve(uint64_t end) {
    reserved = end;
    turn = 0;
  }

  uint64_t take(Operation *op, uint64_t from, uint64_t bytes, uint64_t alignment) {
    uint64_t begin = llvm::alignTo(from, alignment);
    op->setAttr(offsetName, b.getI32IntegerAttr(static_cast<int32_t>(begin)));
    if (begin + bytes > most) {
      most = begin + bytes;
      last = op;
    }
    return begin;
  }

  tt::FuncOp function;
  Builder b;
  uint64_t reserved = 0, turn = 0, most = 0;
  Operation *last = nullptr;
  /// Products under way, and what was reserved before them.
  llvm::DenseMap<Value, uint64_t> running;
};

struct AllocateSharedPass : impl::AllocateSharedBase<AllocateSharedPass> {
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      TargetAttr target = targetOf(function);
      if (!target || function.isExternal())
        continue;
      Allocation allocation(function);
      allocation.run();
      uint64_t limit = mostSharedBytes(target.getSm());
      // With fewer stages it may take less: decideKernel().
      if (allocation.bytes() <= limit || target.getMostStages() > 1)
        continue;
      Operation *op = allocation.largest();
      op->emitError() << "'" << op->getName() << "' needs " << allocation.bytes()
                      << " bytes of shared memory, more than a block has (" << limit << ")";
      return signalPassFailure();
    }
  }
};

} // namespace

} // namespace pellucid::ttgpu
