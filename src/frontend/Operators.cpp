// SPDX-License-Identifier: Apache-2.0
// Promotion and operators, as Triton defines them.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;
using syntax::CmpOperator;
using syntax::Operator;

static unsigned rankOf(DataType type) { return type == DataType::Bool ? 0 : byteSize(type); }

/// C's usual arithmetic conversions, without the promotion to int.
DataType promoteIntegers(DataType a, DataType b) {
  bool signedA = isSignedInt(a), signedB = isSignedInt(b);
  if (signedA == signedB)
    return rankOf(a) > rankOf(b) ? a : b;
  if (!signedA)
    return rankOf(a) >= rankOf(b) ? a : b;
  return rankOf(b) >= rankOf(a) ? b : a;
}

namespace {

int kindOf(DataType type) { return type == DataType::Bool ? 0 : isFloat(type) ? 2 : 1; }

DataType commonFloat(DataType x, DataType y, bool divOrMod) {
  for (DataType wide : {DataType::Float64, DataType::Float32})
    if (x == wide || y == wide)
      return wide;
  if (x == DataType::Float16 || y == DataType::Float16)
    return divOrMod ? DataType::Float32 : DataType::Float16;
  if (x == DataType::BFloat16 || y == DataType::BFloat16)
    return x == y && !divOrMod ? DataType::BFloat16 : DataType::Float32;
  return x == y ? x : DataType::Float16;
}

const char *symbolOf(Operator op) {
  static const char *names[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                "<<", ">>", "|", "^", "&", "//"};
  return names[static_cast<size_t>(op)];
}

/// A number computed with a tensor of integers must fit their type.
void checkRange(Emitter &e, const Val &number, DataType type, const char *what) {
  if (!number.isNumber() || isFloat(type) || number.constant.isFloat())
    return;
  host::Int value = number.constant.isBool() ? host::Int(number.constant.boolean())
                                             : number.constant.integer(),
            one = 1;
  unsigned bits = type == DataType::Bool ? 1 : 8 * byteSize(type);
  host::Int low = isSignedInt(type) ? -(one << (bits - 1)) : 0;
  host::Int high = (one << (isSignedInt(type) ? bits - 1 : bits)) - 1;
  if (value < low || value > high)
    e.fail("number " + host::toString(value) + " is out of range for type " +
           toString(TlType{type, false, {}}) + " of the other operand of " + what);
}

} // namespace

void Emitter::promote(Val &a, Val &b, bool divOrMod, const char *what) {
  bool numberA = a.isNumber(), numberB = b.isNumber();
  TlType ta = typeOf(a), tb = typeOf(b);
  if (ta.pointer || tb.pointer)
    fail(std::string("invalid operands of ") + what + ": " + toString(ta) + " and " + toString(tb));
  DataType x = ta.element, y = tb.element;
  auto common = [&]() -> DataType {
    DataType number = numberA ? x : y, tensor = numberA ? y : x;
    if (numberA != numberB && kindOf(number) <= kindOf(tensor)) {
      bool half = tensor == DataType::Float16 || tensor == DataType::BFloat16;
      return divOrMod && half ? DataType::Float32 : tensor;
    }
    bool wide = rankOf(x) > 1 && isFloat(x), wideY = rankOf(y) > 1 && isFloat(y);
    if (wide || wideY || (isFloat(x) && isFloat(y)))
      return commonFloat(x, y, divOrMod);
    if (isFloat(x) || isFloat(y))
      fail("cannot compute " + std::string(what) + " of " + toString(ta) + " and " + toString(tb) +
           "; cast one of them");
    if (divOrMod && isSignedInt(x) != isSignedInt(y))
      fail(std::string("cannot use ") + what + " with " + toString(ta) + " and " + toString(tb) +
           " because they have different signedness; cast them to the same one");
    return promoteIntegers(x, y);
  }();
  checkRange(*this, a, common, what);
  checkRange(*this, b, common, what);
  a = numberA ? numberAs(a, common) : cast(a, common);
  b = numberB ? numberAs(b, common) : cast(b, common);
  broadcast(a, b);
}

Val Emitter::addPointer(const Val &pointer, const Val &by, bool negate) {
  Val base = toTensor(pointer), offset = toTensor(by);
  if (!offset.type.isInt())
    fail("a pointer moves by an integer, got " + toString(offset.type));
  broadcast(base, offset);
  if (negate)
    offset = unary(syntax::UnaryOperator::USub, offset);
  // The offset is read as a signed number.
  if (!isSignedInt(offset.type.element) && byteSize(offset.type.element) < 8)
    offset = cast(offset, DataType::Int64);
  return Val::tensor(
      tt::AddPtrOp::create(builder, loc(), base.value.getType(), base.value, offset.value),
      base.type);
}

