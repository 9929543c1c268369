// SPDX-License-Identifier: Apache-2.0
// Rows that come from memory, are read more than once and computed on in between: memory would rest
// meanwhile, so the last pass over a row fetches a later program's.
#include "codegen/common/ElementOps.h"
#include "codegen/cpu/KernelEmitter.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {

constexpr int64_t cacheLine = 64;
/// Shorter rows follow one another fast enough for the processor's own prefetching; longer ones
/// would push the current one out of the second-level cache.
constexpr int64_t shortestRow = 1 << 10, longestRow = 64 << 10;
/// Rows up to this size are fetched into the first-level cache, for the program after the next.
constexpr int64_t nearRow = 8 << 10;

int64_t rowBytes(tt::LoadOp load) {
  auto tile = mlir::cast<mlir::RankedTensorType>(load.getType());
  return tile.getNumElements() * int64_t(memoryBytes(tile.getElementType()));
}

} // namespace

/// The loads that `value` is evaluated from in this nest, at the nest's own indices: what lies
/// behind a reshape, a transposition or a broadcast has others, and perhaps another number of them.
static void collectLoads(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isStored,
                         llvm::DenseSet<mlir::Value> &seen,
                         llvm::SmallVectorImpl<tt::LoadOp> &loads) {
  mlir::Operation *op = value.getDefiningOp();
  if (!op || !isLazyTileOp(op) || isStored(value) || !seen.insert(value).second)
    return;
  if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
    loads.push_back(load);
  else if (!isElementOp(op))
    return;
  for (mlir::Value operand : op->getOperands())
    collectLoads(operand, isStored, seen, loads);
}

llvm::SmallVector<KernelEmitter::Prefetch, 2>
KernelEmitter::startPrefetches(llvm::ArrayRef<mlir::Value> roots, LaneEvaluator &row,
                               IndexMapId at) {
  llvm::SmallVector<Prefetch, 2> prefetches;
  if (!current || !mlir::isa<tt::FuncOp>(current->getParentOp()))
    return prefetches;
  llvm::SmallVector<tt::LoadOp, 4> loads;
  llvm::DenseSet<mlir::Value> seen;
  for (mlir::Value root : roots)
    collectLoads(root, [&](mlir::Value tile) { return buffers.contains(tile); }, seen, loads);
  for (tt::LoadOp load : loads) {
    int64_t bytes = rowBytes(load), stride = 0;
    auto points = evaluationPoints(load, plan);
    if (bytes < shortestRow || bytes > longestRow || points.size() < 2 || points.back() != current)
      continue;
    LaneValue pointer = row.evaluate(load.getPtr(), at);
    if (!pointer.hasConstantStride(stride) ||
        stride != int64_t(memoryBytes(elementTypeOf(load.getType()))))
      continue;
    bool isNear = bytes <= nearRow;
    Value *distance = distanceOfPrograms(b.CreatePtrToInt(pointer.value, b.i64()));
    distance = b.CreateMul(distance, b.getInt64(isNear ? 2 : 1));
    prefetches.push_back({load, distance, isNear ? 3u : 2u});
  }
  return prefetches;
}

// Where programs walk through memory at a constant pace, the next one goes on at it; else there is
// nothing to fetch, and the current row is asked for once more.
llvm::Value *KernelEmitter::distanceOfPrograms(Value *address) {
  llvm::AllocaInst *last = emitVariable(b, b.i64()), *pace = emitVariable(b, b.i64());
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    b.SetInsertPoint(&entry->getEntryBlock());
    b.CreateStore(b.getInt64(0), last);
    b.CreateStore(b.getInt64(0), pace);
  }
  Value *distance = b.CreateSub(address, b.CreateLoad(b.i64(), last));
  Value *steady = b.CreateICmpEQ(distance, b.CreateLoad(b.i64(), pace));
  b.CreateStore(address, last);
  b.CreateStore(distance, pace);
  return b.CreateSelect(steady, distance, b.getInt64(0));
}

void KernelEmitter::emitPrefetches(llvm::ArrayRef<Prefetch> prefetches, LaneEvaluator &chunk,
                                   IndexMapId at) {
  for (const Prefetch &prefetch : prefetches) {
    tt::LoadOp load = prefetch.load;
    LaneValue pointer = chunk.evaluate(load.getPtr(), at);
    int64_t bytes = chunk.laneCount() * int64_t(memoryBytes(elementTypeOf(load.getType())));
    for (int64_t line = 0; line < bytes; line += cacheLine) {
      Value *offset = b.CreateAdd(prefetch.distance, b.getInt64(line));
      Value *address = b.CreateGEP(b.i8(), pointer.value, offset);
      b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                        {address, b.getInt32(0), b.getInt32(prefetch.locality), b.getInt32(1)});
    }
  }
}

} // namespace pellucid::codegen
