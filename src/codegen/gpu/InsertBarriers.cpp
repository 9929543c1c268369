// SPDX-License-Identifier: Apache-2.0
// A barrier where a thread may touch memory that another thread of the block has touched since the
// last one, and one of the two writes. Shared memory counts by place, global memory by what
// pointers may point to (GlobalAccesses.h). Loops are followed until nothing is added: what a round
// leaves open meets what the next one does.
//
// Copies ahead of their use are ordered by the pass that makes them (PipelineLoops.cpp): which copy
// of a buffer they write is not seen here.
#include "codegen/gpu/GlobalAccesses.h"
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/SharedUse.h"

#include "codegen/common/ElementOps.h"
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/TensorTiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_INSERTBARRIERS
#include "codegen/gpu/Passes.h.inc"

namespace {

struct SharedAccess {
  uint64_t begin, end;
  bool isWrite;
  Value buffer = {}; ///< null for an exchange
  bool isAsync = false;

  bool operator==(const SharedAccess &) const = default;
};

bool conflict(const SharedAccess &a, const SharedAccess &b) {
  bool isOrdered = a.buffer && a.buffer == b.buffer && (a.isAsync || b.isAsync);
  return (a.isWrite || b.isWrite) && a.begin < b.end && b.begin < a.end && !isOrdered;
}

struct GlobalAccess {
  Value pointer;
  bool isStore;
  bool isAsync = false;
  bool isOfHolder = false;
  bool isOfEarlierRound = false;

  bool operator==(const GlobalAccess &) const = default;
};

/// What one operation does up to its first own barrier, and behind its last one.
struct Effects {
  SmallVector<SharedAccess, 2> shared, sharedBehind;
  SmallVector<GlobalAccess, 1> global;
  bool hasBarrier = false; ///< of its own
  bool beginsWithBarrier = false;
};

/// Accesses that no barrier has followed yet.
struct Open {
  SmallVector<SharedAccess> shared;
  SmallVector<GlobalAccess> global;

  void clear() {
    shared.clear();
    global.clear();
  }
  void add(const Open &other) {
    for (const SharedAccess &access : other.shared)
      if (!llvm::is_contained(shared, access))
        shared.push_back(access);
    for (const GlobalAccess &access : other.global)
      if (!llvm::is_contained(global, access))
        global.push_back(access);
  }
};

/// What is loaded becomes elements of stores, each in its own thread, and nothing else: threads
/// that hold an element beside the one that stores it may have loaded anything.
bool servesStoresOnly(tt::LoadOp load) {
  llvm::SetVector<Value> reached;
  reached.insert(load.getResult());
  for (size_t next = 0; next < reached.size(); ++next)
    for (Operation *user : reached[next].getUsers()) {
      if (isa<tt::StoreOp>(user))
        continue;
      if (!codegen::isElementOp(user) || !isa<RankedTensorType>(user->getResult(0).getType()))
        return false;
      reached.insert(user->result_begin(), user->result_end());
    }
  return isa<RankedTensorType>(load.getType());
}

SharedAccess accessOf(Value buffer, bool isWrite, bool isAsync = false) {
  uint64_t begin = offsetOf(buffer.getDefiningOp());
  return {begin, begin + bytesOf(cast<BufferType>(buffer.getType())), isWrite, buffer, isAsync};
}

Effects effectsOfProduct(tt::DotOp dot, bool exchanges) {
  Effects effects;
  for (Value operand : {dot.getA(), dot.getB()})
    if (!layoutOf(operand))
      if (auto read = withoutTranspositions(operand).getDefiningOp<ReadSharedOp>())
        (exchanges ? effects.sharedBehind : effects.shared)
            .push_back(accessOf(read.getBuffer(), false));
  return effects;
}

/// The product that is awaited, in this round or in the last one of a loop.
tt::DotOp productBehind(Value running) {
  if (auto loop = running.getDefiningOp<scf::ForOp>())
    return productBehind(loop.getYieldedValues()[cast<OpResult>(running).getResultNumber()]);
  if (auto argument = dyn_cast<BlockArgument>(running))
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      return loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp<tt::DotOp>();
  return running.getDefiningOp<tt::DotOp>();
}

Effects effectsOf(Operation *op) {
  Effects effects;
  // A warpgroup reads its operands until it has waited for the product, whatever barriers stand
  // between: from there on they are read no more once all have passed a barrier.
  if (auto await = dyn_cast<AwaitProductsOp>(op))
    if (tt::DotOp dot = productBehind(await.getRunning())) {
      effects.sharedBehind = effectsOfProduct(dot, true).sharedBehind;
      if (uint64_t bytes = scratchOf(dot).bytes)
        effects.sharedBehind.push_back({offsetOf(dot), offsetOf(dot) + bytes, false});
      return effects;
    }
  Scratch scratch = scratchOf(op);
  if (auto dot = dyn_cast<tt::DotOp>(op))
    effects = effectsOfProduct(dot, scratch.bytes != 0);
  if (isa<BarrierOp, tt::BarrierOp>(op))
    effects.hasBarrier = true;
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op)) // what the block wrote before is seen with it
    effects.hasBarrier = effects.beginsWithBarrier = true;
  if (scratch.bytes != 0) {
    uint64_t begin = offsetOf(op), end = begin + scratch.bytes;
    if (!effects.beginsWithBarrier)
      effects.shared.push_back({begin, end, true});
    effects.sharedBehind.push_back({begin, end, false});
    effects.hasBarrier = true;
  }
  if (auto share = dyn_cast<ShareOp>(op))
    effects.shared.push_back(accessOf(share.getBuffer(), true));
  if (auto read = dyn_cast<ReadSharedOp>(op); read && layoutOf(read.getTile()))
    effects.shared.push_back(accessOf(read.getBuffer(), false));
  if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
    effects.shared.push_back(accessOf(copy.getBuffer(), true, true));
    effects.global.push_back({copy.getPtr(), false, true});
  }
  // One thread does it with the copies that follow: nothing may come between.
  if (auto expected = dyn_cast<ExpectCopiesOp>(op))
    for (TensorCopyOp copy : copiesOf(expected)) {
      effects.shared.push_back(accessOf(copy.getBuffer(), true, true));
      effects.global.push_back({baseOf(copy), false});
    }
  if (isa<AllocBarriersOp, FreeBarriersOp>(op)) {
    // The first makes them before its barrier, the second ends them behind its own.
    Value barriers = isa<AllocBarriersOp>(op) ? op->getResult(0) : op->getOperand(0);
    uint64_t begin = offsetOf(barriers.getDefiningOp());
    SharedAccess access{begin, begin + bytesOf(cast<BarriersType>(barriers.getType())), true};
    (isa<AllocBarriersOp>(op) ? effects.shared : effects.sharedBehind).push_back(access);
    effects.hasBarrier = true;
  }
  if (auto load = dyn_cast<tt::LoadOp>(op))
    effects.global.push_back({load.getPtr(), false, false, servesStoresOnly(load)});
  if (auto store = dyn_cast<tt::StoreOp>(op))
    effects.global.push_back({store.getPtr(), true});
  return effects;
}

