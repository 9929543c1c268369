// SPDX-License-Identifier: Apache-2.0
// Indices that are kept in range (`offsets % n`, `where(offsets < n, offsets, 0)`) count up by one
// in all tiles but the last: what is loaded at them is dense then. A line of them is asked once,
// where it is made, and tiles that are evaluated from it have code for both cases.
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"

#include "llvm/Support/SaveAndRestore.h"

namespace pellucid::codegen {

using llvm::Value;

Value *KernelEmitter::firstOfRamp(mlir::Value tile) {
  return assumesRamps ? ramps.lookup(tile).first : nullptr;
}

void KernelEmitter::noteRamp(mlir::Value line) {
  const TileBuffer &area = ensureBuffer(line);
  llvm::Type *type = memoryType(b.getContext(), area.element);
  int64_t count = area.shape[0], lanes = std::min<int64_t>(count & -count, 16);
  llvm::Align align(type->getIntegerBitWidth() / 8);
  Value *first = b.CreateAlignedLoad(type, area.base, align);
  // It must not go beyond the largest number either.
  Value *last = b.CreateAdd(first, llvm::ConstantInt::get(type, count - 1));
  llvm::AllocaInst *holds = emitVariable(b, b.getInt1Ty());
  b.CreateStore(b.CreateICmpSLE(first, last), holds);
  llvm::SmallVector<llvm::Constant *> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(llvm::ConstantInt::get(type, lane));
  emitLoop(b, b.getInt64(0), b.getInt64(count), lanes, true, [&](Value *at) {
    Value *some =
        b.CreateAlignedLoad(lanesOf(type, lanes), b.CreateGEP(type, area.base, at), align);
    Value *begin = b.CreateAdd(first, b.CreateTrunc(at, type));
    Value *want = b.CreateAdd(splatTo(b, begin, lanes), llvm::ConstantVector::get(steps));
    Value *same = b.CreateAndReduce(b.CreateICmpEQ(some, want));
    b.CreateStore(b.CreateAnd(b.CreateLoad(b.getInt1Ty(), holds), same), holds);
  });
  ramps[line] = {b.CreateLoad(b.getInt1Ty(), holds), first};
}

/// Those that `tile` is evaluated from where it is not in memory.
static void collectRamps(mlir::Value tile, llvm::function_ref<bool(mlir::Value)> isRamp,
                         llvm::function_ref<bool(mlir::Value)> isStored,
                         llvm::SmallSetVector<mlir::Value, 4> &found,
                         llvm::DenseSet<mlir::Value> &seen) {
  if (!mlir::isa<mlir::RankedTensorType>(tile.getType()) || !seen.insert(tile).second)
    return;
  if (isRamp(tile)) {
    found.insert(tile);
    return;
  }
  mlir::Operation *op = tile.getDefiningOp();
  if (!op || isStored(tile) || !isLazyTileOp(op))
    return;
  for (mlir::Value operand : op->getOperands())
    collectRamps(operand, isRamp, isStored, found, seen);
}

void KernelEmitter::withRamps(mlir::Value tile, llvm::function_ref<void()> emit) {
  llvm::SmallSetVector<mlir::Value, 4> found;
  llvm::DenseSet<mlir::Value> seen;
  if (!ramps.empty() && !assumesRamps && byProducts.empty())
    collectRamps(
        tile, [&](mlir::Value value) { return ramps.contains(value); },
        [&](mlir::Value value) { return buffers.contains(value); }, found, seen);
  if (found.empty())
    return emit();
  // What both sides need is made in front of them, and what one makes for itself is its own.
  prepare({tile}, mlir::cast<mlir::RankedTensorType>(tile.getType()).getShape());
  if (!byProducts.empty()) {
    byProducts.clear();
    return emit();
  }
  Value *all = b.getTrue();
  for (mlir::Value line : found)
    all = b.CreateAnd(all, ramps[line].holds);
  llvm::DenseMap<mlir::Value, TileBuffer> before = buffers;
  emitBranches(b, all, [&](unsigned side) {
    llvm::SaveAndRestore assume(assumesRamps, side == 0);
    emit();
    buffers = before;
  });
}

} // namespace pellucid::codegen
