// SPDX-License-Identifier: Apache-2.0
/// Floats that depend on dynamic dimensions.
#include "host/InterpreterState.h"
#include "symbolic/DecimalScale.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pellucid::host {

bool isSymbolicNumber(const Value &value) { return value.isSymInt() || value.as<SymFloat>(); }

SymQuotient::SymQuotient(const symbolic::Expr &n, const symbolic::Expr &d)
    : SymFloat(BinaryOp::Div, Value::integer(n), Value::integer(d)), numerator(n), denominator(d) {}

static constexpr std::string_view operatorSymbols[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                                       "<<", ">>", "|", "^", "&", "//"};

std::string SymFloat::repr() const {
  if (auto *op = std::get_if<BinaryOp>(&operation))
    return "(" + host::repr(operands[0]) + ") " + std::string(operatorSymbols[size_t(*op)]) + " (" +
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

/// A size by a decimal scale.
static std::optional<SizeQuotient> scaledSize(const SymFloat &number) {
  auto *op = std::get_if<BinaryOp>(&number.operation);
  if (!op || *op != BinaryOp::Mul)
    return std::nullopt;
  auto constant = [](const Value &operand) {
    auto *inner = operand.as<SymFloat>();
    bool wraps = inner && std::holds_alternative<std::monostate>(inner->operation);
    const Value &number = wraps ? inner->operands[0] : operand;
    return number.isFloat() ? symbolic::decimalScale(number.real()) : std::nullopt;
  };
  for (size_t i : {0, 1}) {
    auto *inner = number.operands[1 - i].as<SymFloat>();
    auto size = inner ? exactResult(*inner) : exactNumber(number.operands[1 - i]);
    if (auto scale = constant(number.operands[i]);
        scale && size && size->denominator.constant() == 1)
      return SizeQuotient{size->numerator * scale->first, scale->second};
  }
  return std::nullopt;
}

std::optional<SizeQuotient> quotientOf(const Value &number) {
  if (auto *quotient = number.as<SymQuotient>()) {
    bool negative = quotient->denominator.constantOr(1) < 0;
    return negative ? SizeQuotient{-quotient->numerator, -quotient->denominator}
                    : SizeQuotient{quotient->numerator, quotient->denominator};
  }
  auto *inner = number.as<SymFloat>();
  if (!inner || inner->isWhole())
    return std::nullopt;
  std::optional<SizeQuotient> exact = exactResult(*inner);
  return exact ? exact : scaledSize(*inner);
}

/// The fraction of small denominator that rounds to the number.
static std::optional<SizeQuotient> fractionOf(double number) {
  constexpr double most = 1e12;
  if (!std::isfinite(number) || std::abs(number) > most)
    return std::nullopt;
  double rest = number;
  int64_t n = 1, nBefore = 0, d = 0, dBefore = 1;
  constexpr int deepest = 24;
  for (int step = 0; step < deepest; ++step) {
    double whole = std::floor(rest);
    if (std::abs(whole) > most)
      return std::nullopt;
    nBefore = std::exchange(n, static_cast<int64_t>(whole) * n + nBefore);
    dBefore = std::exchange(d, static_cast<int64_t>(whole) * d + dBefore);
    if (d > mostExact || std::abs(static_cast<double>(n)) > most)
      return std::nullopt;
    if (static_cast<double>(n) / static_cast<double>(d) == number)
      return SizeQuotient{n, d};
    if (rest == whole)
      return std::nullopt;
    rest = 1 / (rest - whole);
  }
  return std::nullopt;
}

/// What sums, differences, products and quotients of sizes and constants are before rounding.
static std::optional<SizeQuotient> rationalOf(const Value &number) {
  if (number.isFloat())
    return fractionOf(number.real());
  auto *inner = number.as<SymFloat>();
  if (!inner)
    return exactNumber(number);
  if (auto *quotient = number.as<SymQuotient>())
    return SizeQuotient{quotient->numerator, quotient->denominator};
  if (inner->isWhole() || inner->operands.empty())
    return std::nullopt;
  std::optional<SizeQuotient> a = rationalOf(inner->operands[0]);
  if (!a || std::holds_alternative<std::monostate>(inner->operation))
    return a;
  if (auto *function = std::get_if<std::string>(&inner->operation))
    return *function == "neg" ? std::optional(SizeQuotient{-a->numerator, a->denominator})
                              : std::nullopt;
  std::optional<SizeQuotient> b = rationalOf(inner->operands[1]);
  if (!b)
    return std::nullopt;
  switch (std::get<BinaryOp>(inner->operation)) {
  case BinaryOp::Add:
    return SizeQuotient{a->numerator * b->denominator + b->numerator * a->denominator,
                        a->denominator * b->denominator};
  case BinaryOp::Sub:
    return SizeQuotient{a->numerator * b->denominator - b->numerator * a->denominator,
                        a->denominator * b->denominator};
  case BinaryOp::Mul:
    return SizeQuotient{a->numerator * b->numerator, a->denominator * b->denominator};
  case BinaryOp::Div:
    return SizeQuotient{a->numerator * b->denominator, a->denominator * b->numerator};
  default:
    return std::nullopt;
  }
}

/// The base of a square root of sizes.
static const Value *rootOf(const Value &number) {
  auto *inner = number.as<SymFloat>();
  auto *op = inner ? std::get_if<BinaryOp>(&inner->operation) : nullptr;
  bool isRoot = op && *op == BinaryOp::Pow && inner->operands[1].isFloat() &&
                inner->operands[1].real() == 0.5;
  return isRoot ? &inner->operands[0] : nullptr;
}

/// What is put together of sizes and numbers without a minus is never negative.
static bool isNeverNegative(const symbolic::Expr &expr) {
  using symbolic::ExprOp;
  if (expr.op() == ExprOp::Symbol)
    return true;
  if (auto constant = expr.constant())
    return *constant >= 0;
  bool keeps = expr.op() == ExprOp::Add || expr.op() == ExprOp::Mul;
  return keeps && std::all_of(expr.operands().begin(), expr.operands().end(), isNeverNegative);
}

/// `a op b` in sizes alone. Both sides are taken as they are before rounding: two fractions of
/// sizes below 2**25 that differ do so by more than a float64 rounds, and equal ones round to one
/// number.
static std::optional<symbolic::Expr> comparison(CompareOp op, const Value &a, const Value &b) {
  // A root beside a number that is not negative is what its square says.
  const Value *root = rootOf(a);
  std::optional<SizeQuotient> left = rationalOf(root ? *root : a), right = rationalOf(b);
  if (root && (!right || right->numerator.constantOr(-1) < 0))
    return std::nullopt;
  if (!left || !right)
    return std::nullopt;
  if (root)
    right =
        SizeQuotient{right->numerator * right->numerator, right->denominator * right->denominator};
  symbolic::Expr under = left->denominator * right->denominator;
  symbolic::Expr over = left->numerator * right->denominator,
                 other = right->numerator * left->denominator;
  using symbolic::less, symbolic::logicalAnd, symbolic::logicalOr;
  symbolic::Expr holds = logicalAnd(less(0, under), symbolicComparison(op, over, other));
  return isNeverNegative(under)
             ? holds
             : logicalOr(holds, logicalAnd(less(under, 0), symbolicComparison(op, other, over)));
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
  if (isNumber) {
    Value self(shared_from_this());
    std::optional<symbolic::Expr> holds = comparison(op, self, other);
    if (!holds && rootOf(other))
      holds = comparison(mirrored(op), other, self);
    if (holds)
      return Value::condition(*holds);
    refuse(interpreter, "compared");
  }
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  return equality && !other.isObject() ? std::optional(Value(op == CompareOp::Ne)) : std::nullopt;
}

bool SymFloat::truth(Interpreter &interpreter) { refuse(interpreter, "branched on"); }

bool SymFloat::equals(const Object &other) const {
  auto *number = dynamic_cast<const SymFloat *>(&other);
  return number && number->repr() == repr();
}

} // namespace pellucid::host
