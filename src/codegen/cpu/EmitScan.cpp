// SPDX-License-Identifier: Apache-2.0
// Scans, and the shape operations that need a tile in memory. A scan combines in ascending order
// (or descending when reversed); along the lanes a chunk is scanned in log2(lanes) steps and then
// combined with what came before it.
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/RegionOps.h"

namespace pellucid::codegen {

using llvm::Value;
using Values = llvm::SmallVector<Value *, 2>;

static Values combine(CodeBuilder &b, LaneEnvironment &environment, mlir::Region &region,
                      llvm::ArrayRef<Value *> earlier, llvm::ArrayRef<Value *> later) {
  llvm::SmallVector<Value *, 4> arguments(earlier);
  arguments.append(later.begin(), later.end());
  return emitRegion(b, environment, region, arguments);
}

static Values choose(CodeBuilder &b, Value *condition, llvm::ArrayRef<Value *> yes,
                     llvm::ArrayRef<Value *> no) {
  Values chosen;
  for (auto [x, y] : llvm::zip(yes, no))
    chosen.push_back(b.CreateSelect(condition, x, y));
  return chosen;
}

static Values scanLanes(CodeBuilder &b, LaneEnvironment &environment, mlir::Region &region,
                        Values vectors) {
  unsigned lanes = laneCount(vectors[0]);
  for (unsigned distance = 1; distance < lanes; distance *= 2) {
    llvm::SmallVector<int> shifted;
    for (unsigned lane = 0; lane < lanes; ++lane)
      shifted.push_back(lane < distance ? lane : lane - distance);
    Values earlier;
    for (Value *vector : vectors)
      earlier.push_back(b.CreateShuffleVector(vector, shifted));
    Values combined = combine(b, environment, region, earlier, vectors);
    Value *has = b.CreateICmpUGE(iota(b.i32(), lanes), splatTo(b, b.getInt32(distance), lanes));
    vectors = choose(b, has, combined, vectors);
  }
  return vectors;
}

void KernelEmitter::emitScan(tt::ScanOp op) {
  llvm::SmallVector<mlir::Value> sources(op.getSrcs());
  unsigned axis = op.getAxis();
  NestShape nest = nestOver(tileType(sources[0]).getShape(), sources);
  bool alongLanes = nest.laneDim == axis;
  if (op.getReverse()) {
    nest.reversedDim = axis;
    if (alongLanes)
      nest.lanes = 1;
  }
  llvm::SmallVector<TileBuffer> results, carries;
  for (mlir::Value result : op.getResult()) {
    results.push_back(allocateFor(result));
    llvm::SmallVector<int64_t> shape(tileType(result).getShape());
    shape.erase(shape.begin() + axis);
    carries.push_back(allocate(tileType(result).getElementType(), shape));
  }
  emitNest(nest, sources, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    IndexMapId outer = maps.throughExpandDims(at, axis);
    mlir::Region &region = op.getCombineOp();
    unsigned lanes = nest.lanes;
    Values values, carried;
    for (mlir::Value source : sources)
      values.push_back(chunk.evaluateVector(source, at));
    if (alongLanes && lanes > 1)
      values = scanLanes(b, *this, region, values);
    for (const TileBuffer &carry : carries)
      carried.push_back(toVector(b, chunk.readBuffer(carry, outer), lanes));
    Value *position = alongLanes ? laneBase : nestIndices[axis].value;
    int64_t start = op.getReverse() ? nest.extents[axis] - 1 : 0;
    Value *first = b.CreateICmpEQ(position, b.getInt64(start));
    values = choose(b, first, values, combine(b, *this, region, carried, values));
    for (auto [result, value] : llvm::zip(results, values))
      chunk.writeBuffer(result, at, LaneValue::vector(value));
    for (auto [carry, value] : llvm::zip(carries, values)) {
      bool last = alongLanes && lanes > 1;
      chunk.writeBuffer(carry, outer,
                        last ? LaneValue::uniform(b.CreateExtractElement(value, lanes - 1))
                             : LaneValue::vector(value));
    }
  });
  for (auto [result, area] : llvm::zip(op.getResult(), results))
    buffers[result] = area;
}

