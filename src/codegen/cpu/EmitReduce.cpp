// SPDX-License-Identifier: Apache-2.0
// Reductions. Along the lanes: one accumulator per lane of a chunk, chunks in ascending order, then
// halves are combined until one lane is left. Across them: one accumulator per element of the
// result, rows in ascending order. The order depends on the shape and the ISA level only.
#include "codegen/cpu/FloatExtremes.h"
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/RegionOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace pellucid::codegen {

using llvm::Value;
using Values = llvm::SmallVector<Value *, 2>;

void KernelEmitter::emitReduce(tt::ReduceOp op) {
  llvm::SmallVector<mlir::Value> sources(op.getSrcs());
  llvm::ArrayRef<int64_t> shape = tileType(sources[0]).getShape();
  bool collapse = shape.size() > 3;
  unsigned axis = collapse ? 1 : op.getAxis();
  NestShape nest = collapse ? nestAround(shape, op.getAxis(), sources) : nestOver(shape, sources);
  // Where little else is to be done, steps wait for their own accumulator: more of them.
  bool onlyReads = llvm::all_of(sources, [&](mlir::Value source) {
    return buffers.contains(source) || source.getDefiningOp<tt::LoadOp>();
  });
  if (onlyReads && nest.extents[nest.laneDim] % (2 * nest.lanes) == 0)
    nest.lanes *= 2;
  if (nest.laneDim == axis)
    emitRowReduce(op, nest);
  else
    emitColumnReduce(op, nest, axis);
}

/// Both tuples of values, one after the other, to one.
using Combine = llvm::function_ref<Values(llvm::ArrayRef<Value *>)>;

/// combine(accumulator, value), or the value itself where `first`.
static Values accumulate(CodeBuilder &b, Combine combine, llvm::ArrayRef<Value *> accumulators,
                         llvm::ArrayRef<Value *> values, Value *first) {
  llvm::SmallVector<Value *, 4> arguments(accumulators);
  arguments.append(values.begin(), values.end());
  Values combined = combine(arguments);
  for (auto [result, value] : llvm::zip(combined, values))
    result = b.CreateSelect(first, value, result);
  return combined;
}

/// The lanes of `vector` combined into one.
static Values combineLanes(CodeBuilder &b, Combine combine, Values vectors) {
  for (unsigned lanes = laneCount(vectors[0]); lanes > 1; lanes /= 2) {
    llvm::SmallVector<Value *, 4> arguments;
    for (unsigned half = 0; half < 2; ++half)
      for (Value *vector : vectors) {
        if (lanes == 2) {
          arguments.push_back(b.CreateExtractElement(vector, half));
          continue;
        }
        llvm::SmallVector<int> picked;
        for (unsigned lane = 0; lane < lanes / 2; ++lane)
          picked.push_back(half * lanes / 2 + lane);
        arguments.push_back(b.CreateShuffleVector(vector, picked));
      }
    vectors = combine(arguments);
  }
  return vectors;
}

void KernelEmitter::emitRowReduce(tt::ReduceOp op, const NestShape &nest) {
  llvm::SmallVector<mlir::Value> sources(op.getSrcs());
  llvm::SmallVector<llvm::AllocaInst *> accumulators;
  llvm::SmallVector<TileBuffer> results;
  auto extreme = FloatExtreme::of(op);
  auto combine = [&](llvm::ArrayRef<Value *> values) {
    return extreme ? Values{extreme->combine(b, values[0], values[1])}
                   : emitRegion(b, *this, op.getCombineOp(), values);
  };
  for (auto [source, result] : llvm::zip(sources, op.getResult())) {
    mlir::Type element = tileType(source).getElementType();
    llvm::Type *type = extreme ? b.getIntNTy(element.getIntOrFloatBitWidth())
                               : registerType(b.getContext(), element);
    accumulators.push_back(emitVariable(b, lanesOf(type, nest.lanes)));
    if (mlir::isa<mlir::RankedTensorType>(result.getType()))
      results.push_back(allocateFor(result));
  }
  auto load = [&] {
    Values values;
    for (llvm::AllocaInst *accumulator : accumulators)
      values.push_back(b.CreateLoad(accumulator->getAllocatedType(), accumulator));
    return values;
  };
  rowStart = [&] {
    for (llvm::AllocaInst *accumulator : accumulators)
      b.CreateStore(llvm::Constant::getNullValue(accumulator->getAllocatedType()), accumulator);
  };
  Values reduced;
  rowEnd = [&](LaneEvaluator &row, IndexMapId at) {
    reduced = combineLanes(b, combine, load());
    if (extreme)
      reduced[0] = extreme->value(b, reduced[0]);
    IndexMapId outer = maps.throughExpandDims(at, op.getAxis());
    for (auto [result, value] : llvm::zip(results, reduced))
      row.writeBuffer(result, outer, LaneValue::uniform(value));
  };
  emitNest(nest, sources, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    Values values;
    for (mlir::Value source : sources)
      values.push_back(chunk.evaluateVector(source, at));
    if (extreme)
      values[0] = extreme->key(b, values[0]);
    Value *first = b.CreateICmpEQ(laneBase, b.getInt64(0));
    Values combined = accumulate(b, combine, load(), values, first);
    for (auto [accumulator, value] : llvm::zip(accumulators, combined))
      b.CreateStore(value, accumulator);
  });
  rowStart = nullptr;
  rowEnd = nullptr;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (results.empty())
      define(op.getResult()[i], reduced[i]);
    else
      buffers[op.getResult()[i]] = results[i];
}

void KernelEmitter::emitColumnReduce(tt::ReduceOp op, const NestShape &nest, unsigned axis) {
  llvm::SmallVector<mlir::Value> sources(op.getSrcs());
  llvm::SmallVector<TileBuffer> results;
  for (mlir::Value result : op.getResult())
    results.push_back(allocateFor(result));
  emitNest(nest, sources, {}, [&](LaneEvaluator &chunk, IndexMapId at) {
    IndexMapId outer = maps.throughExpandDims(at, op.getAxis());
    Values values, accumulated;
    for (mlir::Value source : sources)
      values.push_back(chunk.evaluateVector(source, at));
    for (const TileBuffer &result : results)
      accumulated.push_back(toVector(b, chunk.readBuffer(result, outer), nest.lanes));
    Value *first = b.CreateICmpEQ(nestIndices[axis].value, b.getInt64(0));
    auto combine = [&](llvm::ArrayRef<Value *> both) {
      return emitRegion(b, *this, op.getCombineOp(), both);
    };
    Values combined = accumulate(b, combine, accumulated, values, first);
    for (auto [result, value] : llvm::zip(results, combined))
      chunk.writeBuffer(result, outer, LaneValue::vector(value));
  });
  for (auto [result, area] : llvm::zip(op.getResult(), results))
    buffers[result] = area;
}

} // namespace pellucid::codegen