class BarrierInsertion {
public:
  BarrierInsertion(tt::FuncOp function) : function(function) {}

  void run() {
    Open open;
    visit(function.getBody().front(), open, true);
  }

private:
  /// Without `inserts`, the barriers count but are not written.
  void visit(Block &block, Open &open, bool inserts) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(&op))
        repeat({loop.getBody()}, open, inserts);
      else if (auto loop = dyn_cast<scf::WhileOp>(&op))
        repeat({loop.getBeforeBody(), loop.getAfterBody()}, open, inserts);
      else if (auto branch = dyn_cast<scf::IfOp>(&op))
        branchOver(branch, open, inserts);
      else
        pass(&op, open, inserts);
    }
  }

  void pass(Operation *op, Open &open, bool inserts) {
    Effects effects = effectsOf(op);
    if (!effects.beginsWithBarrier && meets(effects, open)) {
      if (inserts) {
        OpBuilder b(op);
        BarrierOp::create(b, op->getLoc());
      }
      open.clear();
    }
    llvm::append_range(open.shared, effects.shared);
    llvm::append_range(open.global, effects.global);
    if (effects.hasBarrier)
      open.clear();
    llvm::append_range(open.shared, effects.sharedBehind);
  }

  bool meets(const Effects &effects, const Open &open) {
    for (const SharedAccess &access : effects.shared)
      for (const SharedAccess &earlier : open.shared)
        if (conflict(access, earlier))
          return true;
    for (const GlobalAccess &access : effects.global)
      for (const GlobalAccess &earlier : open.global)
        if (order.meet({access.pointer, access.isStore, access.isAsync, access.isOfHolder},
                       {earlier.pointer, earlier.isStore, earlier.isAsync, earlier.isOfHolder},
                       earlier.isOfEarlierRound))
          return true;
    return false;
  }

  /// The blocks of a loop, one after the other, as often as they leave more open than before. A
  /// loop may also be passed by.
  void repeat(ArrayRef<Block *> blocks, Open &open, bool inserts) {
    Open before = open, entry = open;
    for (;;) {
      Open end = entry;
      for (Block *block : blocks)
        visit(*block, end, false);
      for (GlobalAccess &access : end.global)
        access.isOfEarlierRound = true;
      size_t known = entry.shared.size() + entry.global.size();
      entry.add(end);
      if (entry.shared.size() + entry.global.size() == known)
        break;
    }
    open = entry;
    for (Block *block : blocks)
      visit(*block, open, inserts);
    open.add(before);
  }

  void branchOver(scf::IfOp branch, Open &open, bool inserts) {
    Open before = open, after;
    for (Region &region : branch->getRegions()) {
      Open side = before;
      if (!region.empty())
        visit(region.front(), side, inserts);
      after.add(side);
    }
    open = after;
  }

  tt::FuncOp function;
  AccessOrder order;
};

/// Order is seen beside other writes alone: the one atomic of a kernel that writes nothing else,
/// once in each program, needs none.
void relaxLoneAtomic(tt::FuncOp function) {
  SmallVector<Operation *> writers;
  function.walk([&](Operation *op) {
    if (isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicStoreOp, tt::AtomicPollOp,
            tt::ElementwiseInlineAsmOp>(op))
      writers.push_back(op);
  });
  auto alone = writers.size() == 1 ? dyn_cast<tt::AtomicRMWOp>(writers[0]) : tt::AtomicRMWOp();
  if (alone && !alone->getParentOfType<LoopLikeOpInterface>())
    alone.setSem(tt::MemSemantic::RELAXED);
}

struct InsertBarriersPass : impl::InsertBarriersBase<InsertBarriersPass> {
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (targetOf(function) && function.getBody().hasOneBlock()) {
        relaxLoneAtomic(function);
        BarrierInsertion(function).run();
      }
  }
};

} // namespace

} // namespace pellucid::ttgpu
