// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/LoopProducts.h"

#include "codegen/common/ElementOps.h"
#include "codegen/gpu/GlobalAccesses.h"
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/SharedTile.h"
#include "codegen/gpu/SharedUse.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace pellucid::ttgpu {

unsigned contiguousDim(Value pointers, const tt::AxisAnalysis &axes) {
  tt::AxisInfo info = axes.of(pointers);
  unsigned rank = cast<RankedTensorType>(pointers.getType()).getRank(), best = rank - 1;
  for (unsigned d = rank; d-- > 0;)
    if (info.contiguity[d] > info.contiguity[best])
      best = d;
  return best;
}

bool isZero(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<tt::SplatOp, tt::BroadcastOp, tt::FpToFpOp, arith::TruncFOp, arith::ExtFOp>(
          op))
    return isZero(op->getOperand(0));
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

//===--- operands from before the loop --------------------------------------------------------===//

/// The dim along which neighbours of the tile are in one thread.
static unsigned alongOf(Value tile, const tt::AxisAnalysis &axes) {
  if (auto trans = tile.getDefiningOp<tt::TransOp>())
    return 1 - alongOf(trans.getSrc(), axes);
  if (auto load = tile.getDefiningOp<tt::LoadOp>())
    return contiguousDim(load.getPtr(), axes);
  Operation *op = tile.getDefiningOp();
  if (op && codegen::isElementOp(op))
    for (Value operand : op->getOperands())
      if (tileOf(operand) && !operand.getDefiningOp<arith::ConstantOp>())
        return alongOf(operand, axes);
  return 1;
}

/// `operand` is `tile` behind transpositions; the same of `read`.
static Value transposedLike(OpBuilder &b, Value operand, Value tile, Value read) {
  if (operand == tile)
    return read;
  auto trans = operand.getDefiningOp<tt::TransOp>();
  Value source = transposedLike(b, trans.getSrc(), tile, read);
  return tt::TransOp::create(b, trans.getLoc(), trans.getType(), source, trans.getOrderAttr());
}

SmallVector<Value> shareInvariants(scf::ForOp loop, const tt::AxisAnalysis &axes,
                                   uint64_t mostBytes) {
  OpBuilder b(loop);
  SmallVector<Value> buffers;
  llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
  loop->walk([&](tt::DotOp dot) {
    if (!hasMatrixUnit(dot))
      return;
    for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()}) {
      Value tile = withoutTranspositions(operand->get());
      unsigned inner = operand == &dot.getAMutable() ? 1 : 0;
      if (liesAlongInner(dot) && alongOf(operand->get(), axes) != inner)
        continue;
      if (loop.isDefinedOutsideOfLoop(tile) && !tile.getDefiningOp<ReadSharedOp>())
        uses[tile].push_back(operand);
    }
  });
  for (auto &[tile, operands] : uses) {
    Location loc = tile.getLoc();
    auto type = BufferType::get(tile.getContext(), 1, tileOf(tile), alongOf(tile, axes));
    if (bytesOf(type) > mostBytes)
      continue;
    mostBytes -= bytesOf(type);
    buffers.push_back(AllocSharedOp::create(b, loc, type));
    ShareOp::create(b, loc, tile, buffers.back());
    Value first = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    Value read = ReadSharedOp::create(b, loc, tile.getType(), buffers.back(), first);
    for (OpOperand *operand : operands)
      operand->set(transposedLike(b, operand->get(), tile, read));
  }
  return buffers;
}

/// Tiles of this size cost no block of a multiprocessor.
static constexpr uint64_t fewBytes = 32 << 10;

void holdInvariants(scf::ForOp loop, const tt::AxisAnalysis &axes) {
  auto isPlain = [](Value operand) {
    return tileOf(operand).getRank() == 2 &&
           codegen::memoryBytes(tileOf(operand).getElementType()) ==
               codegen::SharedTile::elementBytes;
  };
  bool suits = true;
  loop->walk([&](tt::DotOp dot) { suits &= isPlain(dot.getA()) && isPlain(dot.getB()); });
  SmallVector<Value> buffers;
  if (suits)
    buffers = shareInvariants(loop, axes, fewBytes);
  if (buffers.empty())
    return;
  OpBuilder b(loop);
  b.setInsertionPointAfter(loop);
  FreeSharedOp::create(b, loop.getLoc(), buffers);
}

bool mayBeWritten(Value pointer, scf::ForOp loop) {
  return loop
      ->walk([&](Operation *op) {
        if (isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::BarrierOp>(op))
          return WalkResult::interrupt();
        auto store = dyn_cast<tt::StoreOp>(op);
        bool meets = store && mayShareMemory(pointer, store.getPtr());
        return meets ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool canComeEarly(Operation *op, scf::ForOp loop) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return !load.getIsVolatile() && !mayBeWritten(load.getPtr(), loop);
  if (isa<scf::IfOp>(op))
    return llvm::all_of(op->getRegions(), [&](Region &region) {
      return region.empty() || llvm::all_of(region.front().without_terminator(),
                                            [&](Operation &in) { return canComeEarly(&in, loop); });
    });
  return onlyComputes(op) || isa<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op);
}

void maskLoad(tt::LoadOp load, Value comes) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  Value mask = comes;
  if (tileOf(load.getPtr()))
    mask = tt::SplatOp::create(b, loc, tt::maskTypeFor(load.getPtr().getType()), comes);
  if (load.getMask())
    mask = arith::AndIOp::create(b, loc, load.getMask(), mask);
  load.getMaskMutable().assign(mask);
}

