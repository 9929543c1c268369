// SPDX-License-Identifier: Apache-2.0
// Reductions and scans.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;

using Combine = std::function<std::vector<Val>(std::vector<Val>, std::vector<Val>)>;

/// Fills a combining region: its arguments are all left elements, then all right ones.
template <typename Return>
static void fillRegion(Emitter &e, Region &region, const std::vector<Val> &inputs, const Combine &combine) {
  OpBuilder::InsertionGuard guard(e.builder);
  SmallVector<mlir::Type> types;
  for (int side = 0; side < 2; ++side)
    for (const Val &input : inputs)
      types.push_back(e.irType(input.type.scalar()));
  SmallVector<Location> places(types.size(), e.loc());
  Block *block = e.builder.createBlock(&region, region.end(), types, places);
  std::vector<Val> left, right;
  for (size_t i = 0; i < inputs.size(); ++i) {
    left.push_back(Val::tensor(block->getArgument(static_cast<unsigned>(i)), inputs[i].type.scalar()));
    right.push_back(Val::tensor(block->getArgument(static_cast<unsigned>(i + inputs.size())), inputs[i].type.scalar()));
  }
  std::vector<Val> results = combine(left, right);
  if (results.size() != inputs.size())
    e.fail("the combining function returns " + std::to_string(results.size()) + " values for " + std::to_string(inputs.size()));
  SmallVector<mlir::Value> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back((results[i].isNumber() ? e.numberAs(results[i], inputs[i].type.element) : e.cast(results[i], inputs[i].type.element)).value);
  Return::create(e.builder, e.loc(), values);
}

static int64_t wrapAxis(Emitter &e, int64_t axis, const TlType &type) {
  int64_t rank = static_cast<int64_t>(type.shape.size());
  if (axis < -rank || axis >= rank)
    e.fail("axis " + std::to_string(axis) + " is out of range for " + toString(type));
  return axis < 0 ? axis + rank : axis;
}

std::vector<Val> Emitter::reduceTuple(std::vector<Val> inputs, std::optional<int64_t> axis, bool keepDims, const Combine &combine) {
  for (Val &input : inputs)
    input = toTensor(input);
  size_t originalRank = inputs[0].type.shape.size();
  if (originalRank == 0)
    fail("a reduction needs a tile, got " + toString(inputs[0].type));
  if (!axis) {
    for (Val &input : inputs) {
      int64_t count = 1;
      for (int64_t size : input.type.shape)
        count *= size;
      input = reshapeTo(input, {count}, true);
    }
  }
  int64_t along = axis ? wrapAxis(*this, *axis, inputs[0].type) : 0;
  SmallVector<mlir::Value> operands;
  for (const Val &input : inputs)
    operands.push_back(input.value);
  auto op = tt::ReduceOp::create(builder, loc(), operands, static_cast<int>(along));
  fillRegion<tt::ReduceReturnOp>(*this, op.getCombineOp(), inputs, combine);
  std::vector<Val> results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TlType type = inputs[i].type;
    type.shape.erase(type.shape.begin() + along);
    Val result = Val::tensor(op->getResult(static_cast<unsigned>(i)), type);
    if (keepDims && axis)
      result = expandDims(result, along);
    else if (keepDims)
      for (size_t d = 0; d < originalRank; ++d)
        result = expandDims(result, 0);
    results.push_back(result);
  }
  return results;
}

static std::optional<int64_t> axisOf(Emitter &e, const Val &axis) {
  return axis.isNone() ? std::nullopt : std::optional(e.constantInt(axis, "axis"));
}

Val Emitter::reduceWith(const Val &input, const Val &axis, bool keepDims, const std::function<Val(Val, Val)> &combine) {
  return reduceTuple({input}, axisOf(*this, axis), keepDims, [&](std::vector<Val> a, std::vector<Val> b) { return std::vector<Val>{combine(a[0], b[0])}; })[0];
}

/// Integers narrower than 32 bits are summed in 32; bf16 in float32 and rounded once.
static Val widenForSum(Emitter &e, Val input, const Val &dtype) {
  input = e.toTensor(input);
  if (!dtype.isNone())
    return e.cast(input, e.constantType(dtype, "dtype").first);
  DataType type = input.type.element;
  if (input.type.isInt() && (type == DataType::Bool || byteSize(type) < 4))
    return e.cast(input, info(type).isSigned ? DataType::Int32 : DataType::UInt32);
  if (type == DataType::BFloat16)
    return e.cast(input, DataType::Float32);
  return input;
}

