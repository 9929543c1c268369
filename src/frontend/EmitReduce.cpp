// SPDX-License-Identifier: Apache-2.0
// The two operations that take a combining function; sums, maxima and scans are made of them
// (StandardLibrary.cpp).
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;

/// Fills a combining region with the user's function: its arguments are all left elements, then all
/// right ones.
template <typename Return>
static void fillRegion(Emitter &e, Region &region, const std::vector<Val> &inputs,
                       const host::JitFunction &combine) {
  OpBuilder::InsertionGuard guard(e.builder);
  SmallVector<mlir::Type> types;
  for (int side = 0; side < 2; ++side)
    for (const Val &input : inputs)
      types.push_back(e.irType(input.type.scalar()));
  SmallVector<Location> places(types.size(), e.loc());
  Block *block = e.builder.createBlock(&region, region.end(), types, places);
  std::vector<Val> arguments;
  for (unsigned i = 0; i < types.size(); ++i)
    arguments.push_back(
        Val::tensor(block->getArgument(i), inputs[i % inputs.size()].type.scalar()));
  ++e.combining;
  Val result = e.callFunction(combine, arguments, {}, e.here);
  --e.combining;
  std::vector<Val> results = result.isTuple() ? result.elements : std::vector<Val>{result};
  if (results.size() != inputs.size())
    e.fail("the combining function '" + combine.name() + "' returns " +
           std::to_string(results.size()) + " values for " + std::to_string(inputs.size()));
  SmallVector<mlir::Value> values;
  for (size_t i = 0; i < results.size(); ++i) {
    TlType wanted = inputs[i].type.scalar();
    if (!results[i].isTensor() || !(results[i].type == wanted))
      e.fail("the combining function '" + combine.name() + "' returns " +
             (results[i].isTensor() ? toString(results[i].type) : "no value of the kernel") +
             " for " + toString(wanted));
    values.push_back(results[i].value);
  }
  Return::create(e.builder, e.loc(), values);
}

static const host::JitFunction &combiningFunction(Emitter &e, const Val &function) {
  auto *jit = function.isConstexpr() ? function.constant.as<host::JitFunction>() : nullptr;
  if (!jit)
    e.fail("combine_fn must be a @triton.jit function");
  return *jit;
}

/// One value or a tuple of them, all of one shape. Over all dims (`wholly`) a scalar is a tile of
/// one element, as in Triton.
static std::vector<Val> reducedInputs(Emitter &e, const Val &input, const char *what,
                                      bool wholly = false) {
  std::vector<Val> inputs = input.isTuple() ? input.elements : std::vector<Val>{input};
  if (inputs.empty())
    e.fail(std::string(what) + " of an empty tuple");
  for (Val &one : inputs) {
    one = e.toTensor(one);
    if (wholly && !one.type.isTile())
      one = e.splat(one, {1});
    if (!one.type.isTile())
      e.fail(std::string(what) + " needs a tile, got " + toString(one.type));
    if (one.type.shape != inputs[0].type.shape)
      e.fail(std::string(what) + " needs inputs of one shape, got " + toString(inputs[0].type) +
             " and " + toString(one.type));
  }
  return inputs;
}

static int64_t wrapAxis(Emitter &e, int64_t axis, const TlType &type) {
  int64_t rank = static_cast<int64_t>(type.shape.size());
  if (axis < -rank || axis >= rank)
    e.fail("axis " + std::to_string(axis) + " is out of range for " + toString(type));
  return axis < 0 ? axis + rank : axis;
}

std::vector<Val> Emitter::reduceTuple(std::vector<Val> inputs, const Val &axis, bool keepDims,
                                      const Val &combine) {
  size_t rank = inputs[0].type.shape.size();
  int64_t along = 0;
  if (!axis.isNone()) {
    along = wrapAxis(*this, constantInt(axis, "axis"), inputs[0].type);
  } else {
    int64_t count = 1;
    for (int64_t size : inputs[0].type.shape)
      count *= size;
    for (Val &input : inputs)
      input = reshapeTo(input, {count}, true);
  }
  SmallVector<mlir::Value> operands;
  for (const Val &input : inputs)
    operands.push_back(input.value);
  auto op = tt::ReduceOp::create(builder, loc(), operands, static_cast<int>(along));
  fillRegion<tt::ReduceReturnOp>(*this, op.getCombineOp(), inputs,
                                 combiningFunction(*this, combine));
  std::vector<Val> results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TlType type = inputs[i].type;
    type.shape.erase(type.shape.begin() + along);
    Val result = Val::tensor(op->getResult(static_cast<unsigned>(i)), type);
    for (size_t d = 0; keepDims && d < (axis.isNone() ? rank : 1); ++d)
      result = expandDims(result, along);
    results.push_back(result);
  }
  return results;
}