bool isByWarpgroups(tt::DotOp dot) { return unitOf(dot) == MatrixUnit::Warpgroup; }

bool addsAsItIs(tt::DotOp dot) {
  Type element = codegen::elementTypeOf(dot.getType());
  return element.isF32() || element.isInteger(32);
}

bool isOperandOnly(Value tile) {
  return !tile.use_empty() && llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (auto trans = dyn_cast<tt::TransOp>(user))
      return isOperandOnly(trans);
    auto dot = dyn_cast<tt::DotOp>(user);
    return dot && tile != dot.getC() && hasMatrixUnit(dot);
  });
}

//===--- products under way -------------------------------------------------------------------===//

Operation *firstUser(Value product, Block *body) {
  Operation *first = nullptr;
  for (Operation *user : product.getUsers()) {
    Operation *inBody = body->findAncestorOpInBlock(*user);
    if (inBody && (!first || inBody->isBeforeInBlock(first)))
      first = inBody;
  }
  return first;
}

void awaitInBranches(Value running) {
  Block *body = running.getParentBlock();
  for (scf::IfOp branch : llvm::make_early_inc_range(body->getOps<scf::IfOp>())) {
    auto isInside = [&](OpOperand &use) { return branch->isProperAncestor(use.getOwner()); };
    if (llvm::none_of(running.getUses(), isInside))
      continue;
    OpBuilder b(branch);
    SmallVector<Type> types(branch.getResultTypes());
    types.push_back(running.getType());
    auto made = scf::IfOp::create(b, branch.getLoc(), types, branch.getCondition(), true);
    for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions())) {
      if (!from.empty())
        to.takeBody(from);
      Value handed = running;
      if (llvm::any_of(running.getUses(), [&](OpOperand &use) {
            return to.isAncestor(use.getOwner()->getParentRegion());
          })) {
        b.setInsertionPointToStart(&to.front());
        auto awaited = AwaitProductsOp::create(b, running.getLoc(), running.getType(), running,
                                               b.getI32IntegerAttr(0));
        running.replaceUsesWithIf(awaited, [&, region = &to](OpOperand &use) {
          return use.getOwner() != awaited && region->isAncestor(use.getOwner()->getParentRegion());
        });
        handed = awaited;
      }
      if (to.front().empty() || !to.front().back().hasTrait<OpTrait::IsTerminator>()) {
        b.setInsertionPointToEnd(&to.front());
        scf::YieldOp::create(b, branch.getLoc(), handed);
      } else {
        to.front().getTerminator()->insertOperands(branch.getNumResults(), handed);
      }
    }
    for (auto [old, now] : llvm::zip(branch.getResults(), made.getResults()))
      old.replaceAllUsesWith(now);
    Value behind = made.getResults().back();
    running.replaceUsesWithIf(behind, [&](OpOperand &use) {
      Operation *user = body->findAncestorOpInBlock(*use.getOwner());
      return user && user != made && made->isBeforeInBlock(user);
    });
    branch.erase();
    running = behind;
  }
}

//===--- products beside copies --------------------------------------------------------------===//

/// Both operands lie where nothing is written before the barrier of the next round.
static bool readsStagedTiles(tt::DotOp dot) {
  return llvm::all_of(ValueRange{dot.getA(), dot.getB()}, [](Value operand) {
    return withoutTranspositions(operand).getDefiningOp<ReadSharedOp>() != nullptr;
  });
}

/// Moves `copies` behind `behind`; the last of them.
static Operation *moveBehind(Operation *behind, ArrayRef<Operation *> copies) {
  for (Operation *op : copies) {
    op->moveAfter(behind);
    behind = op;
  }
  return behind;
}

void runIntoNextRound(ArrayRef<tt::DotOp> products, ArrayRef<Operation *> copies) {
  tt::DotOp last = products.back();
  OpBuilder b(last);
  for (tt::DotOp dot : products)
    dot->setAttr(runsName, b.getUnitAttr());
  Location loc = last.getLoc();
  auto pending = b.getI32IntegerAttr(static_cast<int32_t>(products.size()));
  SmallVector<Operation *> computed, queued;
  for (Operation *op : copies)
    (isa<AsyncCopyOp, CommitCopiesOp, ExpectCopiesOp, TensorCopyOp>(op) ? queued : computed)
        .push_back(op);
  b.setInsertionPointAfter(moveBehind(last, computed));
  ReleaseOperandsOp::create(b, loc, pending);
  moveBehind(BarrierOp::create(b, loc), queued);
  for (tt::DotOp dot : products)
    awaitInBranches(dot.getD());
}

void runBesideCopies(tt::DotOp dot, ArrayRef<Operation *> copies) {
  // What the operands of the product do not need is made behind it as well.
  OpBuilder b(dot);
  bool runs = addsAsItIs(dot);
  if (runs)
    dot->setAttr(runsName, b.getUnitAttr());
  Operation *behind = moveBehind(dot, copies);
  if (!runs)
    return;
  if (Operation *user = readsStagedTiles(dot) ? firstUser(dot.getD(), dot->getBlock()) : nullptr;
      user && behind->isBeforeInBlock(user))
    b.setInsertionPoint(user);
  else
    b.setInsertionPointAfter(behind);
  auto awaited =
      AwaitProductsOp::create(b, dot.getLoc(), dot.getType(), dot.getD(), b.getI32IntegerAttr(0));
  dot.getD().replaceAllUsesExcept(awaited, awaited);
}

} // namespace pellucid::ttgpu
