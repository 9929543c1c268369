// SPDX-License-Identifier: Apache-2.0
// Tiles from nothing, casts and changes of shape.
#include "frontend/Emitter.h"

#include <algorithm>
#include <numeric>

namespace pellucid::frontend {

using namespace mlir;

static void checkShape(Emitter &e, const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size <= 0 || (size & (size - 1)))
      e.fail("shape elements must be powers of 2, got " + std::to_string(size));
    if (__builtin_mul_overflow(count, size, &count) || count > mostTileElements)
      e.fail("a tile has at most " + std::to_string(mostTileElements) + " elements");
  }
}

/// The only element of a tile of one element.
static Val item(Emitter &e, const Val &value, const char *who) {
  int64_t count = 1;
  for (int64_t size : value.type.shape)
    count *= size;
  if (!value.type.isTile())
    return value;
  if (count != 1)
    e.fail(std::string(who) + " takes one value, got " + toString(value.type));
  return Val::tensor(tt::UnsplatOp::create(e.builder, e.loc(), value.value), value.type.scalar());
}

Val Emitter::emitItem(Bound &args) { return item(*this, toTensor(args[0]), "'.item()'"); }

Val Emitter::emitFull(Bound &args) {
  std::vector<int64_t> shape = constantInts(args[0], "a shape");
  checkShape(*this, shape);
  DataType type = constantType(args[2], "dtype").first;
  Val value = args[1].isNumber() ? numberAs(args[1], type) : cast(args[1], type);
  if (value.type.isTile())
    value = item(*this, value, "'tl.full'");
  return splat(value, shape);
}

Val Emitter::emitCast(Bound &args) {
  auto [type, pointer] = constantType(args[1], "dtype");
  if (constantBool(args[3], "bitcast"))
    return bitcast(toTensor(args[0]), type, pointer);
  std::optional<tt::RoundingMode> rounding;
  if (!args[2].isNone()) {
    rounding = tt::symbolizeRoundingMode(constantString(args[2], "fp_downcast_rounding"));
    if (!rounding)
      fail("rounding '" + constantString(args[2], "fp_downcast_rounding") +
           "' is unknown; rtne and rtz are known");
  }
  return cast(args[0], type, pointer, rounding);
}

/// `x.permute(1, 0)` and `x.permute((1, 0))` mean the same.
static std::vector<int64_t> variadicInts(Emitter &e, const Val &list, const char *what) {
  if (list.isTuple() && list.elements.size() == 1 && list.elements[0].isTuple())
    return e.constantInts(list.elements[0], what);
  return e.constantInts(list, what);
}

Val Emitter::emitPermute(Bound &args) {
  Val value = toTensor(args[0]);
  std::vector<int64_t> dims = variadicInts(*this, args[1], "dims");
  size_t rank = value.type.shape.size();
  std::vector<int64_t> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> wanted(rank);
  std::iota(wanted.begin(), wanted.end(), 0);
  if (sorted != wanted)
    fail("the dims of permute must be each of 0 to " +
         std::to_string(static_cast<int64_t>(rank) - 1) + " once for " + toString(value.type));
  TlType type = value.type;
  SmallVector<int32_t> order;
  for (size_t d = 0; d < rank; ++d) {
    type.shape[d] = value.type.shape[static_cast<size_t>(dims[d])];
    order.push_back(static_cast<int32_t>(dims[d]));
  }
  return Val::tensor(tt::TransOp::create(builder, loc(), irType(type), value.value, order), type);
}

Val Emitter::emitTrans(Bound &args) {
  if (args[1].isTuple() && args[1].elements.empty()) {
    Val value = toTensor(args[0]);
    size_t rank = value.type.shape.size();
    if (rank < 2)
      fail("'tl.trans' needs a tile of at least two dims, got " + toString(value.type));
    // Without dims the last two change places.
    std::vector<Val> dims;
    for (size_t d = 0; d < rank; ++d)
      dims.push_back(Val::of(host::Value(static_cast<int64_t>(d + 2 == rank   ? rank - 1
                                                              : d + 1 == rank ? rank - 2
                                                                              : d))));
    args[1] = Val::tuple(std::move(dims));
  }
  return emitPermute(args);
}

Val Emitter::reshapeTo(const Val &value, const std::vector<int64_t> &shape, bool reorder) {
  int64_t before = 1, after = 1;
  for (int64_t size : value.type.shape)
    before *= size;
  for (int64_t size : shape)
    after *= size;
  if (before != after)
    fail("cannot reshape " + toString(value.type) + " to " +
         toString(TlType{value.type.element, false, shape}) + ": " + std::to_string(before) +
         " elements are not " + std::to_string(after));
  TlType type{value.type.element, value.type.pointer, shape};
  if (type == value.type)
    return value;
  if (value.type.shape.empty())
    return broadcastTo(value, shape);
  return Val::tensor(tt::ReshapeOp::create(builder, loc(), shape, value.value, reorder), type);
}