Val Emitter::emitSum(Bound &args) {
  Val input = toTensor(args[0]);
  DataType original = input.type.element;
  Val result = reduceWith(widenForSum(*this, input, args[3]), args[1], constantBool(args[2], "keep_dims"),
                          [&](Val a, Val b) { return binary(syntax::Operator::Add, a, b); });
  return original == DataType::BFloat16 && args[3].isNone() ? cast(result, original) : result;
}

Val Emitter::emitXorSum(Bound &args) {
  return reduceWith(args[0], args[1], constantBool(args[2], "keep_dims"), [&](Val a, Val b) { return binary(syntax::Operator::BitXor, a, b); });
}

Val Emitter::emitReduceOr(Bound &args) {
  return reduceWith(args[0], args[1], constantBool(args[2], "keep_dims"), [&](Val a, Val b) { return binary(syntax::Operator::BitOr, a, b); });
}

/// Keeps (value, index) of the larger (smaller) element; of equals the smaller index when ties break left.
static std::vector<Val> pickWithIndex(Emitter &e, std::vector<Val> a, std::vector<Val> b, bool maximum, bool tieLeft) {
  using syntax::CmpOperator;
  using syntax::Operator;
  Val better = e.comparison(maximum ? CmpOperator::Gt : CmpOperator::Lt, a[0], b[0]);
  if (tieLeft) {
    Val tie = e.binary(Operator::BitAnd, e.comparison(CmpOperator::Eq, a[0], b[0]), e.comparison(CmpOperator::Lt, a[1], b[1]));
    better = e.binary(Operator::BitOr, better, tie);
  }
  return {e.where(better, a[0], b[0]), e.where(better, a[1], b[1])};
}

static std::vector<Val> extremeWithIndex(Emitter &e, Val input, const Val &axis, bool maximum, bool tieLeft, bool keepDims) {
  input = e.toTensor(input);
  DataType original = input.type.element;
  if (original == DataType::BFloat16)
    input = e.cast(input, DataType::Float32);
  int64_t along = wrapAxis(e, axis.isNone() ? 0 : e.constantInt(axis, "axis"), input.type);
  TlType range{DataType::Int32, false, {input.type.shape[static_cast<size_t>(along)]}};
  Val index = Val::tensor(tt::MakeRangeOp::create(e.builder, e.loc(), e.irType(range), 0, static_cast<uint32_t>(range.shape[0])), range);
  for (size_t d = 0; d < input.type.shape.size(); ++d)
    if (static_cast<int64_t>(d) != along)
      index = e.expandDims(index, static_cast<int64_t>(d));
  index = e.broadcastTo(index, input.type.shape);
  auto results = e.reduceTuple({input, index}, along, keepDims, [&](std::vector<Val> a, std::vector<Val> b) { return pickWithIndex(e, a, b, maximum, tieLeft); });
  if (original == DataType::BFloat16)
    results[0] = e.cast(results[0], original);
  return results;
}

static Val extreme(Emitter &e, Bound &args, bool maximum) {
  bool keepDims = e.constantBool(args[4], "keep_dims");
  if (e.constantBool(args[2], "return_indices"))
    return Val::tuple(extremeWithIndex(e, args[0], args[1], maximum, e.constantBool(args[3], "return_indices_tie_break_left"), keepDims));
  Val input = e.toTensor(args[0]);
  DataType original = input.type.element;
  if (isFloat(original) && byteSize(original) < 4)
    input = e.cast(input, DataType::Float32);
  else if (!isFloat(original) && (original == DataType::Bool || byteSize(original) < 4))
    input = e.cast(input, DataType::Int32);
  Val result = e.reduceWith(input, args[1], keepDims, [&](Val a, Val b) { return e.minimumOrMaximum(a, b, maximum, false); });
  return isFloat(original) && byteSize(original) < 4 ? e.cast(result, original) : result;
}

