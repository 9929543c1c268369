// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/LaneEvaluator.h"

#include "codegen/common/ElementOps.h"
#include "codegen/common/IntegerDivision.h"
#include "codegen/common/RampRange.h"
#include "codegen/common/RegionOps.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;

static llvm::ArrayRef<int64_t> shapeOf(mlir::Value tile) {
  return mlir::cast<mlir::RankedTensorType>(tile.getType()).getShape();
}

LaneValue LaneEvaluator::evaluate(mlir::Value value, IndexMapId map) {
  if (!mlir::isa<mlir::RankedTensorType>(value.getType()))
    return LaneValue::uniform(environment.scalar(value));
  llvm::SaveAndRestore keep(inOffset, inOffset && isOffsetArithmetic(value));
  auto &results = inOffset ? knownOffsets : known;
  auto found = results.find({value, map});
  if (found != results.end())
    return found->second;
  LaneValue result = compute(value, map);
  results[{value, map}] = result;
  return result;
}

Value *LaneEvaluator::evaluateVector(mlir::Value value, IndexMapId map) {
  return toVector(b, evaluate(value, map), lanes);
}

/// `first`, and one more for each index along the one dim.
LaneValue LaneEvaluator::rampFrom(Value *first, IndexMapId map) {
  LaneValue at = index(maps.dims(map)[0]);
  if (at.isOpaque())
    return at;
  llvm::Type *type = first->getType();
  auto narrow = [&](Value *v) {
    return b.CreateSExtOrTrunc(v, v->getType()->isVectorTy() ? lanesOf(type, codegen::laneCount(v))
                                                             : type);
  };
  if (at.isVector())
    return LaneValue::vector(b.CreateAdd(narrow(at.value), splatTo(b, first, lanes)));
  Value *base = b.CreateAdd(narrow(at.value), first);
  return at.isRamp() ? LaneValue::ramp(base, narrow(at.stride)) : LaneValue::uniform(base);
}

LaneValue LaneEvaluator::compute(mlir::Value value, IndexMapId map) {
  if (Value *first = environment.firstOfRamp(value))
    return rampFrom(first, map);
  if (const TileBuffer *buffer = environment.buffer(value))
    return readBuffer(*buffer, map);
  mlir::Operation *op = value.getDefiningOp();
  assert(op && "a tile that is an argument of a block lies in a buffer");
  return llvm::TypeSwitch<mlir::Operation *, LaneValue>(op)
      .Case<tt::SplatOp>([&](auto splat) {
        if (mlir::isa<mlir::RankedTensorType>(splat.getSrc().getType()))
          environment.refuse(op, "of a tile is not supported");
        return LaneValue::uniform(environment.scalar(splat.getSrc()));
      })
      .Case<tt::MakeRangeOp>([&](auto range) {
        return rampFrom(b.getInt32(static_cast<int32_t>(range.getFirst())), map);
      })
      .Case<tt::ExpandDimsOp>([&](auto expand) {
        return evaluate(expand.getSrc(), maps.throughExpandDims(map, expand.getAxis()));
      })
      .Case<tt::BroadcastOp>([&](auto broadcast) {
        mlir::Value src = broadcast.getSrc();
        return evaluate(src, maps.throughBroadcast(map, shapeOf(src), shapeOf(value)));
      })
      .Case<tt::TransOp>([&](auto trans) {
        return evaluate(trans.getSrc(), maps.throughTranspose(map, trans.getOrder()));
      })
      .Case<tt::ReshapeOp>([&](auto reshape) {
        mlir::Value src = reshape.getSrc();
        return evaluate(src, maps.throughReshape(map, shapeOf(src), shapeOf(value)));
      })
      .Case<tt::SplitOp>([&](auto split) {
        return evaluate(split.getSrc(), maps.withLast(map, value == split.getOutRHS() ? 1 : 0));
      })
      .Case<tt::JoinOp>([&](auto) { return computeJoin(op, map); })
      .Case<tt::GatherOp>([&](auto) { return computeGather(op, map); })
      .Case<tt::LoadOp>([&](auto) { return computeLoad(op, map); })
      .Case<tt::MapElementwiseOp>([&](auto) { return computeMap(op, value, map); })
      .Case<arith::ConstantOp>([&](auto) { return computeConstant(op, map); })
      .Case<mlir::ub::PoisonOp>([&](auto) {
        return LaneValue::uniform(llvm::Constant::getNullValue(
            registerType(b.getContext(), elementTypeOf(value.getType()))));
      })
      .Default([&](auto) { return computeElementOp(op, value, map); });
}