Val Emitter::emitReduce(Bound &args) {
  auto results = reduceTuple(reducedInputs(*this, args[0], "a reduction", args[1].isNone()),
                             args[1], constantBool(args[3], "keep_dims"), args[2]);
  return args[0].isTuple() ? Val::tuple(results) : results[0];
}

/// (value, index) of the element that `combine_fn` picks along the axis.
Val Emitter::emitReduceWithIndices(Bound &args) {
  Val input = reducedInputs(*this, args[0], "a reduction", args[1].isNone())[0];
  if (args[1].isNone() && input.type.shape.size() > 1)
    fail("a reduction with indices needs an axis for " + toString(input.type));
  int64_t along = wrapAxis(*this, args[1].isNone() ? 0 : constantInt(args[1], "axis"), input.type);
  TlType range{DataType::Int32, false, {input.type.shape[static_cast<size_t>(along)]}};
  Val index = Val::tensor(tt::MakeRangeOp::create(builder, loc(), irType(range), 0,
                                                  static_cast<uint32_t>(range.shape[0])),
                          range);
  for (size_t d = 0; d < input.type.shape.size(); ++d)
    if (static_cast<int64_t>(d) != along)
      index = expandDims(index, static_cast<int64_t>(d));
  index = broadcastTo(index, input.type.shape);
  return Val::tuple(reduceTuple({input, index}, Val::integer(along),
                                constantBool(args[3], "keep_dims"), args[2]));
}

Val Emitter::emitAssociativeScan(Bound &args) {
  std::vector<Val> inputs = reducedInputs(*this, args[0], "a scan");
  int64_t axis = wrapAxis(*this, constantInt(args[1], "axis"), inputs[0].type);
  SmallVector<mlir::Value> operands;
  for (const Val &input : inputs)
    operands.push_back(input.value);
  auto op = tt::ScanOp::create(builder, loc(), operands, static_cast<int>(axis),
                               constantBool(args[3], "reverse"));
  fillRegion<tt::ScanReturnOp>(*this, op.getCombineOp(), inputs, combiningFunction(*this, args[2]));
  std::vector<Val> results;
  for (size_t i = 0; i < inputs.size(); ++i)
    results.push_back(Val::tensor(op->getResult(static_cast<unsigned>(i)), inputs[i].type));
  return args[0].isTuple() ? Val::tuple(results) : results[0];
}

/// Every `pack`th element of a tile from each of the first `pack` on, as tiles of one dim.
static std::vector<Val> apart(Emitter &e, const Val &tile, int64_t elements, int64_t pack) {
  if (pack == 1)
    return {e.reshapeTo(tile, {elements}, false)};
  Bound pairs{e.reshapeTo(tile, {elements / 2, 2}, false)};
  Val both = e.emitSplit(pairs);
  std::vector<Val> even = apart(e, both.elements[0], elements / 2, pack / 2),
                   odd = apart(e, both.elements[1], elements / 2, pack / 2), all;
  for (size_t i = 0; i < even.size(); ++i)
    all.insert(all.end(), {even[i], odd[i]});
  return all;
}

/// What apart() divided.
static Val together(Emitter &e, const std::vector<Val> &parts) {
  if (parts.size() == 1)
    return parts[0];
  std::vector<Val> even, odd;
  for (size_t i = 0; i < parts.size(); i += 2) {
    even.push_back(parts[i]);
    odd.push_back(parts[i + 1]);
  }
  Bound both{together(e, even), together(e, odd)};
  Val joined = e.emitJoin(both);
  return e.reshapeTo(joined, {2 * joined.type.shape[0]}, false);
}

