// SPDX-License-Identifier: Apache-2.0
/// Floats that depend on dynamic dimensions.
#include "host/InterpreterState.h"

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
