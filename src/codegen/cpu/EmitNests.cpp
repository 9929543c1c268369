// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"

#include "llvm/ADT/ScopeExit.h"

namespace pellucid::codegen {

using llvm::Value;

static unsigned widestBits(llvm::ArrayRef<mlir::Value> values) {
  unsigned bits = 32;
  for (mlir::Value value : values) {
    mlir::Type element = elementTypeOf(value.getType());
    if (element.isIntOrFloat())
      bits = std::max(bits, element.getIntOrFloatBitWidth());
  }
  return bits;
}

// Two native vectors per step hide latencies; more spill.
NestShape KernelEmitter::nestOver(llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<mlir::Value> values) {
  NestShape nest;
  nest.extents.assign(shape.begin(), shape.end());
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] > 1)
      nest.laneDim = d;
  int64_t native = (hasAvx512(options.level) ? 512 : 256) / widestBits(values);
  int64_t extent = shape.empty() ? 1 : shape[nest.laneDim];
  // Chunks must divide the row.
  nest.lanes = std::min<int64_t>(2 * native, extent & -extent);
  return nest;
}

NestShape KernelEmitter::nestWithLoops(llvm::ArrayRef<int64_t> loops, llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<mlir::Value> values) {
  NestShape nest = nestOver(loops, values);
  nest.tile.assign(shape.begin(), shape.end());
  nest.map = maps.throughReshape(maps.identity(loops.size()), shape, loops);
  return nest;
}

// Sorting sees a tile as a cube of many dimensions of size 2: a loop for each would cost seconds of
// compilation, and lanes would run along two elements.
static bool hasManyShortDims(llvm::ArrayRef<int64_t> shape) {
  return shape.size() > 3 && shape.back() < 8;
}

NestShape KernelEmitter::flatNestOver(llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<mlir::Value> values) {
  if (!hasManyShortDims(shape))
    return nestOver(shape, values);
  return nestWithLoops({mlir::ShapedType::getNumElements(shape)}, shape, values);
}

NestShape KernelEmitter::nestAround(llvm::ArrayRef<int64_t> shape, unsigned axis,
                                    llvm::ArrayRef<mlir::Value> values) {
  int64_t before = mlir::ShapedType::getNumElements(shape.take_front(axis)),
          behind = mlir::ShapedType::getNumElements(shape.drop_front(axis + 1));
  return nestWithLoops({before, shape[axis], behind}, shape, values);
}

void KernelEmitter::emitNest(const NestShape &nest, llvm::ArrayRef<mlir::Value> roots,
                             llvm::ArrayRef<mlir::Value> limits, ChunkBody body) {
  // Preparation emits nests of its own; the hooks are this one's.
  auto start = std::exchange(rowStart, nullptr);
  auto end = std::exchange(rowEnd, nullptr);
  auto head = std::exchange(rowHead, nullptr);
  prepare(roots, nest.map ? nest.tile : nest.extents);
  rowStart = std::move(start);
  rowEnd = std::move(end);
  // Tiles in scratch memory hold whole chunks.
  if (byProducts.empty())
    rowHead = std::move(head);
  llvm::SmallVector<LaneValue, 4> indices(nest.extents.size(), LaneValue::uniform(b.getInt64(0)));
  std::function<void(unsigned)> nestFrom = [&](unsigned d) {
    if (d == nest.extents.size()) {
      if (rowStart)
        rowStart();
      emitRow(nest, indices, roots, byProducts.empty() ? limits : llvm::ArrayRef<mlir::Value>(),
              body);
      if (rowEnd)
        finishRow(nest, indices);
      return;
    }
    if (d == nest.laneDim || nest.extents[d] == 1)
      return nestFrom(d + 1);
    emitLoop(b, b.getInt64(0), b.getInt64(nest.extents[d]), 1, true, [&](Value *index) {
      if (nest.reversedDim == d)
        index = b.CreateSub(b.getInt64(nest.extents[d] - 1), index);
      indices[d] = LaneValue::uniform(index);
      nestFrom(d + 1);
    });
  };
  nestFrom(0);
  rowHead = nullptr;
  for (auto &[tile, area] : byProducts)
    buffers[tile] = area;
  byProducts.clear();
}