/// The function of the elements of tiles of one shape; `isTuple`: it returns a tuple.
static std::vector<Val> mapped(Emitter &e, const host::JitFunction &function,
                               const std::vector<Val> &inputs, bool &isTuple) {
  SmallVector<mlir::Value> operands;
  SmallVector<mlir::Type> arguments;
  for (const Val &input : inputs) {
    operands.push_back(input.value);
    arguments.push_back(e.irType(input.type.scalar()));
  }
  // What the function returns is known once it was called.
  Region region;
  std::vector<Val> results;
  {
    OpBuilder::InsertionGuard guard(e.builder);
    SmallVector<Location> places(arguments.size(), e.loc());
    Block *block = e.builder.createBlock(&region, region.end(), arguments, places);
    std::vector<Val> given;
    for (size_t i = 0; i < inputs.size(); ++i)
      given.push_back(
          Val::tensor(block->getArgument(static_cast<unsigned>(i)), inputs[i].type.scalar()));
    Val result = e.callFunction(function, given, {}, e.here);
    isTuple = result.isTuple();
    SmallVector<mlir::Value> values;
    for (const Val &one : isTuple ? result.elements : std::vector<Val>{result}) {
      results.push_back(e.toTensor(one));
      if (results.back().type.isTile())
        e.fail("'" + function.name() + "' of 'tl.map_elementwise' returns numbers, got " +
               toString(results.back().type));
      values.push_back(results.back().value);
    }
    tt::MapElementwiseReturnOp::create(e.builder, e.loc(), values);
  }
  SmallVector<mlir::Type> types;
  for (Val &result : results) {
    result.type.shape = inputs[0].type.shape;
    types.push_back(e.irType(result.type));
  }
  auto op = tt::MapElementwiseOp::create(e.builder, e.loc(), types, operands, 1);
  op.getScalarOp().takeBody(region);
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = Val::tensor(op->getResult(static_cast<unsigned>(i)), results[i].type);
  return results;
}

/// With a pack, the function takes so many elements of the first input, then of the next one, and
/// returns as many of each result.
Val Emitter::emitMapElementwise(Bound &args) {
  const host::JitFunction &function = combiningFunction(*this, args[0]);
  std::vector<Val> inputs = args[1].elements;
  int64_t pack = constantInt(args[2], "pack"), elements = 1;
  if (inputs.empty())
    fail("'tl.map_elementwise' needs a tile");
  for (Val &one : inputs)
    one = toTensor(one);
  // A first tile that has met all others has the shape of all.
  for (int round = 0; round < 2; ++round)
    for (size_t i = 1; i < inputs.size(); ++i)
      broadcast(inputs[0], inputs[i]);
  const std::vector<int64_t> shape = inputs[0].type.shape;
  for (int64_t size : shape)
    elements *= size;
  bool isPower = pack > 0 && (pack & (pack - 1)) == 0;
  if (shape.empty() || !isPower || elements % pack != 0)
    fail("'tl.map_elementwise' needs tiles, and a pack that is a power of two and divides their " +
         std::string("elements, got ") + toString(inputs[0].type) + " and " + std::to_string(pack));
  bool isTuple = false;
  if (pack > 1) {
    std::vector<Val> parts;
    for (const Val &input : inputs)
      for (Val &part : apart(*this, input, elements, pack))
        parts.push_back(std::move(part));
    inputs = std::move(parts);
  }
  std::vector<Val> results = mapped(*this, function, inputs, isTuple);
  if (pack > 1) {
    auto each = static_cast<size_t>(pack);
    if (results.size() % each)
      fail("'" + function.name() + "' of 'tl.map_elementwise' returns " +
           std::to_string(results.size()) + " values for a pack of " + std::to_string(pack));
    std::vector<Val> whole;
    for (size_t i = 0; i < results.size(); i += each)
      whole.push_back(reshapeTo(together(*this, {results.begin() + static_cast<long>(i),
                                                 results.begin() + static_cast<long>(i + each)}),
                                shape, false));
    results = std::move(whole); // a tuple even of one, as in Triton
  }
  return isTuple ? Val::tuple(std::move(results)) : results[0];
}

Val Emitter::emitPromoteBfloat16(Bound &args) {
  Val v = toTensor(args[0]);
  return v.type.isFloating() && v.type.element == DataType::BFloat16 ? cast(v, DataType::Float32)
                                                                     : v;
}

} // namespace pellucid::frontend