/// What Python itself computes: constexprs, and tuples joined or repeated.
std::optional<Val> Emitter::foldedBinary(Operator op, const Val &left, const Val &right) {
  if (left.isConstexpr() && right.isConstexpr())
    return hostResult([&] {
      return interpreter.binary(static_cast<host::BinaryOp>(op), left.constant, right.constant);
    });
  std::vector<Val> all;
  if (left.isTuple() && right.isTuple() && op == Operator::Add) {
    all = left.elements;
    all.insert(all.end(), right.elements.begin(), right.elements.end());
    return Val::tuple(std::move(all));
  }
  if (op == Operator::Mult && left.isTuple() != right.isTuple()) {
    const Val &tuple = left.isTuple() ? left : right;
    for (int64_t count =
             constantInt(left.isTuple() ? right : left, "the count of a repeated tuple");
         count > 0; --count)
      all.insert(all.end(), tuple.elements.begin(), tuple.elements.end());
    return Val::tuple(std::move(all));
  }
  return std::nullopt;
}

Val Emitter::divide(Val a, Val b) {
  promote(a, b, true, "/");
  if (a.type.isInt()) {
    a = cast(a, DataType::Float32);
    b = cast(b, DataType::Float32);
  }
  return elementwise<arith::DivFOp>(a, b);
}

Val Emitter::bitwise(Operator op, Val a, Val b) {
  for (const Val *v : {&a, &b})
    if (!typeOf(*v).isInt())
      fail(std::string("operand of ") + symbolOf(op) + " must be an integer, got " +
           toString(typeOf(*v)));
  bool logical = !isSignedInt((a.isTensor() ? a : b).type.element);
  promote(a, b, false, symbolOf(op));
  switch (op) {
  case Operator::BitAnd:
    return elementwise<arith::AndIOp>(a, b);
  case Operator::BitOr:
    return elementwise<arith::OrIOp>(a, b);
  case Operator::BitXor:
    return elementwise<arith::XOrIOp>(a, b);
  case Operator::LShift:
    return elementwise<arith::ShLIOp>(a, b);
  default:
    return logical ? elementwise<arith::ShRUIOp>(a, b) : elementwise<arith::ShRSIOp>(a, b);
  }
}

Val Emitter::binary(Operator op, const Val &left, const Val &right) {
  if (auto folded = foldedBinary(op, left, right))
    return *folded;
  const char *symbol = symbolOf(op);
  bool pointerLeft = left.isTensor() && left.type.pointer,
       pointerRight = right.isTensor() && right.type.pointer;
  if (pointerLeft && !pointerRight && (op == Operator::Add || op == Operator::Sub))
    return addPointer(left, right, op == Operator::Sub);
  if (pointerRight && !pointerLeft && op == Operator::Add)
    return addPointer(right, left, false);
  Val a = left, b = right;
  switch (op) {
  case Operator::Div:
    return divide(a, b);
  case Operator::Pow:
    fail("'**' between values of the kernel is not part of the kernel language; write "
         "libdevice.pow(x, y) or multiply");
  case Operator::MatMult:
    fail("'@' is not part of the kernel language; write tl.dot(a, b)");
  case Operator::BitAnd:
  case Operator::BitOr:
  case Operator::BitXor:
  case Operator::LShift:
  case Operator::RShift:
    return bitwise(op, a, b);
  default:
    break;
  }
  promote(a, b, op == Operator::FloorDiv || op == Operator::Mod, symbol);
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
  default:
    if (floating)
      return elementwise<arith::RemFOp>(a, b);
    return signedInt ? elementwise<arith::RemSIOp>(a, b) : elementwise<arith::RemUIOp>(a, b);
  }
}

/// A value of the kernel equals no None, string, tuple or dtype.
static bool isComparable(const Val &value) { return value.isTensor() || value.isNumber(); }

/// An argument that every launch passes as 1 is the number in comparisons, as in Triton: what they
/// decide may not even have types on the other side.
static Val withKnownArgument(const Val &value) {
  auto argument = value.isTensor() && value.constant.isInt()
                      ? mlir::dyn_cast_if_present<mlir::BlockArgument>(value.value)
                      : mlir::BlockArgument();
  bool isOfKernel = argument && mlir::isa<tt::FuncOp>(argument.getOwner()->getParentOp());
  return isOfKernel ? Val::of(value.constant) : value;
}