void KernelEmitter::finishRow(const NestShape &nest, llvm::SmallVector<LaneValue, 4> indices) {
  if (!indices.empty())
    indices[nest.laneDim] = LaneValue::uniform(b.getInt64(0));
  LaneEvaluator row(b, *this, memory, maps, 1);
  row.setLoops(indices);
  rowEnd(row, nest.map ? *nest.map : maps.identity(nest.extents.size()));
}

// A row is split where the masks of its loads and stores, so far as they are prefixes, begin to
// cut: whole chunks without masks, then chunks with them. Where whole chunks should start at
// aligned memory, a partial one comes first, and the last one is cut by the row's end.
void KernelEmitter::emitRow(const NestShape &nest, llvm::SmallVector<LaneValue, 4> indices,
                            llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<mlir::Value> limits,
                            ChunkBody body) {
  IndexMapId identity = nest.map ? *nest.map : maps.identity(nest.extents.size());
  int64_t extent = nest.extents.empty() ? 1 : nest.extents[nest.laneDim];
  auto lanesAt = [&](Value *base) {
    if (nest.reversedDim == nest.laneDim)
      base = b.CreateSub(b.getInt64(extent - 1), base);
    laneBase = base;
    if (!nest.extents.empty())
      indices[nest.laneDim] =
          nest.lanes == 1 ? LaneValue::uniform(base) : LaneValue::ramp(base, b.getInt64(1));
  };
  llvm::SmallVector<Prefetch, 2> prefetches;
  auto emitChunk = [&](Value *base, llvm::ArrayRef<RowMask> holding, Value *active = nullptr) {
    lanesAt(base);
    nestIndices = indices;
    LaneEvaluator chunk(b, *this, memory, maps, nest.lanes);
    chunk.setLoops(indices);
    chunk.restrictTo(active);
    for (const RowMask &mask : holding)
      chunk.assume(mask.mask, mask.map, LaneValue::uniform(b.getTrue()));
    for (auto &[tile, area] : byProducts)
      chunk.writeBuffer(area, identity, chunk.evaluate(tile, identity));
    body(chunk, identity);
    if (!active)
      emitPrefetches(prefetches, chunk, identity);
  };
  if (nest.lanes == 1)
    return emitLoop(b, b.getInt64(0), b.getInt64(extent), 1, true,
                    [&](Value *base) { emitChunk(base, {}); });

  indices[nest.laneDim] = LaneValue::ramp(b.getInt64(0), b.getInt64(1));
  LaneEvaluator row(b, *this, memory, maps, extent, /*rowAnalysis=*/true);
  row.setLoops(indices);
  for (mlir::Value root : roots)
    row.evaluate(root, identity);
  llvm::SmallVector<RowMask, 4> masks(row.rowMasks().begin(), row.rowMasks().end());
  Value *limit = b.getInt64(extent);
  for (mlir::Value mask : limits) {
    LaneValue value = row.evaluate(mask, identity);
    if (value.isUniform())
      value = LaneValue::prefix(b.CreateSelect(value.value, b.getInt64(extent), b.getInt64(0)));
    if (!value.isPrefix())
      continue;
    masks.push_back({mask, identity, value.countOr(b, 0)});
    limit = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, limit, value.countOr(b, extent));
  }
  if (mlir::ShapedType::getNumElements(nest.extents) == extent)
    prefetches = startPrefetches(roots, row, identity);
  if (masks.empty() && !rowHead)
    return emitLoop(b, b.getInt64(0), b.getInt64(extent), nest.lanes, true,
                    [&](Value *base) { emitChunk(base, {}); });
  Value *whole = b.getInt64(extent);
  for (const RowMask &mask : masks)
    whole = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, whole, mask.count);
  whole = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, whole, b.getInt64(0));
  Value *head = b.getInt64(0);
  if (rowHead) {
    head = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rowHead(row, identity), whole);
    emitWhen(b, b.CreateICmpSGT(head, b.getInt64(0)),
             [&] { emitChunk(b.getInt64(0), masks, head); });
  }
  whole = b.CreateAnd(b.CreateSub(whole, head), b.getInt64(-int64_t(nest.lanes)));
  whole = b.CreateAdd(head, whole);
  emitLoop(b, head, whole, nest.lanes, false, [&](Value *base) { emitChunk(base, masks); });
  emitLoop(b, whole, limit, nest.lanes, false, [&](Value *base) {
    emitChunk(base, {}, rowHead ? b.CreateSub(b.getInt64(extent), base) : nullptr);
  });
}

