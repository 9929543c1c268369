// SPDX-License-Identifier: Apache-2.0
// Promotion, casts, broadcasting and operators, as Triton defines them.
#include "frontend/Emitter.h"

#include <cmath>

namespace pellucid::frontend {

using namespace mlir;
using syntax::CmpOperator;
using syntax::Operator;

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

static bool isSignedInt(DataType type) { return info(type).isSigned && !isFloat(type); }

mlir::Type Emitter::irElement(DataType type) {
  switch (type) {
  case DataType::Bool:
    return builder.getI1Type();
  case DataType::Float16:
    return builder.getF16Type();
  case DataType::BFloat16:
    return builder.getBF16Type();
  case DataType::Float32:
    return builder.getF32Type();
  case DataType::Float64:
    return builder.getF64Type();
  case DataType::Float8E4M3FN:
    return Float8E4M3FNType::get(&context);
  case DataType::Float8E5M2:
    return Float8E5M2Type::get(&context);
  case DataType::Float8E4M3FNUZ:
    return Float8E4M3FNUZType::get(&context);
  case DataType::Float8E5M2FNUZ:
    return Float8E5M2FNUZType::get(&context);
  default:
    return builder.getIntegerType(8 * byteSize(type));
  }
}

mlir::Type Emitter::irType(const TlType &type) {
  mlir::Type element = irElement(type.element);
  if (type.pointer)
    element = tt::PointerType::get(element, 1);
  return type.shape.empty() ? element : RankedTensorType::get(type.shape, element);
}

Val Emitter::constantOf(double value, int64_t integer, DataType type) {
  mlir::Type element = irElement(type);
  TypedAttr attribute;
  if (isFloat(type)) {
    APFloat number(value);
    bool lost = false;
    number.convert(cast_or_null<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    attribute = FloatAttr::get(element, number);
  } else {
    unsigned bits = element.getIntOrFloatBitWidth();
    attribute = IntegerAttr::get(element, APInt(64, static_cast<uint64_t>(integer)).sextOrTrunc(bits));
  }
  return Val::tensor(arith::ConstantOp::create(builder, loc(), attribute), {type, false, {}});
}

/// A Python number in a given type, as `tl.full((), number, type)` would make it.
Val Emitter::numberAs(const Val &number, DataType type) {
  const host::Value &v = number.constant;
  if (v.isFloat()) {
    if (!isFloat(type))
      return constantOf(0, static_cast<int64_t>(v.real()), type);
    return constantOf(v.real(), 0, type);
  }
  host::Int integer = v.isBool() ? host::Int(v.boolean()) : v.integer();
  return constantOf(static_cast<double>(integer), static_cast<int64_t>(integer), type);
}

Val Emitter::toTensor(const Val &value) {
  if (value.isTensor() || value.kind == Val::Kind::BlockPointer)
    return value;
  if (!value.isNumber())
    fail("a value of the kernel is needed here, got " +
         (value.isTuple() ? std::string("a tuple") : host::repr(value.constant)));
  const host::Value &v = value.constant;
  if (v.isBool())
    return numberAs(value, DataType::Bool);
  if (v.isFloat()) {
    double magnitude = std::fabs(v.real());
    bool single = std::isinf(magnitude) || std::isnan(magnitude) || magnitude == 0 ||
                  (magnitude >= 1.17549435082228751e-38 && magnitude <= 3.40282346638528860e+38);
    return numberAs(value, single ? DataType::Float32 : DataType::Float64);
  }
  host::Int i = v.integer();
  constexpr host::Int one = 1;
  if (i >= -(one << 31) && i < (one << 31))
    return numberAs(value, DataType::Int32);
  if (i >= 0 && i < (one << 32))
    return numberAs(value, DataType::UInt32);
  if (i >= -(one << 63) && i < (one << 63))
    return numberAs(value, DataType::Int64);
  if (i >= 0 && i < (one << 64))
    return numberAs(value, DataType::UInt64);
  fail("integer " + host::toString(i) + " does not fit in 64 bits");
}

Val Emitter::bitcast(const Val &value, DataType to, bool pointer) {
  TlType type{to, pointer, value.type.shape};
  if (type == value.type)
    return value;
  auto bits = [](const TlType &t) { return t.pointer ? 64u : t.element == DataType::Bool ? 1u : 8 * byteSize(t.element); };
  if (bits(type) != bits(value.type))
    fail("cannot bitcast " + toString(value.type) + " to " + toString(type) + ": " + std::to_string(bits(value.type)) +
         " bits are not " + std::to_string(bits(type)));
  // Signed and unsigned integers are one type in the IR.
  mlir::Type ir = irType(type);
  if (ir == value.value.getType())
    return Val::tensor(value.value, type);
  return Val::tensor(tt::BitcastOp::create(builder, loc(), ir, value.value), type);
}

Val Emitter::cast(const Val &input, DataType to, bool pointer, std::optional<tt::RoundingMode> rounding) {
  Val value = toTensor(input);
  TlType target{to, pointer, value.type.shape};
  if (target == value.type)
    return value;
  mlir::Type ir = irType(target);
  DataType from = value.type.element;
  auto make = [&](mlir::Value v) { return Val::tensor(v, target); };
  if (value.type.pointer && pointer)
    return make(tt::BitcastOp::create(builder, loc(), ir, value.value));
  if (value.type.pointer) {
    if (to != DataType::Int64 && to != DataType::UInt64)
      fail("a pointer can only be cast to int64, not to " + toString(target));
    return make(tt::PtrToIntOp::create(builder, loc(), ir, value.value));
  }
  if (pointer) {
    if (isFloat(from) || byteSize(from) != 8)
      fail("only 64-bit integers can be cast to a pointer, not " + toString(value.type));
    return make(tt::IntToPtrOp::create(builder, loc(), ir, value.value));
  }
  auto isNarrow = [](DataType t) { return isFloat(t) && byteSize(t) == 1; };
  if (isFloat(from) && isFloat(to)) {
    bool down = byteSize(to) < byteSize(from);
    if (rounding && !down)
      fail("fp_downcast_rounding is for casts to a narrower float, got " + toString(value.type) + " to " + toString(target));
    bool custom = rounding && *rounding != tt::RoundingMode::RTNE;
    if (isNarrow(from) || isNarrow(to) || custom) {
      auto mode = tt::RoundingModeAttr::get(&context, rounding.value_or(tt::RoundingMode::RTNE));
      return make(tt::FpToFpOp::create(builder, loc(), ir, value.value, down ? mode : tt::RoundingModeAttr()));
    }
    if (byteSize(from) == 2 && to != DataType::Float32)
      return cast(cast(value, DataType::Float32), to);
    if (down)
      return make(arith::TruncFOp::create(builder, loc(), ir, value.value));
    return make(arith::ExtFOp::create(builder, loc(), ir, value.value));
  }
  if (to == DataType::Bool) {
    Val zero = splat(constantOf(0, 0, from), value.type.shape);
    return comparison(CmpOperator::NotEq, value, zero);
  }
  if (!isFloat(from) && !isFloat(to)) {
    if (ir == value.value.getType())
      return make(value.value);
    bool wider = (to == DataType::Bool ? 0 : byteSize(to)) > (from == DataType::Bool ? 0 : byteSize(from));
    if (!wider)
      return make(arith::TruncIOp::create(builder, loc(), ir, value.value));
    if (isSignedInt(from))
      return make(arith::ExtSIOp::create(builder, loc(), ir, value.value));
    return make(arith::ExtUIOp::create(builder, loc(), ir, value.value));
  }
  if (isFloat(from)) {
    if (isNarrow(from))
      return cast(cast(value, DataType::Float32), to);
    if (isSignedInt(to))
      return make(arith::FPToSIOp::create(builder, loc(), ir, value.value));
    return make(arith::FPToUIOp::create(builder, loc(), ir, value.value));
  }
  if (isNarrow(to))
    return cast(cast(value, DataType::Float32), to);
  if (isSignedInt(from))
    return make(arith::SIToFPOp::create(builder, loc(), ir, value.value));
  return make(arith::UIToFPOp::create(builder, loc(), ir, value.value));
}

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
  if (axis < -(rank + 1) || axis > rank)
    fail("expand_dims axis " + std::to_string(axis) + " is out of range for a tile of " + std::to_string(rank) + " dims");
  if (axis < 0)
    axis += rank + 1;
  TlType type = value.type;
  type.shape.insert(type.shape.begin() + axis, 1);
  if (rank == 0)
    return Val::tensor(tt::SplatOp::create(builder, loc(), irType(type), value.value), type);
  return Val::tensor(tt::ExpandDimsOp::create(builder, loc(), irType(type), value.value, static_cast<uint32_t>(axis)), type);
}

Val Emitter::broadcastTo(const Val &input, const std::vector<int64_t> &shape) {
  Val value = toTensor(input);
  if (value.type.shape == shape)
    return value;
  if (!value.type.isTile())
    return splat(value, shape);
  auto mismatch = [&](const std::string &what) {
    fail("cannot broadcast " + toString(value.type) + " to shape " + toString(TlType{value.type.element, false, shape}) + ": " + what);
  };
  while (value.type.shape.size() < shape.size())
    value = expandDims(value, 0);
  if (value.type.shape.size() > shape.size())
    mismatch("it has more dims");
  for (size_t d = 0; d < shape.size(); ++d)
    if (value.type.shape[d] != shape[d] && value.type.shape[d] != 1)
      mismatch("dim " + std::to_string(d) + " is " + std::to_string(value.type.shape[d]) + " and must be " +
               std::to_string(shape[d]) + " or 1");
  if (value.type.shape == shape)
    return value;
  TlType type{value.type.element, value.type.pointer, shape};
  return Val::tensor(tt::BroadcastOp::create(builder, loc(), irType(type), value.value), type);
}

void Emitter::broadcast(Val &a, Val &b) {
  a = toTensor(a);
  b = toTensor(b);
  if (a.type.shape == b.type.shape)
    return;
  if (!a.type.isTile()) {
    a = splat(a, b.type.shape);
    return;
  }
  if (!b.type.isTile()) {
    b = splat(b, a.type.shape);
    return;
  }
  size_t rank = std::max(a.type.shape.size(), b.type.shape.size());
  std::vector<int64_t> shape(rank);
  auto dim = [&](const Val &v, size_t d) {
    size_t missing = rank - v.type.shape.size();
    return d < missing ? int64_t(1) : v.type.shape[d - missing];
  };
  for (size_t d = 0; d < rank; ++d) {
    int64_t x = dim(a, d), y = dim(b, d);
    if (x != y && x != 1 && y != 1)
      fail("cannot make shapes of " + toString(a.type) + " and " + toString(b.type) + " compatible: dim " +
           std::to_string(d) + " is " + std::to_string(x) + " and " + std::to_string(y));
    shape[d] = std::max(x, y);
  }
  a = broadcastTo(a, shape);
  b = broadcastTo(b, shape);
}

namespace {

DataType promoteIntegers(DataType a, DataType b) {
  unsigned rankA = a == DataType::Bool ? 0 : byteSize(a), rankB = b == DataType::Bool ? 0 : byteSize(b);
  bool signedA = isSignedInt(a), signedB = isSignedInt(b);
  if (signedA == signedB)
    return rankA > rankB ? a : b;
  if (!signedA)
    return rankA >= rankB ? a : b;
  return rankB >= rankA ? b : a;
}

int kindOf(DataType type) { return type == DataType::Bool ? 0 : isFloat(type) ? 2 : 1; }

} // namespace

/// Brings both to the type they are computed in. A Python number of a lower or equal kind takes the other's type.
void Emitter::promote(Val &a, Val &b, bool divOrMod, const char *what) {
  bool numberA = a.isNumber(), numberB = b.isNumber();
  Val ta = toTensor(a), tb = toTensor(b);
  DataType x = ta.type.element, y = tb.type.element;
  auto common = [&]() -> DataType {
    if (numberA != numberB) {
      DataType number = numberA ? x : y, tensor = numberA ? y : x;
      if (kindOf(number) <= kindOf(tensor)) {
        bool half = tensor == DataType::Float16 || tensor == DataType::BFloat16;
        return divOrMod && half ? DataType::Float32 : tensor;
      }
    }
    for (DataType wide : {DataType::Float64, DataType::Float32})
      if (x == wide || y == wide)
        return wide;
    if (x == DataType::Float16 || y == DataType::Float16)
      return divOrMod ? DataType::Float32 : DataType::Float16;
    if (x == DataType::BFloat16 || y == DataType::BFloat16)
      return x == y && !divOrMod ? DataType::BFloat16 : DataType::Float32;
    if (isFloat(x) && isFloat(y))
      return x == y ? x : DataType::Float16;
    if (isFloat(x) || isFloat(y))
      fail("unexpected types " + toString(ta.type) + " and " + toString(tb.type));
    if (divOrMod && isSignedInt(x) != isSignedInt(y))
      fail(std::string("cannot use /, // or % with ") + toString(ta.type) + " and " + toString(tb.type) +
           " because they have different signedness; cast them to the same one");
    return promoteIntegers(x, y);
  }();
  auto checkRange = [&](const Val &number) {
    if (isFloat(common) || number.constant.isFloat())
      return;
    host::Int value = number.constant.isBool() ? host::Int(number.constant.boolean()) : number.constant.integer();
    unsigned bits = common == DataType::Bool ? 1 : 8 * byteSize(common);
    host::Int one = 1, low = isSignedInt(common) ? -(one << (bits - 1)) : 0;
    host::Int high = isSignedInt(common) ? (one << (bits - 1)) - 1 : (one << bits) - 1;
    if (value < low || value > high)
      fail("number " + host::toString(value) + " is out of range for type " + toString(TlType{common, false, {}}) +
           " of the other operand of " + what);
  };
  if (numberA)
    checkRange(a);
  if (numberB)
    checkRange(b);
  a = numberA ? numberAs(a, common) : cast(ta, common);
  b = numberB ? numberAs(b, common) : cast(tb, common);
  broadcast(a, b);
}

Val Emitter::addPointer(const Val &pointer, const Val &by, bool negate) {
  Val base = toTensor(pointer), offset = toTensor(by);
  if (!offset.type.isInt())
    fail("a pointer moves by an integer, got " + toString(offset.type));
  if (offset.type.element == DataType::Bool)
    offset = cast(offset, DataType::Int32);
  if (negate)
    offset = binary(Operator::Sub, numberAs(Val::of(host::Value(0)), offset.type.element), offset);
  broadcast(base, offset);
  return Val::tensor(tt::AddPtrOp::create(builder, loc(), base.value.getType(), base.value, offset.value), base.type);
}

Val Emitter::binary(Operator op, const Val &left, const Val &right) {
  static const char *names[] = {"+", "-", "*", "@", "/", "%", "**", "<<", ">>", "|", "^", "&", "//"};
  const char *symbol = names[static_cast<size_t>(op)];
  if (left.isConstexpr() && right.isConstexpr()) {
    host::BinaryOp hostOp = static_cast<host::BinaryOp>(op);
    return fromHost(interpreter.binary(hostOp, left.constant, right.constant));
  }
  if (left.isTuple() && right.isTuple() && op == Operator::Add) {
    std::vector<Val> all = left.elements;
    all.insert(all.end(), right.elements.begin(), right.elements.end());
    return Val::tuple(std::move(all));
  }
  if (left.isTensor() && left.type.pointer && (op == Operator::Add || op == Operator::Sub))
    return addPointer(left, right, op == Operator::Sub);
  if (right.isTensor() && right.type.pointer && op == Operator::Add)
    return addPointer(right, left, false);
  Val a = left, b = right;
  for (const Val *v : {&left, &right})
    if ((v->isTensor() && v->type.pointer) || (!v->isTensor() && !v->isNumber()))
      fail(std::string("invalid operand of ") + symbol + ": " +
           (v->isTensor() ? toString(v->type) : v->isTuple() ? "a tuple" : host::repr(v->constant)));
  bool division = op == Operator::Div || op == Operator::FloorDiv || op == Operator::Mod;
  switch (op) {
  case Operator::Div: {
    Val ta = toTensor(a), tb = toTensor(b);
    if (ta.type.isFloating() && tb.type.isInt())
      b = b.isNumber() ? numberAs(b, ta.type.element) : cast(tb, ta.type.element);
    else if (ta.type.isInt() && tb.type.isFloating())
      a = a.isNumber() ? numberAs(a, tb.type.element) : cast(ta, tb.type.element);
    else if (ta.type.isInt()) {
      a = a.isNumber() ? numberAs(a, DataType::Float32) : cast(ta, DataType::Float32);
      b = b.isNumber() ? numberAs(b, DataType::Float32) : cast(tb, DataType::Float32);
    }
    promote(a, b, true, symbol);
    return elementwise<arith::DivFOp>(a, b);
  }
  case Operator::Pow:
    fail("'**' between values of the kernel is not supported; write libdevice.pow(x, y) or multiply");
  case Operator::MatMult:
    fail("'@' is not part of the kernel language; write tl.dot(a, b)");
  default:
    break;
  }
  if (op == Operator::BitAnd || op == Operator::BitOr || op == Operator::BitXor || op == Operator::LShift || op == Operator::RShift) {
    Val ta = toTensor(a), tb = toTensor(b);
    for (const Val *v : {&ta, &tb})
      if (!v->type.isInt())
        fail(std::string("operand of ") + symbol + " must be an integer, got " + toString(v->type));
    if (op == Operator::LShift || op == Operator::RShift) {
      // The shift amount takes the shifted value's type.
      DataType type = a.isNumber() && !b.isNumber() ? promoteIntegers(ta.type.element, tb.type.element) : ta.type.element;
      if (!a.isNumber() && !b.isNumber())
        type = promoteIntegers(ta.type.element, tb.type.element);
      a = a.isNumber() ? numberAs(a, type) : cast(ta, type);
      b = b.isNumber() ? numberAs(b, type) : cast(tb, type);
      broadcast(a, b);
    } else {
      promote(a, b, false, symbol);
    }
  } else {
    promote(a, b, division, symbol);
  }
  bool floating = a.type.isFloating(), signedInt = isSignedInt(a.type.element);
  switch (op) {
  case Operator::Add:
    return floating ? elementwise<arith::AddFOp>(a, b) : elementwise<arith::AddIOp>(a, b);
  case Operator::Sub:
    return floating ? elementwise<arith::SubFOp>(a, b) : elementwise<arith::SubIOp>(a, b);
  case Operator::Mult:
    return floating ? elementwise<arith::MulFOp>(a, b) : elementwise<arith::MulIOp>(a, b);
  case Operator::FloorDiv:
    if (floating)
      fail("// is for integers, got " + toString(a.type) + "; write tl.floor(a / b)");
    return signedInt ? elementwise<arith::DivSIOp>(a, b) : elementwise<arith::DivUIOp>(a, b);
  case Operator::Mod:
    if (floating)
      return elementwise<arith::RemFOp>(a, b);
    return signedInt ? elementwise<arith::RemSIOp>(a, b) : elementwise<arith::RemUIOp>(a, b);
  case Operator::BitAnd:
    return elementwise<arith::AndIOp>(a, b);
  case Operator::BitOr:
    return elementwise<arith::OrIOp>(a, b);
  case Operator::BitXor:
    return elementwise<arith::XOrIOp>(a, b);
  case Operator::LShift:
    return elementwise<arith::ShLIOp>(a, b);
  case Operator::RShift:
    return signedInt ? elementwise<arith::ShRSIOp>(a, b) : elementwise<arith::ShRUIOp>(a, b);
  default:
    fail(std::string("'") + symbol + "' is not supported on " + toString(a.type));
  }
}

Val Emitter::comparison(CmpOperator op, const Val &left, const Val &right) {
  if (left.isConstexpr() && right.isConstexpr()) {
    static constexpr host::CompareOp map[] = {host::CompareOp::Eq, host::CompareOp::Ne, host::CompareOp::Lt,
                                              host::CompareOp::Le, host::CompareOp::Gt, host::CompareOp::Ge};
    return fromHost(interpreter.compare(map[static_cast<size_t>(op)], left.constant, right.constant));
  }
  Val a = left, b = right;
  if (a.isTensor() && a.type.pointer)
    a = cast(a, DataType::Int64);
  if (b.isTensor() && b.type.pointer)
    b = cast(b, DataType::Int64);
  if (left.isNone() || right.isNone() || left.isTuple() || right.isTuple() || (left.isConstexpr() && !left.isNumber()) ||
      (right.isConstexpr() && !right.isNumber())) {
    // A value of the kernel equals no None, string or dtype.
    if (op == CmpOperator::Eq || op == CmpOperator::NotEq)
      return Val::of(host::Value(op == CmpOperator::NotEq));
    fail("values of the kernel can only be compared with numbers");
  }
  promote(a, b, false, "a comparison");
  TlType type{DataType::Bool, false, a.type.shape};
  size_t index = static_cast<size_t>(op);
  if (a.type.isFloating()) {
    static constexpr arith::CmpFPredicate map[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
                                                   arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return Val::tensor(arith::CmpFOp::create(builder, loc(), map[index], a.value, b.value), type);
  }
  using P = arith::CmpIPredicate;
  static constexpr P signedMap[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  static constexpr P unsignedMap[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  P predicate = isSignedInt(a.type.element) ? signedMap[index] : unsignedMap[index];
  return Val::tensor(arith::CmpIOp::create(builder, loc(), predicate, a.value, b.value), type);
}

Val Emitter::unary(syntax::UnaryOperator op, const Val &operand) {
  using syntax::UnaryOperator;
  if (op == UnaryOperator::Not) {
    if (auto known = constantTruth(operand))
      return Val::of(host::Value(!*known));
    Val flag = truthOf(operand);
    Val one = splat(constantOf(0, 1, DataType::Bool), flag.type.shape);
    return elementwise<arith::XOrIOp>(flag, one);
  }
  if (operand.isConstexpr())
    return fromHost(interpreter.unary(static_cast<host::UnaryOp>(op == UnaryOperator::Invert ? 0 : op == UnaryOperator::UAdd ? 1 : 2), operand.constant));
  Val value = toTensor(operand);
  if (value.type.pointer)
    fail("a pointer has no sign");
  switch (op) {
  case UnaryOperator::UAdd:
    return value;
  case UnaryOperator::USub: {
    Val zero = splat(constantOf(0, 0, value.type.element), value.type.shape);
    return value.type.isFloating() ? elementwise<arith::SubFOp>(zero, value) : elementwise<arith::SubIOp>(zero, value);
  }
  default: {
    if (!value.type.isInt())
      fail("~ is for integers, got " + toString(value.type));
    Val ones = splat(constantOf(0, -1, value.type.element), value.type.shape);
    return elementwise<arith::XOrIOp>(value, ones);
  }
  }
}

Val Emitter::truthOf(const Val &value) {
  Val v = toTensor(value);
  return v.type.element == DataType::Bool && !v.type.pointer ? v : cast(v.type.pointer ? cast(v, DataType::Int64) : v, DataType::Bool);
}

Val Emitter::where(const Val &condition, const Val &x, const Val &y) {
  Val flag = truthOf(condition), a = x, b = y;
  if (a.isTensor() && a.type.pointer) {
    b = toTensor(b);
    broadcast(a, b);
  } else {
    promote(a, b, false, "where");
  }
  broadcast(flag, a);
  broadcast(a, b);
  broadcast(flag, a);
  return Val::tensor(arith::SelectOp::create(builder, loc(), flag.value, a.value, b.value), a.type);
}

Val Emitter::minimumOrMaximum(const Val &left, const Val &right, bool maximum, bool propagateNan) {
  Val a = left, b = right;
  promote(a, b, false, maximum ? "maximum" : "minimum");
  DataType type = a.type.element;
  if (a.type.isFloating()) {
    // bf16 is compared as float32 and rounded back, as Triton up to 3.8 does; the value does not change by it.
    bool widen = type == DataType::BFloat16;
    if (widen) {
      a = cast(a, DataType::Float32);
      b = cast(b, DataType::Float32);
    }
    Val result = maximum ? (propagateNan ? elementwise<arith::MaximumFOp>(a, b) : elementwise<arith::MaxNumFOp>(a, b))
                         : (propagateNan ? elementwise<arith::MinimumFOp>(a, b) : elementwise<arith::MinNumFOp>(a, b));
    return widen ? cast(result, type) : result;
  }
  if (isSignedInt(type))
    return maximum ? elementwise<arith::MaxSIOp>(a, b) : elementwise<arith::MinSIOp>(a, b);
  return maximum ? elementwise<arith::MaxUIOp>(a, b) : elementwise<arith::MinUIOp>(a, b);
}

} // namespace pellucid::frontend