LaneValue LaneEvaluator::computeConstant(mlir::Operation *op, IndexMapId) {
  auto elements =
      mlir::dyn_cast<mlir::DenseElementsAttr>(mlir::cast<arith::ConstantOp>(op).getValue());
  if (!elements || !elements.isSplat())
    environment.refuse(op, "of several different elements is not supported");
  return LaneValue::uniform(scalarConstant(
      b.getContext(), elements.getSplatValue<mlir::Attribute>(), elements.getElementType()));
}

LaneValue LaneEvaluator::computeElementOp(mlir::Operation *op, mlir::Value result, IndexMapId map) {
  if (!isElementOp(op))
    environment.refuse(op, "is not supported by the CPU code generator");
  llvm::SmallVector<LaneValue, 4> operands;
  for (mlir::Value operand : op->getOperands()) {
    bool offset = mlir::isa<tt::AddPtrOp>(op) && hasWidenedOffsets(operand);
    llvm::SaveAndRestore enter(inOffset, inOffset || offset);
    operands.push_back(evaluate(operand, map));
  }
  LaneUse use = inOffset ? LaneUse::Offset : rowAnalysis ? LaneUse::Analysis : LaneUse::Number;
  if (auto folded = foldLanes(b, op, operands, use))
    return *folded;
  bool uniform = llvm::all_of(operands, [](const LaneValue &v) { return v.isUniform(); });
  if (rowAnalysis && (!uniform || mlir::isa<mlir::FloatType>(elementTypeOf(result.getType()))))
    return LaneValue::opaque();
  llvm::SmallVector<Value *, 4> values;
  for (const LaneValue &operand : operands)
    values.push_back(uniform ? operand.value : toVector(b, operand, lanes));
  auto results = emitElementOp(b, op, values);
  auto &lanesOfResults = inOffset ? knownOffsets : known;
  for (auto [other, emitted] : llvm::zip(op->getResults(), results))
    lanesOfResults[{other, map}] =
        uniform ? LaneValue::uniform(emitted) : LaneValue::vector(emitted);
  return lanesOfResults[{result, map}];
}

void LaneEvaluator::noteRowMask(mlir::Value mask, IndexMapId map, const LaneValue &value) {
  if (value.isPrefix())
    masks.push_back({mask, map, value.countOr(b, 0)});
  else if (value.isUniform() && !llvm::isa<llvm::Constant>(value.value))
    masks.push_back({mask, map, b.CreateSelect(value.value, b.getInt64(lanes), b.getInt64(0))});
}

void LaneEvaluator::noteAccess(mlir::Type element, const LaneValue &pointer) {
  int64_t stride = 0;
  if (pointer.isUniform())
    return;
  bool dense = pointer.hasConstantStride(stride) && stride == int64_t(memoryBytes(element));
  (dense ? someDense : someApart) = true;
}

LaneValue LaneEvaluator::computeLoad(mlir::Operation *op, IndexMapId map) {
  auto load = mlir::cast<tt::LoadOp>(op);
  if (rowAnalysis) {
    if (load.getMask())
      noteRowMask(load.getMask(), map, evaluate(load.getMask(), map));
    noteAccess(elementTypeOf(load.getType()), evaluate(load.getPtr(), map));
    return LaneValue::opaque();
  }
  LaneValue mask = load.getMask() ? evaluate(load.getMask(), map) : LaneValue::uniform(b.getTrue());
  LaneValue pointer = evaluate(load.getPtr(), map);
  LaneValue other;
  if (load.getOther() && !mask.isAlwaysTrue())
    other = evaluate(load.getOther(), map);
  return memory.load(elementTypeOf(load.getType()), pointer, activeLanes(mask), other, lanes);
}