Val Emitter::emitReshape(Bound &args) {
  Val value = toTensor(args[0]);
  std::vector<int64_t> shape = variadicInts(*this, args[1], "a shape");
  bool reorder = args.size() > 2 && constantBool(args[2], "can_reorder");
  return reshapeTo(value, shape, reorder);
}

Val Emitter::emitExpandDims(Bound &args) {
  std::vector<int64_t> axes = constantInts(args[1], "axis");
  Val value = toTensor(args[0]);
  int64_t rank = static_cast<int64_t>(value.type.shape.size() + axes.size());
  for (int64_t &axis : axes) {
    if (axis < -rank || axis >= rank)
      fail("expand_dims axis " + std::to_string(axis) + " is out of range for " +
           toString(value.type));
    axis = axis < 0 ? axis + rank : axis;
  }
  std::sort(axes.begin(), axes.end());
  if (auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    fail("expand_dims names axis " + std::to_string(*twice) + " twice");
  for (int64_t axis : axes)
    value = expandDims(value, axis);
  return value;
}

Val Emitter::emitBroadcastTo(Bound &args) {
  return broadcastTo(args[0], variadicInts(*this, args[1], "a shape"));
}

Val Emitter::emitBroadcast(Bound &args) {
  Val a = args[0], b = args[1];
  broadcast(a, b);
  return Val::tuple({a, b});
}

Val Emitter::emitJoin(Bound &args) {
  Val a = args[0], b = args[1];
  broadcast(a, b);
  if (!(a.type == b.type))
    fail("'tl.join' takes two tiles of one type, got " + toString(a.type) + " and " +
         toString(b.type));
  bool scalar = !a.type.isTile();
  if (scalar) {
    a = expandDims(a, 0);
    b = expandDims(b, 0);
  }
  TlType type = a.type;
  type.shape.push_back(2);
  Val joined = Val::tensor(tt::JoinOp::create(builder, loc(), a.value, b.value), type);
  return scalar ? reshapeTo(joined, {2}, false) : joined;
}

Val Emitter::emitSplit(Bound &args) {
  Val value = toTensor(args[0]);
  if (value.type.shape.empty() || value.type.shape.back() != 2)
    fail("'tl.split' needs a tile whose last dim is 2, got " + toString(value.type));
  bool single = value.type.shape.size() == 1;
  if (single)
    value = expandDims(value, 0);
  TlType type = value.type;
  type.shape.pop_back();
  auto op = tt::SplitOp::create(builder, loc(), value.value);
  Val left = Val::tensor(op.getOutLHS(), type), right = Val::tensor(op.getOutRHS(), type);
  if (!single)
    return Val::tuple({left, right});
  TlType scalar = type.scalar();
  return Val::tuple({Val::tensor(tt::UnsplatOp::create(builder, loc(), left.value), scalar),
                     Val::tensor(tt::UnsplatOp::create(builder, loc(), right.value), scalar)});
}

/// Side by side along `dim`: joined in a dim of their own, which becomes part of it.
static Val catInOrder(Emitter &e, const Val &a, const Val &b, int64_t dim) {
  auto rank = static_cast<int64_t>(a.type.shape.size());
  if (!(a.type == b.type) || rank == 0)
    e.fail("'tl.cat' takes two tiles of one type, got " + toString(a.type) + " and " +
           toString(b.type));
  if (dim < -rank || dim >= rank)
    e.fail("dim " + std::to_string(dim) + " is out of range for " + toString(a.type));
  size_t along = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  Bound both{a, b};
  std::vector<Val> order;
  for (int64_t d = 0; d < rank; ++d)
    order.push_back(Val::integer(d));
  order.insert(order.begin() + static_cast<long>(along), Val::integer(rank));
  Bound moved{e.emitJoin(both), Val::tuple(std::move(order))};
  std::vector<int64_t> shape = a.type.shape;
  shape[along] *= 2;
  return e.reshapeTo(e.emitPermute(moved), shape, false);
}

Val Emitter::emitCat(Bound &args) {
  Val a = toTensor(args[0]), b = toTensor(args[1]);
  if (!constantBool(args[2], "can_reorder"))
    return catInOrder(*this, a, b, constantInt(args[3], "dim"));
  if (!(a.type == b.type) || a.type.shape.size() != 1)
    fail("'tl.cat' takes two tiles of one type and one dim, got " + toString(a.type) + " and " +
         toString(b.type));
  TlType type = a.type;
  type.shape[0] *= 2;
  return Val::tensor(tt::CatOp::create(builder, loc(), irType(type), a.value, b.value), type);
}

Val Emitter::emitGather(Bound &args) {
  Val source = toTensor(args[0]), index = toTensor(args[1]);
  int64_t rank = static_cast<int64_t>(source.type.shape.size()),
          axis = constantInt(args[2], "axis");
  if (axis < -rank || axis >= rank)
    fail("axis " + std::to_string(axis) + " is out of range for " + toString(source.type));
  if (!index.type.isInt() || index.type.shape.size() != source.type.shape.size())
    fail("'tl.gather' takes indices of the source's rank, got " + toString(source.type) + " and " +
         toString(index.type));
  TlType type{source.type.element, false, index.type.shape};
  return Val::tensor(tt::GatherOp::create(builder, loc(), source.value, index.value,
                                          static_cast<int>(axis < 0 ? axis + rank : axis)),
                     type);
}

Val Emitter::emitHistogram(Bound &args) {
  Val input = toTensor(args[0]);
  int64_t bins = constantInt(args[1], "num_bins");
  checkShape(*this, {bins});
  if (!input.type.isInt() || input.type.shape.size() != 1)
    fail("'tl.histogram' takes integers of one dim, got " + toString(input.type));
  TlType type{DataType::Int32, false, {bins}};
  mlir::Value mask;
  if (!args[2].isNone())
    mask = broadcastTo(truthOf(args[2]), input.type.shape).value;
  return Val::tensor(tt::HistogramOp::create(builder, loc(), irType(type), input.value, mask),
                     type);
}

Val Emitter::emitDistribute(Bound &args) {
  Val input = toTensor(args[0]), digits = toTensor(args[1]);
  int64_t count = constantInt(args[2], "num_digits");
  checkShape(*this, {count});
  constexpr int64_t least = 32;
  if (input.type.shape.size() != 1 || digits.type.shape != input.type.shape ||
      !digits.type.isInt() || count < least)
    fail("'tl._distribute' takes a tile of one dim, an integer below num_digits (32 and more) for "
         "each element, got " +
         toString(input.type) + ", " + toString(digits.type) + " and " + std::to_string(count));
  TlType counts{DataType::Int32, false, {count}};
  auto op = tt::DistributeOp::create(builder, loc(), irType(input.type), irType(counts),
                                     input.value, digits.value);
  return Val::tuple({Val::tensor(op.getResult(), input.type), Val::tensor(op.getCounts(), counts)});
}

// --- types as values
// --------------------------------------------------------------------------------------------------

Val Emitter::emitToTensor(Bound &args) { return args[0].isNumber() ? toTensor(args[0]) : args[0]; }

Val Emitter::emitConstexpr(Bound &args) {
  if (!args[0].isConstexpr() && !args[0].isTuple())
    fail("tl.constexpr() takes what is known while compiling, got " + toString(args[0].type));
  return args[0];
}

Val Emitter::emitDtype(Bound &args) {
  std::string name = constantString(args[0], "the name of a dtype");
  auto named = dataTypeNamed(name);
  if (!named)
    fail("'" + name + "' is not an element type");
  return Val::of(typeValue({*named, false, {}}));
}

Val Emitter::emitExponentOf(Bound &args) {
  int64_t size = constantInt(args[0], "the argument of _log2"), exponent = 0;
  while (size > 1) {
    size >>= 1;
    ++exponent;
  }
  return Val::integer(exponent);
}

Val Emitter::emitPointerType(Bound &args) {
  // Whether what it points to may be written is said by the kernel's stores.
  if (int64_t space = constantInt(args[1], "address_space"); space != 1)
    fail("pointers are to global memory (address space 1), got " + std::to_string(space));
  if (args[0].isConstexpr())
    if (auto *block = args[0].constant.as<BlockType>())
      return Val::of(host::Value(std::make_shared<BlockType>(block->type, true)));
  auto [type, pointer] = constantType(args[0], "element_ty");
  if (pointer)
    fail("a pointer to a pointer is not supported yet; load an int64 and cast it with "
         ".to(tl.pointer_type(...))");
  return Val::of(typeValue({type, true, {}}));
}

Val Emitter::emitBlockType(Bound &args) {
  auto [type, pointer] = constantType(args[0], "element_ty");
  return Val::of(typeValue({type, pointer, constantInts(args[1], "a shape")}));
}

Val Emitter::emitGetIntDtype(Bound &args) {
  int64_t bits = constantInt(args[0], "bitwidth");
  bool isSigned = constantBool(args[1], "signed");
  for (DataType type :
       {DataType::Bool, DataType::Int8, DataType::Int16, DataType::Int32, DataType::Int64,
        DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64})
    if ((type == DataType::Bool ? 1 : 8 * byteSize(type)) == bits &&
        (type == DataType::Bool || info(type).isSigned == isSigned))
      return Val::of(typeValue({type, false, {}}));
  fail("there is no integer type of " + std::to_string(bits) + " bits");
}

} // namespace pellucid::frontend
