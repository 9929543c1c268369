// SPDX-License-Identifier: Apache-2.0
/// Floats that depend on dynamic dimensions.
#include "host/InterpreterState.h"

#include <cmath>

namespace pellucid::host {

bool isSymbolicNumber(const Value &value) { return value.isSymInt() || value.as<SymFloat>(); }

SymQuotient::SymQuotient(const symbolic::Expr &n, const symbolic::Expr &d)
    : SymFloat(BinaryOp::Div, Value::integer(n), Value::integer(d)), numerator(n), denominator(d) {}

static constexpr std::string_view symbols[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                               "<<", ">>", "|", "^", "&", "//"};

std::string SymFloat::repr() const {
  if (auto *op = std::get_if<BinaryOp>(&operation))
    return "(" + host::repr(operands[0]) + ") " + std::string(symbols[size_t(*op)]) + " (" +
           host::repr(operands[1]) + ")";
  if (auto *function = std::get_if<std::string>(&operation))
    return *function + "(" + host::repr(operands[0]) + ")";
  return host::repr(operands[0]);
}

/// Of a float's mantissa, so that whatever sizes there are the product is exact.
static constexpr int64_t mostExact = 1 << 20;

static std::optional<SizeQuotient> exactNumber(const Value &number) {
  if (number.isSymInt())
    return SizeQuotient{number.symInt(), 1};
  if (number.isBool() ||
      (number.isInt() && number.integer() <= mostExact && -number.integer() <= mostExact))
    return SizeQuotient{
        static_cast<int64_t>(number.isBool() ? Int(number.boolean()) : number.integer()), 1};
  if (!number.isFloat() || !std::isfinite(number.real()))
    return std::nullopt;
  for (int64_t scale = 1; scale <= mostExact; scale *= 2)
    if (double whole = number.real() * static_cast<double>(scale); std::floor(whole) == whole)
      return std::abs(whole) <= mostExact
                 ? std::optional(SizeQuotient{static_cast<int64_t>(whole), scale})
                 : std::nullopt;
  return std::nullopt;
}

/// Sums, differences and products of quotients by powers of two, which floats hold exactly.
static std::optional<SizeQuotient> exactResult(const SymFloat &number) {
  auto part = [&](size_t i) -> std::optional<SizeQuotient> {
    auto *inner = number.operands[i].as<SymFloat>();
    return inner ? exactResult(*inner) : exactNumber(number.operands[i]);
  };
  std::optional<SizeQuotient> a = part(0);
  auto *op = std::get_if<BinaryOp>(&number.operation);
  auto *function = std::get_if<std::string>(&number.operation);
  if (!a || (function && *function != "neg"))
    return std::nullopt;
  if (function)
    return SizeQuotient{-a->numerator, a->denominator};
  if (!op)
    return a;
  std::optional<SizeQuotient> b = part(1);
  if (!b || a->denominator.constantOr(mostExact) * b->denominator.constantOr(mostExact) > mostExact)
    return std::nullopt;
  symbolic::Expr common = a->denominator * b->denominator;
  switch (*op) {
  case BinaryOp::Add:
    return SizeQuotient{a->numerator * b->denominator + b->numerator * a->denominator, common};
  case BinaryOp::Sub:
    return SizeQuotient{a->numerator * b->denominator - b->numerator * a->denominator, common};
  case BinaryOp::Mul:
    return SizeQuotient{a->numerator * b->numerator, common};
  case BinaryOp::Div: {
    std::optional<int64_t> by = b->numerator.constant();
    if (!by || *by <= 0 || (*by & (*by - 1)) != 0)
      return std::nullopt;
    return SizeQuotient{a->numerator * b->denominator, a->denominator * *by};
  }
  default:
    return std::nullopt;
  }
}

std::optional<SizeQuotient> quotientOf(const Value &number) {
  if (auto *quotient = number.as<SymQuotient>()) {
    bool negative = quotient->denominator.constantOr(1) < 0;
    return negative ? SizeQuotient{-quotient->numerator, -quotient->denominator}
                    : SizeQuotient{quotient->numerator, quotient->denominator};
  }
  auto *inner = number.as<SymFloat>();
  return inner && !inner->isWhole() ? exactResult(*inner) : std::nullopt;
}

void SymFloat::refuse(Interpreter &interpreter, std::string_view action) const {
  interpreter.refuse("'" + repr() + "' is " + description() + " and cannot be " +
                     std::string(action) + "; " + advice());
}

// What an expression is made of says what it depends on.
static const SymFloat *tensorsNumber(const SymFloat &number) {
  for (const Value &operand : number.operands) {
    auto *inner = operand.as<SymFloat>();
    if (const SymFloat *found = inner ? tensorsNumber(*inner) : nullptr)
      return found;
    if (operand.isObject() && !inner)
      return &number;
  }
  return nullptr;
}

std::string SymFloat::description() const {
  const SymFloat *source = tensorsNumber(*this);
  return source && source != this ? source->description()
                                  : "a float that depends on a dynamic dimension";
}

std::string SymFloat::advice() const {
  const SymFloat *source = tensorsNumber(*this);
  return source && source != this ? source->advice()
                                  : "compare the sizes themselves, or make that dimension static";
}

std::optional<Value> SymFloat::binaryOp(Interpreter &, BinaryOp op, const Value &given,
                                        bool reflected) {
  Value other = unwrapConstexpr(given);
  bool isNumber = other.isInt() || other.isFloat() || other.isBool() || isSymbolicNumber(other);
  bool isArithmetic = op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul ||
                      op == BinaryOp::Div || op == BinaryOp::Pow;
  if (!isNumber || !isArithmetic)
    return std::nullopt;
  Value self(shared_from_this());
  return Value(reflected ? std::make_shared<SymFloat>(op, other, self)
                         : std::make_shared<SymFloat>(op, self, other));
}

std::optional<Value> SymFloat::unaryOp(Interpreter &, UnaryOp op) {
  Value self(shared_from_this());
  if (op == UnaryOp::Plus)
    return self;
  if (op == UnaryOp::Minus)
    return Value(std::make_shared<SymFloat>("neg", self));
  return std::nullopt;
}

std::optional<Value> SymFloat::compare(Interpreter &interpreter, CompareOp op, const Value &other,
                                       bool) {
  bool isNumber = other.isInt() || other.isFloat() || other.isBool() || isSymbolicNumber(other);
  if (isNumber)
    refuse(interpreter, "compared");
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  return equality && !other.isObject() ? std::optional(Value(op == CompareOp::Ne)) : std::nullopt;
}

bool SymFloat::truth(Interpreter &interpreter) { refuse(interpreter, "branched on"); }

bool SymFloat::equals(const Object &other) const {
  auto *number = dynamic_cast<const SymFloat *>(&other);
  return number && number->repr() == repr();
}

} // namespace pellucid::host