LaneValue LaneEvaluator::activeLanes(const LaneValue &mask) {
  if (!active)
    return mask;
  LaneValue below = LaneValue::prefix(active);
  if (auto both = intersectMasks(b, mask, below))
    return *both;
  return LaneValue::vector(b.CreateAnd(toVector(b, mask, lanes), toVector(b, below, lanes)));
}

LaneValue LaneEvaluator::computeJoin(mlir::Operation *op, IndexMapId map) {
  auto join = mlir::cast<tt::JoinOp>(op);
  DimIndex last = maps.dims(map).back();
  IndexMapId inner = maps.withoutLast(map);
  if (last.kind == DimIndex::Kind::Constant)
    return evaluate(last.number ? join.getRhs() : join.getLhs(), inner);
  LaneValue lhs = evaluate(join.getLhs(), inner), rhs = evaluate(join.getRhs(), inner);
  if (rowAnalysis)
    return LaneValue::opaque();
  Value *at = toVector(b, index(last), lanes);
  Value *first = b.CreateICmpEQ(at, integerLike(at, 0));
  return LaneValue::vector(b.CreateSelect(first, toVector(b, lhs, lanes), toVector(b, rhs, lanes)));
}

LaneValue LaneEvaluator::computeGather(mlir::Operation *op, IndexMapId map) {
  auto gather = mlir::cast<tt::GatherOp>(op);
  LaneValue indices = evaluate(gather.getIndices(), map);
  const TileBuffer *source = environment.buffer(gather.getSrc());
  if (rowAnalysis)
    return LaneValue::opaque();
  assert(source && "the source of a gather is materialised beforehand");
  Value *sum = nullptr;
  int64_t stride = 1;
  for (size_t d = source->shape.size(); d-- > 0; stride *= source->shape[d]) {
    Value *at;
    if (d == gather.getAxis()) {
      at = toVector(b, indices, lanes);
      at = b.CreateSExtOrTrunc(at, typeLike(at, b.i64()));
      // Out of range must not leave the scratch memory; negative is far out of range here.
      at =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, integerLike(at, source->shape[d] - 1));
    } else {
      at = toVector(b, index(maps.dims(map)[d]), lanes);
    }
    at = b.CreateMul(at, integerLike(at, stride));
    sum = sum ? b.CreateAdd(sum, at) : at;
  }
  return memory.load(source->element, pointerAt(*source, LaneValue::vector(sum)),
                     LaneValue::uniform(b.getTrue()), LaneValue::opaque(), lanes);
}

LaneValue LaneEvaluator::computeMap(mlir::Operation *op, mlir::Value result, IndexMapId map) {
  auto mapOp = mlir::cast<tt::MapElementwiseOp>(op);
  if (mapOp.getPack() != 1)
    environment.refuse(op, "with pack above 1 is not supported by the CPU code generator");
  llvm::SmallVector<Value *, 4> arguments;
  for (mlir::Value source : mapOp.getSrcs()) {
    LaneValue value = evaluate(source, map);
    if (!rowAnalysis)
      arguments.push_back(toVector(b, value, lanes));
  }
  if (rowAnalysis)
    return LaneValue::opaque();
  auto results = emitRegion(b, environment, mapOp.getScalarOp(), arguments);
  for (auto [other, emitted] : llvm::zip(mapOp.getResults(), results))
    known[{other, map}] = LaneValue::vector(emitted);
  return known[{result, map}];
}

LaneValue LaneEvaluator::index(const DimIndex &dim) {
  switch (dim.kind) {
  case DimIndex::Kind::Constant:
    return LaneValue::uniform(b.getInt64(dim.number));
  case DimIndex::Kind::Loop:
    return loops[dim.number];
  case DimIndex::Kind::Derived:
    return derivedIndex(maps.derived(dim.number));
  }
  llvm_unreachable("unknown kind of index");
}

