// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Passes.h"
#include "passes/tt/TileAddressing.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_SCALARIZECARRIEDOFFSETS
#include "passes/tt/Passes.h.inc"

namespace {

/// One step of a carried tile: a scalar, or a constant, added to every element.
struct Step {
  Value scalar;
  IntegerAttr constant;
};

std::optional<Step> uniformStep(Value tile) {
  if (auto splat = tile.getDefiningOp<SplatOp>())
    return Step{splat.getSrc(), {}};
  SplatElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)))
    return Step{{}, constant.getSplatValue<IntegerAttr>()};
  return std::nullopt;
}

/// The steps from `carried` to `yielded`, when that is nothing but additions of uniform tiles.
std::optional<SmallVector<Step>> stepsBetween(BlockArgument carried, Value yielded) {
  SmallVector<Step> steps;
  while (yielded != carried) {
    Value before, added;
    if (auto op = yielded.getDefiningOp<AddPtrOp>()) {
      before = op.getPtr();
      added = op.getOffset();
    } else if (auto op = yielded.getDefiningOp<arith::AddIOp>()) {
      bool uniformLeft = uniformStep(op.getLhs()).has_value();
      before = uniformLeft ? op.getRhs() : op.getLhs();
      added = uniformLeft ? op.getLhs() : op.getRhs();
    } else {
      return std::nullopt;
    }
    std::optional<Step> step = uniformStep(added);
    // An inner loop's values are not to be read here.
    if (!step || yielded.getParentBlock() != carried.getOwner())
      return std::nullopt;
    steps.push_back(*step);
    yielded = before;
  }
  if (steps.empty())
    return std::nullopt;
  return steps;
}

struct CarriedTile {
  unsigned index;
  SmallVector<Step> steps;
  /// Of the scalar that replaces it: pointers move in 64 bits, integers wrap in their own width.
  Type scalarType;
};

SmallVector<CarriedTile> carriedTiles(scf::ForOp loop) {
  SmallVector<CarriedTile> tiles;
  for (auto [index, carried] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto type = dyn_cast<RankedTensorType>(carried.getType());
    if (!type || !isa<PointerType, IntegerType>(type.getElementType()))
      continue;
    auto steps = stepsBetween(carried, loop.getYieldedValues()[index]);
    if (!steps)
      continue;
    Type scalar = isa<PointerType>(type.getElementType()) ? Builder(loop.getContext()).getI64Type()
                                                          : type.getElementType();
    tiles.push_back({static_cast<unsigned>(index), std::move(*steps), scalar});
  }
  return tiles;
}

Value stepValue(OpBuilder &builder, Location loc, const Step &step, Type type) {
  if (step.constant)
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(type, step.constant.getValue().getSExtValue()));
  return step.scalar.getType() == type ? step.scalar : toI64(builder, loc, step.scalar);
}

/// The tile that started as `start` and has moved by `moved`. Where the tile is a base and offsets
/// within, the base moves, so that the tile itself stays invariant.
Value movedTile(OpBuilder &builder, Location loc, Value start, Value moved) {
  if (auto within = start.getDefiningOp<AddPtrOp>())
    if (auto base = within.getPtr().getDefiningOp<SplatOp>()) {
      Value movedBase = AddPtrOp::create(builder, loc, base.getSrc(), moved);
      ArrayRef<int64_t> shape = cast<RankedTensorType>(start.getType()).getShape();
      return AddPtrOp::create(builder, loc, splatTo(builder, loc, movedBase, shape),
                              within.getOffset());
    }
  Value offset = splatTo(builder, loc, moved, cast<RankedTensorType>(start.getType()).getShape());
  if (isa<PointerType>(getElementTypeOrSelf(start.getType())))
    return AddPtrOp::create(builder, loc, start, offset);
  return arith::AddIOp::create(builder, loc, start, offset);
}

// for iter_args(p = p0) { …p…; yield addptr(p, splat s) }
//   => for iter_args(o = 0) { p = addptr(p0, splat o); …p…; yield o + s }
void scalarize(scf::ForOp loop, ArrayRef<CarriedTile> tiles, IRRewriter &rewriter) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> starts;
  for (const CarriedTile &tile : tiles)
    starts.push_back(
        arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(tile.scalarType, 0)));
  auto yieldScalars = [&](OpBuilder &builder, Location where, ArrayRef<BlockArgument> scalars) {
    SmallVector<Value> next;
    for (auto [tile, scalar] : llvm::zip_equal(tiles, scalars)) {
      Value sum = scalar;
      for (const Step &step : tile.steps)
        sum = arith::AddIOp::create(builder, where, sum,
                                    stepValue(builder, where, step, tile.scalarType));
      next.push_back(sum);
    }
    return next;
  };
  auto replaced = cast<scf::ForOp>(
      *cast<LoopLikeOpInterface>(loop.getOperation())
           .replaceWithAdditionalYields(rewriter, starts,
                                        /*replaceInitOperandUsesInLoop=*/false, yieldScalars));
  unsigned firstScalar = replaced.getNumRegionIterArgs() - tiles.size();
  for (auto [position, tile] : llvm::enumerate(tiles)) {
    BlockArgument carried = replaced.getRegionIterArg(tile.index);
    Value start = replaced.getInitArgs()[tile.index];
    rewriter.setInsertionPointToStart(replaced.getBody());
    rewriter.replaceAllUsesWith(
        carried,
        movedTile(rewriter, loc, start, replaced.getRegionIterArg(firstScalar + position)));
    // Yielding itself makes it invariant; the canonicalizer drops it.
    replaced.getYieldedValuesMutable().value()[tile.index].set(carried);
    rewriter.setInsertionPointAfter(replaced);
    rewriter.replaceAllUsesWith(
        replaced.getResult(tile.index),
        movedTile(rewriter, loc, start, replaced.getResult(firstScalar + position)));
  }
}

struct ScalarizeCarriedOffsetsPass
    : impl::ScalarizeCarriedOffsetsBase<ScalarizeCarriedOffsetsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      SmallVector<CarriedTile> tiles = carriedTiles(loop);
      if (!tiles.empty())
        scalarize(loop, tiles, rewriter);
    }
  }
};

} // namespace

} // namespace pellucid::tt
