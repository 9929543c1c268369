// SPDX-License-Identifier: Apache-2.0
// Tiles that lie across: what they are read from is dense along another dim than their last one, as
// a transposed operand is. Gathers would take element after element.
#include "codegen/cpu/KernelEmitter.h"
#include "codegen/cpu/TransposeSquare.h"

#include "codegen/common/ControlFlow.h"

namespace pellucid::codegen {

using llvm::Value;

/// Shorter sides are no faster than gathers.
static constexpr int64_t shortestSide = 4;

/// As many lanes as one vector of its elements, or of 32 bits for narrower ones, has: as many
/// vectors fit into the registers.
static int64_t mostTurnedLanes(CpuLevel level, mlir::Type element) {
  return (hasAvx512(level) ? 64 : 32) / std::max<int64_t>(4, int64_t(memoryBytes(element)));
}

static bool mayLieAcross(mlir::Value tile) {
  mlir::RankedTensorType type = tileType(tile);
  mlir::Type element = type.getElementType();
  return type.getRank() >= 2 && element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8 &&
         type.getShape().back() >= shortestSide;
}

std::optional<unsigned> KernelEmitter::turnedDim(mlir::Value tile) {
  if (!mayLieAcross(tile))
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape = tileType(tile).getShape();
  auto alongDim = [&](unsigned dim) {
    llvm::SmallVector<LaneValue, 4> indices(shape.size(), LaneValue::uniform(b.getInt64(0)));
    indices[dim] = LaneValue::ramp(b.getInt64(0), b.getInt64(1));
    LaneEvaluator row(b, *this, memory, maps, shape[dim], /*rowAnalysis=*/true);
    row.setLoops(indices);
    row.evaluate(tile, maps.identity(shape.size()));
    return row;
  };
  unsigned last = shape.size() - 1;
  if (!alongDim(last).readsApart())
    return std::nullopt;
  for (unsigned dim = last; dim-- > 0;)
    if (shape[dim] >= shortestSide && alongDim(dim).readsDense())
      return dim;
  return std::nullopt;
}

// A transposition, or a load, that a nest would evaluate as it goes. Arithmetic around it goes on
// along the last dim, beside operands that lie along that one.
bool KernelEmitter::isWorthTurning(mlir::Value tile) {
  auto load = tile.getDefiningOp<tt::LoadOp>();
  return (load || tile.getDefiningOp<tt::TransOp>()) && turnedDim(tile);
}

void KernelEmitter::storeTurned(mlir::Value tile, const TileBuffer &into, unsigned across) {
  llvm::ArrayRef<int64_t> shape = tileType(tile).getShape();
  llvm::DenseMap<mlir::Value, bool> seen;
  for (mlir::Value operand : tile.getDefiningOp()->getOperands())
    prepareValue(operand, false, shape, seen);
  llvm::SmallVector<LaneValue, 4> indices(shape.size(), LaneValue::uniform(b.getInt64(0)));
  std::function<void(unsigned)> loopFrom = [&](unsigned d) {
    if (d == shape.size())
      return emitSquares(tile, into, across, indices);
    if (d == across || d + 1 == shape.size() || shape[d] == 1)
      return loopFrom(d + 1);
    emitLoop(b, b.getInt64(0), b.getInt64(shape[d]), 1, true, [&](Value *index) {
      indices[d] = LaneValue::uniform(index);
      loopFrom(d + 1);
    });
  };
  loopFrom(0);
}

// For so many columns at a time as a square has: squares that no mask cuts, then those with masks.
void KernelEmitter::emitSquares(mlir::Value tile, const TileBuffer &into, unsigned across,
                                llvm::SmallVector<LaneValue, 4> indices) {
  llvm::ArrayRef<int64_t> shape = tileType(tile).getShape();
  unsigned last = shape.size() - 1;
  IndexMapId identity = maps.identity(shape.size());
  int64_t rows = shape[across], columns = shape[last];
  int64_t side = std::min({mostTurnedLanes(options.level, tileType(tile).getElementType()),
                           rows & -rows, columns & -columns});
  using Masks = llvm::SmallVector<RowMask, 2>;
  emitLoop(b, b.getInt64(0), b.getInt64(columns), side, true, [&](Value *column) {
    auto columnAt = [&](int64_t j) {
      return LaneValue::uniform(b.CreateAdd(column, b.getInt64(j)));
    };
    llvm::SmallVector<Masks> masks;
    Value *whole = b.getInt64(rows);
    for (int64_t j = 0; j < side; ++j) {
      indices[across] = LaneValue::ramp(b.getInt64(0), b.getInt64(1));
      indices[last] = columnAt(j);
      LaneEvaluator row(b, *this, memory, maps, rows, /*rowAnalysis=*/true);
      row.setLoops(indices);
      row.evaluate(tile, identity);
      masks.emplace_back(row.rowMasks().begin(), row.rowMasks().end());
      for (const RowMask &mask : masks.back())
        whole = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, whole, mask.count);
    }
    auto emitSquare = [&](Value *first, bool isWhole) {
      llvm::SmallVector<Value *> square;
      for (int64_t j = 0; j < side; ++j) {
        indices[across] = LaneValue::ramp(first, b.getInt64(1));
        indices[last] = columnAt(j);
        LaneEvaluator chunk(b, *this, memory, maps, side);
        chunk.setLoops(indices);
        if (isWhole)
          for (const RowMask &mask : masks[j])
            chunk.assume(mask.mask, mask.map, LaneValue::uniform(b.getTrue()));
        square.push_back(chunk.evaluateVector(tile, identity));
      }
      transposeSquare(b, square);
      for (int64_t i = 0; i < side; ++i) {
        indices[across] = LaneValue::uniform(b.CreateAdd(first, b.getInt64(i)));
        indices[last] = LaneValue::ramp(column, b.getInt64(1));
        LaneEvaluator line(b, *this, memory, maps, side);
        line.setLoops(indices);
        line.writeBuffer(into, identity, LaneValue::vector(square[i]));
      }
    };
    bool isMasked = llvm::any_of(masks, [](const Masks &list) { return !list.empty(); });
    whole = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, whole, b.getInt64(0));
    whole = b.CreateAnd(whole, b.getInt64(-side));
    emitLoop(b, b.getInt64(0), whole, side, false, [&](Value *row) { emitSquare(row, true); });
    if (isMasked)
      emitLoop(b, whole, b.getInt64(rows), side, false,
               [&](Value *row) { emitSquare(row, false); });
  });
}

} // namespace pellucid::codegen