// Tiles that the nest reaches and that are due now: those reached at their own index become
// by-products of the nest, the others get a nest of their own first.
void KernelEmitter::prepare(llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<int64_t> shape) {
  llvm::DenseMap<mlir::Value, bool> seen;
  for (mlir::Value root : roots)
    prepareValue(root, true, shape, seen);
}

void KernelEmitter::prepareValue(mlir::Value value, bool inPlace, llvm::ArrayRef<int64_t> shape,
                                 llvm::DenseMap<mlir::Value, bool> &seen) {
  mlir::Operation *op = value.getDefiningOp();
  if (!mlir::isa<mlir::RankedTensorType>(value.getType()) || buffers.contains(value))
    return;
  auto [position, fresh] = seen.try_emplace(value, inPlace);
  if (!fresh && (position->second == inPlace || inPlace))
    return;
  position->second = inPlace;
  assert(op && "a tile that is an argument of a block lies in a buffer");
  bool due = plan.lookup(value) == TilePlacement::AtFirstUse;
  inPlace = inPlace && tileType(value).getShape() == shape;
  if (due && !inPlace) {
    byProducts.erase(value);
    ensureBuffer(value);
    return;
  }
  if (inPlace && isWorthTurning(value)) {
    ensureBuffer(value);
    return;
  }
  if (auto gather = mlir::dyn_cast<tt::GatherOp>(op))
    ensureBuffer(gather.getSrc());
  bool elementwise = isElementOp(op) || mlir::isa<tt::LoadOp, tt::MapElementwiseOp>(op);
  for (mlir::Value operand : op->getOperands())
    prepareValue(operand, inPlace && elementwise, shape, seen);
  if (due)
    byProducts.try_emplace(value, allocateFor(value));
}

TileBuffer KernelEmitter::allocate(mlir::Type element, llvm::ArrayRef<int64_t> shape) {
  return scratch->allocate(current, element, shape);
}

TileBuffer KernelEmitter::allocateFor(mlir::Value tile) {
  return allocate(tileType(tile).getElementType(), tileType(tile).getShape());
}

const TileBuffer &KernelEmitter::ensureBuffer(mlir::Value tile) {
  auto found = buffers.find(tile);
  if (found == buffers.end()) {
    TileBuffer area = allocateFor(tile);
    storeTile(tile, area);
    found = buffers.try_emplace(tile, area).first;
  }
  scratch->touch(found->second, current);
  return found->second;
}

void KernelEmitter::storeTile(mlir::Value tile, const TileBuffer &into) {
  // A nest inside the preparation of another has by-products of its own.
  auto outer = std::move(byProducts);
  byProducts.clear();
  scratch->touch(into, current);
  withRamps(tile, [&] {
    if (auto across = turnedDim(tile))
      storeTurned(tile, into, *across);
    else
      emitNest(flatNestOver(tileType(tile).getShape(), {tile}), {tile}, {},
               [&](LaneEvaluator &chunk, IndexMapId at) {
                 chunk.writeBuffer(into, at, chunk.evaluate(tile, at));
               });
  });
  byProducts = std::move(outer);
}

void KernelEmitter::copyTile(const TileBuffer &from, const TileBuffer &to) {
  scratch->touch(from, current);
  scratch->touch(to, current);
  uint64_t bytes = memoryBytes(from.element);
  for (int64_t extent : from.shape)
    bytes *= extent;
  uint64_t step = std::min<uint64_t>(64, bytes & -bytes);
  llvm::Type *type = lanesOf(b.i8(), step);
  emitLoop(b, b.getInt64(0), b.getInt64(bytes), step, true, [&](Value *offset) {
    Value *data =
        b.CreateAlignedLoad(type, b.CreateGEP(b.i8(), from.base, offset), llvm::Align(step));
    b.CreateAlignedStore(data, b.CreateGEP(b.i8(), to.base, offset), llvm::Align(step));
  });
}

llvm::Value *KernelEmitter::writesBeyondCaches(tt::StoreOp op) {
  constexpr uint64_t cacheBytes = 16 << 20;
  mlir::RankedTensorType tile = tileType(op.getPtr());
  mlir::Type element = elementTypeOf(op.getValue().getType());
  uint64_t bytes = tile.getNumElements() * memoryBytes(element);
  Value *programs = b.getInt64(1);
  for (Value *extent : gridSize)
    programs = b.CreateMul(programs, b.CreateZExt(extent, b.i64()));
  return b.CreateICmpUGT(programs, b.getInt64(cacheBytes / bytes));
}