// Positions are not negative and divisors are powers of two, so shifts and masks do. A run of lanes
// that stays inside one step of the divisor keeps its form.
LaneValue LaneEvaluator::derivedIndex(const DerivedIndex &derived) {
  LaneValue at = position(derived.of, derived.shape);
  int64_t divisor = derived.divisor, modulus = derived.modulus, stride = 0;
  bool reachesEnd = divisor * modulus == mlir::ShapedType::getNumElements(derived.shape);
  if (divisor == 1 && reachesEnd)
    return at;
  auto apply = [&](Value *v) {
    Value *quotient = b.CreateUDiv(v, integerLike(v, divisor));
    return reachesEnd ? quotient : b.CreateURem(quotient, integerLike(v, modulus));
  };
  if (at.isUniform())
    return LaneValue::uniform(apply(at.value));
  // A run starts at a multiple of its own length.
  if (!rowAnalysis && at.hasConstantStride(stride) && stride == 1) {
    if (divisor % lanes == 0)
      return LaneValue::uniform(apply(at.value));
    if (divisor == 1 && modulus % lanes == 0)
      return LaneValue::ramp(apply(at.value), b.getInt64(1));
    if (auto steps = stepsWithin(derived))
      return LaneValue::vector(b.CreateAdd(splatTo(b, apply(at.value), lanes), constants(*steps)));
  }
  if (rowAnalysis)
    return LaneValue::opaque();
  return LaneValue::vector(apply(toVector(b, at, lanes)));
}

LaneValue LaneEvaluator::position(IndexMapId map, llvm::ArrayRef<int64_t> shape) {
  LaneValue sum = LaneValue::uniform(b.getInt64(0));
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t extent = shape[d];
    LaneValue at;
    if (maps.dims(map)[d].kind == DimIndex::Kind::Derived) {
      DerivedIndex joined = joinedIndex(map, shape, d);
      at = derivedIndex(joined);
      extent = joined.modulus;
    } else {
      at = index(maps.dims(map)[d]);
    }
    if (at.isOpaque())
      return at;
    if (at.isVector() || sum.isVector()) {
      Value *scaled = toVector(b, at, lanes);
      scaled = b.CreateMul(scaled, integerLike(scaled, stride));
      sum = LaneValue::vector(b.CreateAdd(toVector(b, sum, lanes), scaled));
    } else {
      sum = addLanes(b, sum, scaleLanes(b, at, b.getInt64(stride)));
    }
    stride *= extent;
  }
  return sum;
}

DerivedIndex LaneEvaluator::joinedIndex(IndexMapId map, llvm::ArrayRef<int64_t> shape, size_t &d) {
  llvm::ArrayRef<DimIndex> dims = maps.dims(map);
  DerivedIndex joined = maps.derived(dims[d].number);
  while (d > 0) {
    if (shape[d - 1] != 1) {
      if (dims[d - 1].kind != DimIndex::Kind::Derived)
        break;
      const DerivedIndex &next = maps.derived(dims[d - 1].number);
      if (next.of != joined.of || next.shape != joined.shape ||
          next.divisor != joined.divisor * joined.modulus)
        break;
      joined.modulus *= next.modulus;
    }
    --d;
  }
  return joined;
}

LaneValue LaneEvaluator::pointerAt(const TileBuffer &buffer, const LaneValue &position) {
  llvm::Type *type = memoryType(b.getContext(), buffer.element);
  Value *address = b.CreateGEP(type, buffer.base, position.value);
  if (position.isUniform())
    return LaneValue::uniform(address);
  if (position.isVector())
    return LaneValue::vector(address);
  return LaneValue::ramp(address,
                         b.CreateMul(position.stride, b.getInt64(memoryBytes(buffer.element))));
}

// A run that starts at a multiple of its own length: what the lanes add to the first one's index.
std::optional<llvm::SmallVector<int64_t>>
LaneEvaluator::stepsWithin(const DerivedIndex &derived) const {
  int64_t span = derived.divisor * derived.modulus;
  if (lanes % derived.divisor || (span % lanes && lanes % span))
    return std::nullopt;
  llvm::SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < int64_t(lanes); ++lane)
    steps.push_back(lane / derived.divisor % derived.modulus);
  return steps;
}

