// SPDX-License-Identifier: Apache-2.0
// Operands of products that are loaded at once: a block of a matrix in memory is read where it
// lies, or copied without masks, where at run time nothing of it is masked off and its rows, or its
// columns, are dense.
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/cpu/AffineTile.h"
#include "codegen/cpu/TransposeSquare.h"

namespace pellucid::codegen {

using llvm::Value;

/// The load that `tile` is, or is the transpose of.
static tt::LoadOp loadOf(mlir::Value tile, bool &isTurned) {
  isTurned = false;
  if (auto turn = tile.getDefiningOp<tt::TransOp>()) {
    isTurned = true;
    tile = turn.getSrc();
  }
  return tile.getDefiningOp<tt::LoadOp>();
}

std::optional<KernelEmitter::LoadedBlock> KernelEmitter::loadedBlock(mlir::Value tile) {
  bool isTurned;
  tt::LoadOp load = loadOf(tile, isTurned);
  if (!load || load.getIsVolatile() || tileType(tile).getRank() != 2 ||
      plan.lookup(load) != TilePlacement::Lazy || buffers.contains(tile) ||
      buffers.contains(load.getResult()) ||
      !mlir::isa<mlir::RankedTensorType>(load.getPtr().getType()))
    return std::nullopt;
  if (plan.lookup(tile) != TilePlacement::Lazy)
    return std::nullopt;
  auto lineOf = [&](mlir::Value line) -> std::optional<AffineTiles::Line> {
    auto found = ramps.find(line);
    if (found == ramps.end())
      return std::nullopt;
    return AffineTiles::Line{found->second.holds, found->second.first};
  };
  AffineTiles tiles(b, *this, lineOf);
  auto pointers = tiles.find(load.getPtr());
  if (!pointers || (load.getMask() && !tiles.requireTrue(load.getMask())))
    return std::nullopt;
  Value *zero = b.getInt64(0);
  Value *steps[] = {pointers->steps[isTurned ? 1 : 0], pointers->steps[isTurned ? 0 : 1]};
  for (Value *&step : steps)
    step = step ? step : zero;
  Value *bytes = b.getInt64(int64_t(memoryBytes(tileType(tile).getElementType())));
  auto dense = [&](Value *step) { return b.CreateAnd(tiles.holds(), b.CreateICmpEQ(step, bytes)); };
  LoadedBlock block{
      {pointers->first, steps[0]}, {pointers->first, steps[1]}, dense(steps[1]), dense(steps[0])};
  // What is known to be neither is left to the nests.
  auto never = [](Value *v) {
    auto *known = llvm::dyn_cast<llvm::ConstantInt>(v);
    return known && known->isZero();
  };
  return never(block.hasDenseRows) && never(block.hasDenseColumns)
             ? std::nullopt
             : std::optional<LoadedBlock>(block);
}

void KernelEmitter::copyRows(const MatrixRows &from, mlir::Type element, const TileBuffer &into) {
  int64_t rows = into.shape[0], columns = into.shape[1];
  unsigned bits = std::max<unsigned>(32, 8 * memoryBytes(into.element));
  int64_t native = (hasAvx512(options.level) ? 512 : 256) / bits;
  if (element == into.element)
    native = (hasAvx512(options.level) ? 64 : 32) / int64_t(memoryBytes(element));
  int64_t lanes = std::min(native, columns & -columns);
  llvm::Type *type = memoryType(b.getContext(), element);
  llvm::Align align(memoryBytes(element)), aligned(memoryBytes(into.element));
  // A row's vectors are written side by side, so far as registers go.
  int64_t together = std::min<int64_t>(columns, 8 * lanes);
  while (columns % together)
    together -= lanes;
  emitLoop(b, b.getInt64(0), b.getInt64(rows), 1, true, [&](Value *row) {
    Value *source = b.CreateGEP(b.i8(), from.base, b.CreateMul(row, from.rowBytes));
    Value *target = b.CreateGEP(memoryType(b.getContext(), into.element), into.base,
                                b.CreateMul(row, b.getInt64(columns)));
    emitLoop(b, b.getInt64(0), b.getInt64(columns), together, true, [&](Value *column) {
      for (int64_t j = 0; j < together; j += lanes) {
        Value *at = b.CreateAdd(column, b.getInt64(j));
        Value *loaded =
            b.CreateAlignedLoad(lanesOf(type, lanes), b.CreateGEP(type, source, at), align);
        b.CreateAlignedStore(convertOperand(b, loaded, element, into.element),
                             b.CreateGEP(memoryType(b.getContext(), into.element), target, at),
                             aligned);
      }
    });
  });
}

// Squares are transposed in registers.
void KernelEmitter::copyColumns(const MatrixRows &columns, mlir::Type element,
                                const TileBuffer &into) {
  int64_t high = into.shape[0], wide = into.shape[1];
  int64_t most = (hasAvx512(options.level) ? 64 : 32) / std::max<int64_t>(4, memoryBytes(element));
  int64_t side = std::min({most, high & -high, wide & -wide});
  llvm::Type *type = memoryType(b.getContext(), element);
  llvm::Type *written = memoryType(b.getContext(), into.element);
  llvm::Align align(memoryBytes(element)), aligned(memoryBytes(into.element));
  emitLoop(b, b.getInt64(0), b.getInt64(wide), side, true, [&](Value *column) {
    emitLoop(b, b.getInt64(0), b.getInt64(high), side, true, [&](Value *row) {
      llvm::SmallVector<Value *> square;
      for (int64_t j = 0; j < side; ++j) {
        Value *line = b.CreateMul(b.CreateAdd(column, b.getInt64(j)), columns.rowBytes);
        Value *from = b.CreateGEP(type, b.CreateGEP(b.i8(), columns.base, line), row);
        square.push_back(b.CreateAlignedLoad(lanesOf(type, side), from, align));
      }
      transposeSquare(b, square);
      for (int64_t i = 0; i < side; ++i) {
        Value *at = b.CreateMul(b.CreateAdd(row, b.getInt64(i)), b.getInt64(wide));
        b.CreateAlignedStore(convertOperand(b, square[i], element, into.element),
                             b.CreateGEP(written, into.base, b.CreateAdd(at, column)), aligned);
      }
    });
  });
}

/// Tiles that both sides of a branch need are made in front of it.
void KernelEmitter::prepareForBranch(mlir::Value tile) {
  bool isTurned;
  llvm::DenseMap<mlir::Value, bool> seen;
  for (mlir::Value operand : loadOf(tile, isTurned)->getOperands())
    prepareValue(operand, false, tileType(tile).getShape(), seen);
}

void KernelEmitter::emitSides(Value *condition, llvm::function_ref<void(unsigned)> emit) {
  llvm::DenseMap<mlir::Value, TileBuffer> before = buffers;
  emitBranches(b, condition, [&](unsigned side) {
    emit(side);
    buffers = before;
  });
}

KernelEmitter::MatrixRows KernelEmitter::operandRows(mlir::Value tile, mlir::Type element,
                                                     bool inPlace) {
  llvm::ArrayRef<int64_t> shape = tileType(tile).getShape();
  Value *rowBytes = b.getInt64(shape.back() * int64_t(memoryBytes(element)));
  auto held = [&](const TileBuffer &area) { return MatrixRows{area.base, rowBytes}; };
  auto block = roundsForDots(tile) ? std::nullopt : loadedBlock(tile);
  if (!block) {
    TileBuffer area = convertedTile(tile, element);
    scratch->touch(area, current);
    return held(area);
  }
  prepareForBranch(tile);
  mlir::Type from = tileType(tile).getElementType();
  TileBuffer area = allocate(element, shape);
  scratch->touch(area, current);
  llvm::AllocaInst *base = emitVariable(b, b.getPtrTy()), *step = emitVariable(b, b.i64());
  auto set = [&](const MatrixRows &rows) {
    b.CreateStore(rows.base, base);
    b.CreateStore(rows.rowBytes, step);
  };
  emitSides(block->hasDenseRows, [&](unsigned side) {
    if (side == 0 && inPlace && from == element)
      return set(block->rows);
    set(held(area));
    if (side == 0)
      return copyRows(block->rows, from, area);
    emitSides(block->hasDenseColumns, [&](unsigned inner) {
      if (inner == 0)
        return copyColumns(block->columns, from, area);
      from == element ? storeTile(tile, area) : convertTile(tile, area);
    });
  });
  return {b.CreateLoad(b.getPtrTy(), base), b.CreateLoad(b.i64(), step)};
}

} // namespace pellucid::codegen