bool KernelEmitter::startsAnywhere(mlir::Value value, llvm::DenseSet<mlir::Value> &seen) {
  mlir::Operation *op = value.getDefiningOp();
  if (!mlir::isa<mlir::RankedTensorType>(value.getType()) || buffers.contains(value) ||
      !seen.insert(value).second)
    return true;
  if (mlir::isa<tt::ReshapeOp, tt::JoinOp, tt::GatherOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](mlir::Value v) { return startsAnywhere(v, seen); });
}

llvm::Value *KernelEmitter::unalignedHead(tt::StoreOp op, Value *streaming, LaneEvaluator &row,
                                          IndexMapId at) {
  int64_t bytes = memoryBytes(elementTypeOf(op.getValue().getType())), stride = 0;
  LaneValue pointer = row.evaluate(op.getPtr(), at);
  if (!pointer.hasConstantStride(stride) || stride != bytes)
    return b.getInt64(0);
  int64_t vector = hasAvx512(options.level) ? 64 : 32;
  Value *missing = b.CreateNeg(b.CreatePtrToInt(pointer.value, b.i64()));
  missing = b.CreateAnd(missing, b.getInt64(vector - 1));
  Value *reachable = b.CreateICmpEQ(b.CreateAnd(missing, b.getInt64(bytes - 1)), b.getInt64(0));
  return b.CreateSelect(b.CreateAnd(streaming, reachable),
                        b.CreateLShr(missing, b.getInt64(llvm::Log2_64(bytes))), b.getInt64(0));
}

void KernelEmitter::emitStore(tt::StoreOp op) {
  mlir::Type element = elementTypeOf(op.getValue().getType());
  if (!mlir::isa<mlir::RankedTensorType>(op.getPtr().getType())) {
    if (mlir::isa<mlir::RankedTensorType>(op.getValue().getType()))
      refuse(op, "through a block pointer reached code generation");
    LaneValue mask = LaneValue::uniform(op.getMask() ? scalar(op.getMask()) : b.getTrue());
    memory.store(element, LaneValue::uniform(scalar(op.getPtr())),
                 LaneValue::uniform(scalar(op.getValue())), mask, 1);
    return;
  }
  llvm::SmallVector<mlir::Value, 3> roots = {op.getPtr(), op.getValue()}, limits;
  if (op.getMask()) {
    roots.push_back(op.getMask());
    limits.push_back(op.getMask());
  }
  // Only a kernel that stores a tile once per program is known to write it all.
  bool mayStream = !synchronizes && mlir::isa<tt::FuncOp>(op->getParentOp());
  Value *streaming = mayStream ? writesBeyondCaches(op) : nullptr;
  streams |= streaming != nullptr;
  NestShape nest = flatNestOver(tileType(op.getPtr()).getShape(), {op.getValue()});
  // A head and a tail cost two chunks; a masked move of 16 bits is slow below AVX-512.
  constexpr int64_t worthwhile = 8;
  llvm::DenseSet<mlir::Value> seen;
  if (streaming && !nest.map && nest.extents[nest.laneDim] >= worthwhile * nest.lanes &&
      (hasAvx512(options.level) || memoryBytes(element) >= 4) &&
      llvm::all_of(roots, [&](mlir::Value root) { return startsAnywhere(root, seen); }))
    rowHead = [&](LaneEvaluator &row, IndexMapId at) {
      return unalignedHead(op, streaming, row, at);
    };
  emitNest(nest, roots, limits, [&](LaneEvaluator &chunk, IndexMapId at) {
    LaneValue value = chunk.evaluate(op.getValue(), at);
    LaneValue mask = chunk.activeLanes(op.getMask() ? chunk.evaluate(op.getMask(), at)
                                                    : LaneValue::uniform(b.getTrue()));
    LaneValue pointer = chunk.evaluate(op.getPtr(), at);
    memory.setStreaming(streaming);
    memory.store(element, pointer, value, mask, chunk.laneCount());
    memory.setStreaming(nullptr);
  });
}

} // namespace pellucid::codegen