Value *LaneEvaluator::constants(llvm::ArrayRef<int64_t> numbers) {
  llvm::SmallVector<llvm::Constant *> elements;
  for (int64_t number : numbers)
    elements.push_back(b.getInt64(number));
  return llvm::ConstantVector::get(elements);
}

std::optional<LaneEvaluator::Window> LaneEvaluator::windowOf(IndexMapId map,
                                                             llvm::ArrayRef<int64_t> shape) {
  Window window{b.getInt64(0), llvm::SmallVector<int64_t>(lanes, 0)};
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    const DimIndex &dim = maps.dims(map)[d];
    int64_t extent = shape[d], step = 0;
    std::optional<llvm::SmallVector<int64_t>> steps;
    LaneValue at;
    if (dim.kind == DimIndex::Kind::Derived) {
      DerivedIndex joined = joinedIndex(map, shape, d);
      extent = joined.modulus;
      LaneValue of = position(joined.of, joined.shape);
      if (of.hasConstantStride(step) && step == 1)
        steps = stepsWithin(joined);
      at = derivedIndex(joined);
      // The first lane's index, which the steps are added to.
      if (steps && at.isVector())
        at = LaneValue::uniform(b.CreateExtractElement(at.value, uint64_t(0)));
    } else {
      at = index(dim);
    }
    if (at.hasConstantStride(step)) {
      steps.emplace();
      for (unsigned lane = 0; lane < lanes; ++lane)
        steps->push_back(lane * step);
      at = LaneValue::uniform(at.value);
    }
    if (!at.isUniform())
      return std::nullopt;
    window.first = b.CreateAdd(window.first, b.CreateMul(at.value, b.getInt64(stride)));
    if (steps)
      for (unsigned lane = 0; lane < lanes; ++lane)
        window.offsets[lane] += (*steps)[lane] * stride;
    stride *= extent;
  }
  return window;
}

std::optional<LaneValue> LaneEvaluator::readWindow(const TileBuffer &buffer, IndexMapId map) {
  bool derived = llvm::any_of(
      maps.dims(map), [](const DimIndex &dim) { return dim.kind == DimIndex::Kind::Derived; });
  if (!derived || active || lanes == 1)
    return std::nullopt;
  auto window = windowOf(map, buffer.shape);
  if (!window)
    return std::nullopt;
  int64_t length = *llvm::max_element(window->offsets) + 1;
  if (!llvm::isPowerOf2_64(length) || length > int64_t(lanes))
    return std::nullopt;
  LaneValue start = LaneValue::ramp(window->first, b.getInt64(1));
  LaneValue read = memory.load(buffer.element, pointerAt(buffer, start),
                               LaneValue::uniform(b.getTrue()), LaneValue::opaque(), length);
  if (read.isUniform())
    return read;
  llvm::SmallVector<int> picked(window->offsets.begin(), window->offsets.end());
  return LaneValue::vector(b.CreateShuffleVector(read.value, picked));
}

LaneValue LaneEvaluator::readBuffer(const TileBuffer &buffer, IndexMapId map) {
  if (rowAnalysis) {
    LaneValue at = position(map, buffer.shape);
    noteAccess(buffer.element, at.isOpaque() ? at : pointerAt(buffer, at));
    return LaneValue::opaque();
  }
  if (auto read = readWindow(buffer, map))
    return *read;
  return memory.load(buffer.element, pointerAt(buffer, position(map, buffer.shape)),
                     activeLanes(LaneValue::uniform(b.getTrue())), LaneValue::opaque(), lanes);
}

void LaneEvaluator::writeBuffer(const TileBuffer &buffer, IndexMapId map, const LaneValue &value) {
  memory.store(buffer.element, pointerAt(buffer, position(map, buffer.shape)), value,
               LaneValue::uniform(b.getTrue()), lanes);
}

} // namespace pellucid::codegen