Val Emitter::comparison(CmpOperator op, const Val &given, const Val &other) {
  Val left = withKnownArgument(given), right = withKnownArgument(other);
  if (!left.isConstexpr() || !right.isConstexpr())
    left = given, right = other;
  if (left.isConstexpr() && right.isConstexpr()) {
    static constexpr host::CompareOp map[] = {host::CompareOp::Eq, host::CompareOp::Ne,
                                              host::CompareOp::Lt, host::CompareOp::Le,
                                              host::CompareOp::Gt, host::CompareOp::Ge};
    return hostResult([&] {
      return interpreter.compare(map[static_cast<size_t>(op)], left.constant, right.constant);
    });
  }
  bool equality = op == CmpOperator::Eq || op == CmpOperator::NotEq;
  if (left.isTuple() && right.isTuple() && equality) {
    bool same = host::equal(toHost(left, "a compared tuple"), toHost(right, "a compared tuple"));
    return Val::of(host::Value(same == (op == CmpOperator::Eq)));
  }
  if (!isComparable(left) || !isComparable(right)) {
    if (!equality)
      fail("values of the kernel can only be ordered against numbers");
    return Val::of(host::Value(op == CmpOperator::NotEq));
  }
  // Numbers take part as values of their own type: a bf16 is compared with 0.1 in float32.
  Val a = toTensor(left), b = toTensor(right);
  if (a.type.pointer || b.type.pointer)
    fail("pointers are not compared, got " + toString(a.type) + " and " + toString(b.type) +
         "; write p.to(tl.int64) for the address of p");
  promote(a, b, false, "a comparison");
  TlType type{DataType::Bool, false, a.type.shape};
  size_t index = static_cast<size_t>(op);
  if (a.type.isFloating()) {
    using P = arith::CmpFPredicate;
    static constexpr P map[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
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
    return elementwise<arith::XOrIOp>(flag,
                                      splat(constantOf(0, 1, DataType::Bool), flag.type.shape));
  }
  if (operand.isConstexpr()) {
    host::UnaryOp hostOp = op == UnaryOperator::Invert ? host::UnaryOp::Invert
                           : op == UnaryOperator::UAdd ? host::UnaryOp::Plus
                                                       : host::UnaryOp::Minus;
    return hostResult([&] { return interpreter.unary(hostOp, operand.constant); });
  }
  Val value = toTensor(operand);
  if (value.type.pointer)
    fail("a pointer has no sign");
  if (op == UnaryOperator::UAdd)
    return value;
  if (op == UnaryOperator::USub) {
    Val zero = splat(constantOf(0, 0, value.type.element), value.type.shape);
    return value.type.isFloating() ? elementwise<arith::SubFOp>(zero, value)
                                   : elementwise<arith::SubIOp>(zero, value);
  }
  if (!value.type.isInt())
    fail("~ is for integers, got " + toString(value.type));
  return elementwise<arith::XOrIOp>(value,
                                    splat(constantOf(0, -1, value.type.element), value.type.shape));
}

Val Emitter::where(const Val &condition, const Val &x, const Val &y) {
  Val flag = truthOf(condition), a = x, b = y;
  bool pointerA = a.isTensor() && a.type.pointer, pointerB = b.isTensor() && b.type.pointer;
  if (pointerA && pointerB && a.type.scalar() == b.type.scalar())
    broadcast(a, b);
  else
    promote(a, b, false, "where");
  broadcast(flag, a);
  broadcast(a, b);
  return Val::tensor(arith::SelectOp::create(builder, loc(), flag.value, a.value, b.value), a.type);
}

Val Emitter::minimumOrMaximum(const Val &left, const Val &right, bool maximum, bool propagateNan) {
  // Numbers take part as values of their own type here, and bf16 is compared, and stays, in
  // float32.
  Val a = toTensor(left), b = toTensor(right);
  for (Val *v : {&a, &b})
    if (v->type.isFloating() && v->type.element == DataType::BFloat16)
      *v = cast(*v, DataType::Float32);
  promote(a, b, false, maximum ? "maximum" : "minimum");
  if (a.type.isFloating()) {
    if (propagateNan)
      return maximum ? elementwise<arith::MaximumFOp>(a, b) : elementwise<arith::MinimumFOp>(a, b);
    return maximum ? elementwise<arith::MaxNumFOp>(a, b) : elementwise<arith::MinNumFOp>(a, b);
  }
  if (isSignedInt(a.type.element))
    return maximum ? elementwise<arith::MaxSIOp>(a, b) : elementwise<arith::MinSIOp>(a, b);
  return maximum ? elementwise<arith::MaxUIOp>(a, b) : elementwise<arith::MinUIOp>(a, b);
}

} // namespace pellucid::frontend
