// SPDX-License-Identifier: Apache-2.0
// reduce, scan, map_elementwise: operations that run a scalar region on elements of tiles.
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

using namespace mlir;

namespace pellucid::reference {

/// Whether every operation acts on each element alone, so that the region can run on whole tiles in
/// place of scalars.
static bool isStraightLine(Region &region, ModuleOp module) {
  if (!region.hasOneBlock())
    return false;
  for (Operation &op : region.front()) {
    if (op.getNumRegions() != 0 || isa<tt::GatherOp, tt::DotOp, tt::LoadOp, tt::StoreOp>(op))
      return false;
    if (auto call = dyn_cast<tt::CallOp>(op)) {
      auto callee = module.lookupSymbol<tt::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal() || !isStraightLine(callee.getBody(), module))
        return false;
    }
  }
  return true;
}

/// Combines two slices of the tiles by the region of a reduce or scan: one slice per tile each.
static SmallVector<TilePtr> combineSlices(Machine &machine, Operation &op, ArrayRef<TilePtr> first,
                                          ArrayRef<TilePtr> second) {
  Region &region = op.getRegion(0);
  auto run = [&](SmallVector<TilePtr> arguments) {
    return machine.runRegion(region, arguments).operands;
  };
  SmallVector<TilePtr> both(first);
  both.append(second.begin(), second.end());
  if (isStraightLine(region, op.getParentOfType<ModuleOp>()))
    return run(std::move(both));

  SmallVector<TileValue> results;
  for (const TilePtr &tile : first) {
    results.push_back(*tile);
  }
  for (int64_t i = 0; i < first[0]->count(); ++i) {
    SmallVector<TilePtr> scalars;
    for (const TilePtr &tile : both) {
      TileValue scalar = scalarOf(tile->elementType, 0);
      scalar.elements[0] = tile->elements[i];
      scalars.push_back(std::make_shared<const TileValue>(std::move(scalar)));
    }
    for (auto [result, tile] : llvm::zip_equal(run(std::move(scalars)), results))
      tile.elements[i] = result->elements[0];
  }
  SmallVector<TilePtr> combined;
  for (TileValue &tile : results)
    combined.push_back(std::make_shared<const TileValue>(std::move(tile)));
  return combined;
}

/// A region may return a scalar it got from outside; give it the shape of a slice.
static void restoreShape(TilePtr &tile, const Shape &shape) {
  if (tile->shape == shape)
    return;
  TileValue spread;
  spread.elementType = tile->elementType;
  spread.shape = shape;
  spread.elements.assign(countOf(shape), tile->elements[0]);
  tile = std::make_shared<const TileValue>(std::move(spread));
}

/// Takes tiles apart along an axis.
struct Slicing {
  Shape shape, rest;
  int64_t length, inner;

  Slicing(const Shape &tileShape, int64_t axis) : shape(tileShape), rest(tileShape) {
    length = shape[axis];
    inner = stridesOf(shape)[axis];
    rest.erase(rest.begin() + axis);
  }
  int64_t indexOf(int64_t lane, int64_t k) const {
    return lane / inner * inner * length + k * inner + lane % inner;
  }
  TilePtr slice(const TileValue &tile, int64_t k) const {
    TileValue result;
    result.elementType = tile.elementType;
    result.shape = rest;
    for (int64_t lane = 0, lanes = countOf(rest); lane < lanes; ++lane)
      result.elements.push_back(tile.elements[indexOf(lane, k)]);
    return std::make_shared<const TileValue>(std::move(result));
  }
};

static SmallVector<TilePtr> slicesAt(ArrayRef<const TileValue *> tiles, const Slicing &slicing,
                                     int64_t k) {
  SmallVector<TilePtr> slices;
  for (const TileValue *tile : tiles)
    slices.push_back(slicing.slice(*tile, k));
  return slices;
}

/// Left to right: f(f(f(x0, x1), x2), x3).
static void evaluateReduce(Machine &machine, Operation &op) {
  auto tiles = operandsOf(machine, op);
  Slicing slicing(tiles[0]->shape, cast<tt::ReduceOp>(op).getAxis());
  SmallVector<TilePtr> sum = slicesAt(tiles, slicing, 0);
  for (int64_t k = 1; k < slicing.length; ++k) {
    sum = combineSlices(machine, op, sum, slicesAt(tiles, slicing, k));
    for (TilePtr &tile : sum)
      restoreShape(tile, slicing.rest);
  }
  for (unsigned i = 0; i < sum.size(); ++i)
    machine.set(op.getResult(i), sum[i]);
}

/// Left to right, or with `reverse` right to left; the running value is the first argument.
static void evaluateScan(Machine &machine, Operation &op) {
  auto tiles = operandsOf(machine, op);
  auto scan = cast<tt::ScanOp>(op);
  Slicing slicing(tiles[0]->shape, scan.getAxis());
  SmallVector<TileValue> results;
  for (const TileValue *tile : tiles)
    results.push_back(*tile);
  SmallVector<TilePtr> sum;
  for (int64_t step = 0; step < slicing.length; ++step) {
    int64_t k = scan.getReverse() ? slicing.length - 1 - step : step;
    SmallVector<TilePtr> next = slicesAt(tiles, slicing, k);
    sum = step == 0 ? next : combineSlices(machine, op, sum, next);
    for (auto [tile, result] : llvm::zip_equal(sum, results)) {
      restoreShape(tile, slicing.rest);
      for (int64_t lane = 0; lane < tile->count(); ++lane)
        result.elements[slicing.indexOf(lane, k)] = tile->elements[lane];
    }
  }
  for (unsigned i = 0; i < results.size(); ++i)
    machine.setResult(op, std::move(results[i]), i);
}

/// Groups of `pack` neighbours; arguments and results are ordered by tile, then within the group.
static void evaluateMap(Machine &machine, Operation &op) {
  auto tiles = operandsOf(machine, op);
  int64_t pack = cast<tt::MapElementwiseOp>(op).getPack();
  SmallVector<TileValue> results;
  for (Value result : op.getResults())
    results.push_back(zerosOf(result.getType()));
  for (int64_t group = 0; group < tiles[0]->count(); group += pack) {
    SmallVector<TilePtr> arguments;
    for (const TileValue *tile : tiles)
      for (int64_t i = 0; i < pack; ++i) {
        TileValue scalar = scalarOf(tile->elementType, 0);
        scalar.elements[0] = tile->elements[group + i];
        arguments.push_back(std::make_shared<const TileValue>(std::move(scalar)));
      }
    auto values = machine.runRegion(op.getRegion(0), arguments).operands;
    for (size_t r = 0; r < results.size(); ++r)
      for (int64_t i = 0; i < pack; ++i)
        results[r].elements[group + i] = values[r * pack + i]->elements[0];
  }
  for (unsigned i = 0; i < results.size(); ++i)
    machine.setResult(op, std::move(results[i]), i);
}

void addRegionHandlers(HandlerTable &table) {
  table["tt.reduce"] = evaluateReduce;
  table["tt.scan"] = evaluateScan;
  table["tt.map_elementwise"] = evaluateMap;
}

} // namespace pellucid::reference