void KernelEmitter::emitHistogram(tt::HistogramOp op) {
  TileBuffer bins = allocateFor(op.getResult());
  llvm::Type *type = memoryType(b.getContext(), bins.element);
  int64_t count = bins.shape[0];
  emitLoop(b, b.getInt64(0), b.getInt64(count), 1, true, [&](Value *bin) {
    b.CreateStore(llvm::ConstantInt::get(type, 0), b.CreateGEP(type, bins.base, bin));
  });
  llvm::SmallVector<mlir::Value> roots = {op.getSrc()};
  if (op.getMask())
    roots.push_back(op.getMask());
  NestShape nest = nestOver(tileType(op.getSrc()).getShape(), roots);
  nest.lanes = 1;
  emitNest(nest, roots, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Value *bin = chunk.evaluateVector(op.getSrc(), at);
    bin = b.CreateSExtOrTrunc(bin, b.i64());
    Value *counted = b.CreateICmpULT(bin, b.getInt64(count));
    if (op.getMask())
      counted = b.CreateAnd(counted, chunk.evaluateVector(op.getMask(), at));
    emitWhen(b, counted, [&] {
      Value *address = b.CreateGEP(type, bins.base, bin);
      Value *next = b.CreateAdd(b.CreateLoad(type, address), llvm::ConstantInt::get(type, 1));
      b.CreateStore(next, address);
    });
  });
  scratch->touch(bins, op);
  buffers[op.getResult()] = bins;
}

// Digits are counted first, then each element goes where its digit has come to.
void KernelEmitter::emitDistribute(tt::DistributeOp op) {
  TileBuffer result = allocateFor(op.getResult()), counts = allocateFor(op.getCounts()),
             next = allocateFor(op.getCounts());
  llvm::Type *type = b.i32(), *element = memoryType(b.getContext(), result.element);
  int64_t count = counts.shape[0];
  auto at = [&](const TileBuffer &area, Value *digit) {
    return b.CreateGEP(type, area.base, digit);
  };
  auto digitOf = [&](LaneEvaluator &chunk, IndexMapId place) {
    Value *digit = b.CreateZExtOrTrunc(chunk.evaluateVector(op.getDigits(), place), b.i64());
    return b.CreateAnd(digit, b.getInt64(count - 1));
  };
  emitLoop(b, b.getInt64(0), b.getInt64(count), 1, true,
           [&](Value *digit) { b.CreateStore(b.getInt32(0), at(counts, digit)); });
  NestShape nest = nestOver(tileType(op.getDigits()).getShape(), {op.getDigits(), op.getSrc()});
  nest.lanes = 1;
  emitNest(nest, {op.getDigits()}, {}, [&](LaneEvaluator &chunk, IndexMapId place) {
    Value *address = at(counts, digitOf(chunk, place));
    b.CreateStore(b.CreateAdd(b.CreateLoad(type, address), b.getInt32(1)), address);
  });
  llvm::AllocaInst *sum = emitVariable(b, type);
  b.CreateStore(b.getInt32(0), sum);
  emitLoop(b, b.getInt64(0), b.getInt64(count), 1, true, [&](Value *digit) {
    Value *before = b.CreateLoad(type, sum);
    b.CreateStore(before, at(next, digit));
    b.CreateStore(b.CreateAdd(before, b.CreateLoad(type, at(counts, digit))), sum);
  });
  emitNest(nest, {op.getDigits(), op.getSrc()}, {}, [&](LaneEvaluator &chunk, IndexMapId place) {
    Value *address = at(next, digitOf(chunk, place)), *to = b.CreateLoad(type, address);
    b.CreateStore(b.CreateAdd(to, b.getInt32(1)), address);
    Value *value = chunk.evaluateVector(op.getSrc(), place);
    if (value->getType() != element)
      value = b.CreateZExt(value, element); // a bool takes a byte
    b.CreateStore(value, b.CreateGEP(element, result.base, b.CreateZExt(to, b.i64())));
  });
  for (const TileBuffer &area : {result, counts, next})
    scratch->touch(area, op);
  buffers[op.getResult()] = result;
  buffers[op.getCounts()] = counts;
}

void KernelEmitter::emitCat(tt::CatOp op) {
  TileBuffer whole = allocateFor(op.getResult());
  uint64_t offset = 0;
  for (mlir::Value part : {op.getLhs(), op.getRhs()}) {
    TileBuffer piece = whole;
    piece.base = b.CreateConstInBoundsGEP1_64(b.i8(), whole.base, offset);
    piece.shape.assign(tileType(part).getShape().begin(), tileType(part).getShape().end());
    storeTile(part, piece);
    offset += tileType(part).getNumElements() * memoryBytes(whole.element);
  }
  scratch->touch(whole, op);
  buffers[op.getResult()] = whole;
}

void KernelEmitter::emitUnsplat(tt::UnsplatOp op) {
  mlir::RankedTensorType type = tileType(op.getSrc());
  llvm::AllocaInst *only = emitVariable(b, registerType(b.getContext(), type.getElementType()));
  emitNest(nestOver(type.getShape(), {op.getSrc()}), {op.getSrc()}, {},
           [&](LaneEvaluator &chunk, IndexMapId at) {
             b.CreateStore(chunk.evaluateVector(op.getSrc(), at), only);
           });
  define(op.getResult(), b.CreateLoad(only->getAllocatedType(), only));
}

} // namespace pellucid::codegen
