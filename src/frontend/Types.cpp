// SPDX-License-Identifier: Apache-2.0
// Types of the kernel language: their names, their IR and how values are converted between them.
#include "frontend/Emitter.h"
#include "tt/ElementType.h"

#include <cmath>

namespace pellucid::frontend {

using namespace mlir;
using syntax::CmpOperator;

std::string toString(const TlType &type) {
  std::string text(info(type.element).triton);
  if (type.element == DataType::Bool)
    text = "int1";
  else if (!isFloat(type.element))
    text = std::string(info(type.element).torch);
  if (type.pointer)
    text = "pointer<" + text + ">";
  if (type.shape.empty())
    return text;
  std::string dims;
  for (int64_t size : type.shape)
    dims += (dims.empty() ? "" : ", ") + std::to_string(size);
  return "<[" + dims + "], " + text + ">";
}

std::string BlockType::repr() const {
  return behindPointer ? "pointer<" + toString(type) + ">" : toString(type);
}

bool BlockType::equals(const host::Object &other) const {
  auto *block = dynamic_cast<const BlockType *>(&other);
  return block && block->type == type && block->behindPointer == behindPointer;
}

host::Value typeValue(const TlType &type) {
  if (type.isTile())
    return host::Value(std::make_shared<BlockType>(type, false));
  return host::Value(
      std::make_shared<host::DType>(type.element, host::DType::Family::Triton, type.pointer));
}

std::optional<host::Value> BlockType::getAttr(host::Interpreter &interpreter,
                                              std::string_view name) {
  auto answer = [](bool value) {
    return host::nativeRaw(
        "predicate", [value](host::Interpreter &, host::CallArgs) { return host::Value(value); });
  };
  if (name == "is_block")
    return answer(!behindPointer);
  if (behindPointer) {
    if (name == "element_ty")
      return typeValue(type);
    if (name == "scalar")
      return host::Value(shared_from_this());
    return name == "is_ptr" ? std::optional(answer(true)) : std::nullopt;
  }
  if (name == "is_ptr")
    return answer(false);
  if (name == "scalar" || name == "element_ty")
    return typeValue(type.scalar());
  if (name == "shape" || name == "get_block_shapes") {
    host::Tuple dims;
    for (int64_t size : type.shape)
      dims.emplace_back(size);
    host::Value shape = host::Value::tuple(std::move(dims));
    if (name == "shape")
      return shape;
    return host::nativeRaw("get_block_shapes",
                           [shape](host::Interpreter &, host::CallArgs) { return shape; });
  }
  // Predicates such as is_floating() speak of the element.
  return interpreter.findAttr(typeValue(type.scalar()), name);
}

mlir::Type Emitter::irType(const TlType &type) {
  mlir::Type element = tt::elementType(&context, type.element);
  if (type.pointer)
    element = tt::PointerType::get(element, 1);
  return type.shape.empty() ? element : RankedTensorType::get(type.shape, element);
}

// --- constants
// ------------------------------------------------------------------------------------------------------

Val Emitter::constantOf(double value, int64_t integer, DataType type) {
  mlir::Type element = tt::elementType(&context, type);
  TypedAttr attribute;
  if (isFloat(type)) {
    APFloat number(value);
    bool lost = false;
    number.convert(cast_or_null<FloatType>(element).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &lost);
    attribute = FloatAttr::get(element, number);
  } else {
    unsigned bits = element.getIntOrFloatBitWidth();
    attribute =
        IntegerAttr::get(element, APInt(64, static_cast<uint64_t>(integer)).sextOrTrunc(bits));
  }
  return Val::tensor(arith::ConstantOp::create(builder, loc(), attribute), {type, false, {}});
}

/// A Python number in a given type, as `tl.full((), number, type)` would make it.
Val Emitter::numberAs(const Val &number, DataType type) {
  const host::Value &v = number.constant;
  if (v.isFloat())
    return constantOf(v.real(), isFloat(type) ? 0 : static_cast<int64_t>(v.real()), type);
  host::Int integer = v.isBool() ? host::Int(v.boolean()) : v.integer();
  if (type == DataType::Bool)
    integer = integer != 0;
  return constantOf(static_cast<double>(integer), static_cast<int64_t>(integer), type);
}

DataType Emitter::numberType(const Val &number) {
  const host::Value &v = number.constant;
  if (v.isBool())
    return DataType::Bool;
  if (v.isFloat()) {
    double magnitude = std::fabs(v.real());
    bool single = std::isinf(magnitude) || std::isnan(magnitude) || magnitude == 0 ||
                  (magnitude >= 1.17549435082228751e-38 && magnitude <= 3.40282346638528860e+38);
    return single ? DataType::Float32 : DataType::Float64;
  }
  host::Int i = v.integer();
  constexpr host::Int one = 1;
  if (i >= -(one << 31) && i < (one << 31))
    return DataType::Int32;
  if (i >= 0 && i < (one << 32))
    return DataType::UInt32;
  if (i >= -(one << 63) && i < (one << 63))
    return DataType::Int64;
  if (i >= 0 && i < (one << 64))
    return DataType::UInt64;
  fail("integer " + host::toString(i) + " does not fit in 64 bits");
}

static std::string describe(const Val &value) {
  if (value.isTuple())
    return "a tuple of " + std::to_string(value.elements.size());
  if (value.kind == Val::Kind::Descriptor)
    return "a tensor descriptor";
  if (value.kind == Val::Kind::BlockPointer)
    return "a block pointer";
  return value.isTensor() ? toString(value.type) : host::repr(value.constant);
}

TlType Emitter::typeOf(const Val &value) {
  if (value.isTensor())
    return value.type;
  if (!value.isNumber())
    fail("a value of the kernel is needed here, got " + describe(value));
  return {numberType(value), false, {}};
}

Val Emitter::toTensor(const Val &value) {
  return value.isTensor() ? value : numberAs(value, typeOf(value).element);
}

// --- casts
// ----------------------------------------------------------------------------------------------------------

Val Emitter::bitcast(const Val &value, DataType to, bool pointer) {
  TlType type{to, pointer, value.type.shape};
  if (type == value.type)
    return value;
  if (pointer || value.type.pointer)
    return cast(value, to, pointer);
  auto bits = [](DataType t) { return t == DataType::Bool ? 1u : 8 * byteSize(t); };
  if (bits(to) != bits(value.type.element))
    fail("cannot bitcast " + toString(value.type) + " to " + toString(type) + ": " +
         std::to_string(bits(value.type.element)) + " bits are not " + std::to_string(bits(to)));
  // Signed and unsigned integers are one type in the IR.
  mlir::Type ir = irType(type);
  if (ir == value.value.getType())
    return Val::tensor(value.value, type);
  return Val::tensor(tt::BitcastOp::create(builder, loc(), ir, value.value), type);
}

static bool isFloat8(DataType type) { return isFloat(type) && byteSize(type) == 1; }

static Val castPointer(Emitter &e, const Val &value, const TlType &target) {
  mlir::Type ir = e.irType(target);
  auto make = [&](mlir::Value v) { return Val::tensor(v, target); };
  if (value.type.pointer && target.pointer)
    return make(tt::BitcastOp::create(e.builder, e.loc(), ir, value.value));
  if (target.pointer) {
    if (isFloat(value.type.element) || byteSize(value.type.element) != 8)
      e.fail("only 64-bit integers can be cast to a pointer, not " + toString(value.type));
    return make(tt::IntToPtrOp::create(e.builder, e.loc(), ir, value.value));
  }
  if (target.element == DataType::Bool)
    return e.comparison(CmpOperator::NotEq, castPointer(e, value, target.with(DataType::Int64)),
                        Val::integer(0));
  if (isFloat(target.element) || byteSize(target.element) != 8)
    e.fail("a pointer can only be cast to a 64-bit integer, not to " + toString(target));
  return make(tt::PtrToIntOp::create(e.builder, e.loc(), ir, value.value));
}

static Val castFloat(Emitter &e, const Val &value, const TlType &target,
                     std::optional<tt::RoundingMode> rounding) {
  DataType from = value.type.element, to = target.element;
  mlir::Type ir = e.irType(target);
  auto make = [&](mlir::Value v) { return Val::tensor(v, target); };
  bool down = byteSize(to) < byteSize(from);
  if (rounding && !down)
    e.fail("fp_downcast_rounding is for casts to a narrower float, got " + toString(value.type) +
           " to " + toString(target));
  bool custom = rounding && *rounding != tt::RoundingMode::RTNE;
  if (isFloat8(from) || isFloat8(to) || custom) {
    auto mode = tt::RoundingModeAttr::get(&e.context, rounding.value_or(tt::RoundingMode::RTNE));
    return make(tt::FpToFpOp::create(e.builder, e.loc(), ir, value.value,
                                     down ? mode : tt::RoundingModeAttr()));
  }
  if (byteSize(from) == 2 && to != DataType::Float32)
    return e.cast(e.cast(value, DataType::Float32), to);
  if (down)
    return make(arith::TruncFOp::create(e.builder, e.loc(), ir, value.value));
  return make(arith::ExtFOp::create(e.builder, e.loc(), ir, value.value));
}

static Val castInteger(Emitter &e, const Val &value, const TlType &target) {
  mlir::Type ir = e.irType(target);
  auto make = [&](mlir::Value v) { return Val::tensor(v, target); };
  unsigned from = tt::elementType(&e.context, value.type.element).getIntOrFloatBitWidth();
  unsigned to = tt::elementType(&e.context, target.element).getIntOrFloatBitWidth();
  if (from == to)
    return make(value.value);
  if (to < from)
    return make(arith::TruncIOp::create(e.builder, e.loc(), ir, value.value));
  if (isSignedInt(value.type.element))
    return make(arith::ExtSIOp::create(e.builder, e.loc(), ir, value.value));
  return make(arith::ExtUIOp::create(e.builder, e.loc(), ir, value.value));
}

Val Emitter::cast(const Val &input, DataType to, bool pointer,
                  std::optional<tt::RoundingMode> rounding) {
  Val value = toTensor(input);
  TlType target{to, pointer, value.type.shape};
  if (target == value.type)
    return value;
  if (value.type.pointer || pointer)
    return castPointer(*this, value, target);
  DataType from = value.type.element;
  if (isFloat(from) && isFloat(to))
    return castFloat(*this, value, target, rounding);
  if (rounding)
    fail("fp_downcast_rounding is for casts to a narrower float, got " + toString(value.type) +
         " to " + toString(target));
  // Halves reach integers through float32, as in Triton.
  if (isFloat(from) && byteSize(from) == 2)
    return cast(cast(value, DataType::Float32), to);
  if (to == DataType::Bool && !isFloat8(from))
    return comparison(CmpOperator::NotEq, value, splat(constantOf(0, 0, from), value.type.shape));
  if (!isFloat(from) && !isFloat(to))
    return castInteger(*this, value, target);
  if (isFloat8(from) || isFloat8(to))
    fail("cannot cast " + toString(value.type) + " to " + toString(target) +
         "; go through float32");
  mlir::Type ir = irType(target);
  auto make = [&](mlir::Value v) { return Val::tensor(v, target); };
  if (isFloat(from))
    return isSignedInt(to) ? make(arith::FPToSIOp::create(builder, loc(), ir, value.value))
                           : make(arith::FPToUIOp::create(builder, loc(), ir, value.value));
  return isSignedInt(from) ? make(arith::SIToFPOp::create(builder, loc(), ir, value.value))
                           : make(arith::UIToFPOp::create(builder, loc(), ir, value.value));
}

Val Emitter::truthOf(const Val &value) { return cast(value, DataType::Bool); }

// --- shapes of operands
// ---------------------------------------------------------------------------------------------

Val Emitter::splat(const Val &scalar, const std::vector<int64_t> &shape) {
  Val value = toTensor(scalar);
  if (shape.empty() || value.type.isTile())
    return value;
  TlType type{value.type.element, value.type.pointer, shape};
  return Val::tensor(tt::SplatOp::create(builder, loc(), irType(type), value.value), type);
}

Val Emitter::expandDims(const Val &input, int64_t axis) {
  Val value = toTensor(input);
  int64_t rank = static_cast<int64_t>(value.type.shape.size());
  // A scalar becomes a tile of one element wherever the new dim is asked for.
  if (rank == 0)
    return splat(value, {1});
  if (axis < -(rank + 1) || axis > rank)
    fail("expand_dims axis " + std::to_string(axis) + " is out of range for a tile of " +
         std::to_string(rank) + " dims");
  if (axis < 0)
    axis += rank + 1;
  TlType type = value.type;
  type.shape.insert(type.shape.begin() + axis, 1);
  return Val::tensor(tt::ExpandDimsOp::create(builder, loc(), irType(type), value.value,
                                              static_cast<uint32_t>(axis)),
                     type);
}

Val Emitter::broadcastTo(const Val &input, const std::vector<int64_t> &shape) {
  Val value = toTensor(input);
  if (value.type.shape == shape)
    return value;
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || count > mostTileElements)
      fail("a tile has at most " + std::to_string(mostTileElements) + " elements");
  if (!value.type.isTile())
    return splat(value, shape);
  TlType type{value.type.element, value.type.pointer, shape};
  auto mismatch = [&](const std::string &what) {
    fail("cannot broadcast " + toString(value.type) + " to " + toString(type) + ": " + what);
  };
  if (value.type.shape.size() != shape.size())
    mismatch("it has " + std::to_string(value.type.shape.size()) + " dims, not " +
             std::to_string(shape.size()));
  for (size_t d = 0; d < shape.size(); ++d)
    if (value.type.shape[d] != shape[d] && value.type.shape[d] != 1)
      mismatch("dim " + std::to_string(d) + " is " + std::to_string(value.type.shape[d]) +
               " and must be " + std::to_string(shape[d]) + " or 1");
  return Val::tensor(tt::BroadcastOp::create(builder, loc(), irType(type), value.value), type);
}

void Emitter::broadcast(Val &a, Val &b) {
  a = toTensor(a);
  b = toTensor(b);
  if (a.type.shape == b.type.shape)
    return;
  if (!a.type.isTile() || !b.type.isTile()) {
    Val &scalar = a.type.isTile() ? b : a;
    scalar = splat(scalar, a.type.isTile() ? a.type.shape : b.type.shape);
    return;
  }
  TlType before[] = {a.type, b.type};
  while (a.type.shape.size() < b.type.shape.size())
    a = expandDims(a, 0);
  while (b.type.shape.size() < a.type.shape.size())
    b = expandDims(b, 0);
  std::vector<int64_t> shape;
  for (size_t d = 0; d < a.type.shape.size(); ++d) {
    int64_t x = a.type.shape[d], y = b.type.shape[d];
    if (x != y && x != 1 && y != 1)
      fail("cannot make shapes of " + toString(before[0]) + " and " + toString(before[1]) +
           " compatible: dim " + std::to_string(d) + " is " + std::to_string(x) + " and " +
           std::to_string(y));
    shape.push_back(std::max(x, y));
  }
  a = broadcastTo(a, shape);
  b = broadcastTo(b, shape);
}

} // namespace pellucid::frontend