Val Emitter::emitMax(Bound &args) { return extreme(*this, args, true); }
Val Emitter::emitMin(Bound &args) { return extreme(*this, args, false); }
Val Emitter::emitArgmax(Bound &args) {
  return extremeWithIndex(*this, args[0], args[1], true, constantBool(args[2], "tie_break_left"), constantBool(args[3], "keep_dims"))[1];
}
Val Emitter::emitArgmin(Bound &args) {
  return extremeWithIndex(*this, args[0], args[1], false, constantBool(args[2], "tie_break_left"), constantBool(args[3], "keep_dims"))[1];
}

Val Emitter::emitSoftmax(Bound &args) {
  Val x = floatArgument(args[0], "softmax");
  Val axis = args[1].isNone() ? Val::of(host::Value(0)) : args[1];
  Bound peakArgs{x, axis, Val::of(host::Value(false)), Val::of(host::Value(true)), Val::of(host::Value(true))};
  Bound shifted{binary(syntax::Operator::Sub, x, emitMax(peakArgs))};
  Val e = emitExp(shifted);
  Bound sumArgs{e, axis, Val::of(host::Value(true)), Val()};
  return binary(syntax::Operator::Div, e, emitSum(sumArgs));
}

/// The user's combining function, inlined into the region.
static Combine userCombine(Emitter &e, const Val &function) {
  auto *jit = function.isConstexpr() ? function.constant.as<host::JitFunction>() : nullptr;
  if (!jit)
    e.fail("combine_fn must be a @triton.jit function");
  return [&e, jit](std::vector<Val> a, std::vector<Val> b) {
    std::vector<Val> arguments = a;
    arguments.insert(arguments.end(), b.begin(), b.end());
    Val result = e.callFunction(*jit, arguments, {}, e.here);
    return result.isTuple() ? result.elements : std::vector<Val>{result};
  };
}

Val Emitter::emitReduce(Bound &args) {
  bool tuple = args[0].isTuple();
  auto results = reduceTuple(tuple ? args[0].elements : std::vector<Val>{args[0]}, axisOf(*this, args[1]), constantBool(args[3], "keep_dims"), userCombine(*this, args[2]));
  return tuple ? Val::tuple(results) : results[0];
}

std::vector<Val> Emitter::scanTuple(std::vector<Val> inputs, int64_t axis, bool reverse, const Combine &combine) {
  for (Val &input : inputs)
    input = toTensor(input);
  if (!inputs[0].type.isTile())
    fail("a scan needs a tile, got " + toString(inputs[0].type));
  axis = wrapAxis(*this, axis, inputs[0].type);
  SmallVector<mlir::Value> operands;
  for (const Val &input : inputs)
    operands.push_back(input.value);
  auto op = tt::ScanOp::create(builder, loc(), operands, static_cast<int>(axis), reverse);
  fillRegion<tt::ScanReturnOp>(*this, op.getCombineOp(), inputs, combine);
  std::vector<Val> results;
  for (size_t i = 0; i < inputs.size(); ++i)
    results.push_back(Val::tensor(op->getResult(static_cast<unsigned>(i)), inputs[i].type));
  return results;
}

Val Emitter::emitAssociativeScan(Bound &args) {
  bool tuple = args[0].isTuple();
  auto results = scanTuple(tuple ? args[0].elements : std::vector<Val>{args[0]}, constantInt(args[1], "axis"), constantBool(args[3], "reverse"), userCombine(*this, args[2]));
  return tuple ? Val::tuple(results) : results[0];
}

static Val runningFold(Emitter &e, Bound &args, syntax::Operator op, const Val &dtype) {
  Val input = e.toTensor(args[0]);
  DataType original = input.type.element;
  Val result = e.scanTuple({widenForSum(e, input, dtype)}, e.constantInt(args[1], "axis"), e.constantBool(args[2], "reverse"),
                           [&](std::vector<Val> a, std::vector<Val> b) { return std::vector<Val>{e.binary(op, a[0], b[0])}; })[0];
  return original == DataType::BFloat16 && dtype.isNone() ? e.cast(result, original) : result;
}

Val Emitter::emitCumsum(Bound &args) { return runningFold(*this, args, syntax::Operator::Add, args[3]); }
Val Emitter::emitCumprod(Bound &args) { return runningFold(*this, args, syntax::Operator::Mult, Val()); }

} // namespace pellucid::frontend
