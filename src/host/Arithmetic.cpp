// SPDX-License-Identifier: Apache-2.0
/// Operators on values: numbers, dynamic sizes, sequences, objects.
#include "host/InterpreterState.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pellucid::host {

static constexpr std::string_view symbols[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                               "<<", ">>", "|", "^", "&", "//"};
static constexpr std::string_view comparisons[] = {"==", "!=", "<", "<=", ">", ">="};

static bool isNumber(const Value &v) { return v.isBool() || v.isInt() || v.isFloat(); }
static bool isWhole(const Value &v) { return v.isBool() || v.isInt(); }
static bool isSize(const Value &v) { return isWhole(v) || v.isSymInt(); }
static Int wholeOf(const Value &v) { return v.isBool() ? Int(v.boolean()) : v.integer(); }
static double realOf(const Value &v) {
  return v.isFloat() ? v.real() : static_cast<double>(wholeOf(v));
}

// ---- integers
// ------------------------------------------------------------------------------------------------------

[[noreturn]] static void overflow(Interpreter &interpreter, BinaryOp op) {
  interpreter.raise("OverflowError",
                    "the result of '" + std::string(symbols[size_t(op)]) +
                        "' does not fit 127 bits; integers here are not unlimited");
}

static Int floorDivide(Int a, Int b) {
  Int q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

/// With the sign of b. a - a // b * b would not do: 5 // -2**127 * -2**127 does not fit.
static Int floorRemainder(Int a, Int b) {
  Int r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static Value power(Interpreter &interpreter, Int base, Int exponent) {
  if (exponent < 0) {
    if (base == 0)
      interpreter.raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  Int result = 1;
  bool trivial = base == 0 || base == 1 || base == -1;
  if (!trivial && exponent > 127)
    overflow(interpreter, BinaryOp::Pow);
  if (trivial)
    return Value(base == 1 || exponent == 0 ? Int(1)
                 : base == 0                ? Int(0)
                 : exponent % 2             ? Int(-1)
                                            : Int(1));
  for (Int i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result))
      overflow(interpreter, BinaryOp::Pow);
  return Value(result);
}

static Value shift(Interpreter &interpreter, BinaryOp op, Int a, Int by) {
  if (by < 0)
    interpreter.raise("ValueError", "negative shift count");
  if (op == BinaryOp::RShift)
    return Value(by > 126 ? Int(a < 0 ? -1 : 0) : a >> static_cast<int>(by));
  Int result = 0;
  if (a != 0 && (by > 126 || __builtin_mul_overflow(
                                 a, Int(1) << static_cast<int>(std::min<Int>(by, 126)), &result)))
    overflow(interpreter, op);
  return Value(result);
}

static Value integerOp(Interpreter &interpreter, BinaryOp op, Int a, Int b) {
  Int r = 0;
  switch (op) {
  case BinaryOp::Add:
    if (__builtin_add_overflow(a, b, &r))
      overflow(interpreter, op);
    return Value(r);
  case BinaryOp::Sub:
    if (__builtin_sub_overflow(a, b, &r))
      overflow(interpreter, op);
    return Value(r);
  case BinaryOp::Mul:
    if (__builtin_mul_overflow(a, b, &r))
      overflow(interpreter, op);
    return Value(r);
  case BinaryOp::Div:
    if (b == 0)
      interpreter.raise("ZeroDivisionError", "division by zero");
    return Value(static_cast<double>(a) / static_cast<double>(b));
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
    if (b == 0)
      interpreter.raise("ZeroDivisionError", op == BinaryOp::Mod
                                                 ? "integer modulo by zero"
                                                 : "integer division or modulo by zero");
    if (b == -1 && __builtin_sub_overflow(Int(0), a, &r)) // the one quotient that does not fit
      overflow(interpreter, op);
    return Value(op == BinaryOp::FloorDiv ? floorDivide(a, b) : floorRemainder(a, b));
  case BinaryOp::Pow:
    return power(interpreter, a, b);
  case BinaryOp::LShift:
  case BinaryOp::RShift:
    return shift(interpreter, op, a, b);
  case BinaryOp::BitOr:
    return Value(a | b);
  case BinaryOp::BitXor:
    return Value(a ^ b);
  case BinaryOp::BitAnd:
    return Value(a & b);
  case BinaryOp::MatMul:
    break;
  }
  return Value();
}

// ---- floats
// --------------------------------------------------------------------------------------------------------

static double pythonMod(double a, double b) {
  double m = std::fmod(a, b);
  if (m != 0 && (m < 0) != (b < 0))
    return m + b;
  return m == 0 ? std::copysign(0.0, b) : m;
}

/// As CPython has it: a quotient of zero keeps the sign of a / b.
static double pythonFloorDiv(double a, double b) {
  double rest = std::fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

static std::optional<Value> floatOp(Interpreter &interpreter, BinaryOp op, double a, double b) {
  switch (op) {
  case BinaryOp::Add:
    return Value(a + b);
  case BinaryOp::Sub:
    return Value(a - b);
  case BinaryOp::Mul:
    return Value(a * b);
  case BinaryOp::Div:
    if (b == 0)
      interpreter.raise("ZeroDivisionError", "float division by zero");
    return Value(a / b);
  case BinaryOp::FloorDiv:
    if (b == 0)
      interpreter.raise("ZeroDivisionError", "float floor division by zero");
    return Value(pythonFloorDiv(a, b));
  case BinaryOp::Mod:
    if (b == 0)
      interpreter.raise("ZeroDivisionError", "float modulo");
    return Value(pythonMod(a, b));
  case BinaryOp::Pow:
    if (a == 0 && b < 0)
      interpreter.raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    if (a < 0 && std::floor(b) != b && std::isfinite(b))
      interpreter.refuse("a negative number to a fractional power is complex, and complex numbers "
                         "are not supported");
    return Value(std::pow(a, b));
  default:
    return std::nullopt;
  }
}

// ---- dynamic sizes
// -------------------------------------------------------------------------------------------------

[[noreturn]] static void refuseSymbolic(Interpreter &interpreter, BinaryOp op, const Value &a,
                                        const Value &b) {
  interpreter.refuse("'" + std::string(symbols[size_t(op)]) + "' of " + repr(a) + " and " +
                     repr(b) +
                     " depends on a dynamic dimension; sizes take + - * // %, triton.cdiv, min, "
                     "max and comparisons");
}

static Value symbolicOp(Interpreter &interpreter, BinaryOp op, const Value &a, const Value &b) {
  symbolic::Expr x = interpreter.toExpr(a, "an operand"), y = interpreter.toExpr(b, "an operand");
  Budget::pay(x.size() + y.size());
  switch (op) {
  case BinaryOp::Add:
    return Value::integer(x + y);
  case BinaryOp::Sub:
    return Value::integer(x - y);
  case BinaryOp::Mul:
    return Value::integer(x * y);
  case BinaryOp::Div:
    if (y.constant() == 0)
      interpreter.raise("ZeroDivisionError", "division by zero");
    return Value(std::make_shared<SymQuotient>(x, y));
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
    if (y.constant() == 0)
      interpreter.raise("ZeroDivisionError", "integer division or modulo by zero");
    return Value::integer(op == BinaryOp::Mod ? mod(x, y) : floorDiv(x, y));
  case BinaryOp::Pow:
    if (auto n = y.constant(); n && *n >= 0 && *n <= 8) {
      symbolic::Expr product = 1;
      for (int64_t i = 0; i < *n; ++i)
        product = product * x;
      return Value::integer(product);
    }
    break;
  case BinaryOp::LShift:
    if (auto n = y.constant(); n && *n >= 0 && *n < 62)
      return Value::integer(x * symbolic::Expr(int64_t(1) << *n));
    break;
  case BinaryOp::RShift:
    if (auto n = y.constant(); n && *n >= 0 && *n < 62)
      return Value::integer(floorDiv(x, symbolic::Expr(int64_t(1) << *n)));
    break;
  default:
    break;
  }
  if (op == BinaryOp::Pow && y.constant() && *y.constant() < 0)
    return Value(std::make_shared<SymFloat>(op, a, b));
  refuseSymbolic(interpreter, op, a, b);
}

// ---- sequences and sets
// --------------------------------------------------------------------------------------------

/// Doubling in a loop must end before the memory does.
static constexpr size_t longestSequence = 10'000'000;

void checkLength(Interpreter &interpreter, size_t length) {
  if (length > longestSequence)
    interpreter.refuse("a sequence of " + std::to_string(length) +
                       " elements is too long for host code");
}

static std::vector<Value> concatenate(Interpreter &interpreter, const std::vector<Value> &a,
                                      const std::vector<Value> &b) {
  checkLength(interpreter, a.size() + b.size());
  std::vector<Value> out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

static std::optional<Value> repeat(Interpreter &interpreter, const Value &sequence,
                                   const Value &count) {
  int64_t n = std::max<int64_t>(0, interpreter.toInt64(count, "the repeat count"));
  size_t size = sequence.isStr() ? sequence.str().size() : sequence.elements().size();
  if (size && static_cast<uint64_t>(n) > longestSequence / size)
    interpreter.refuse("a sequence repeated " + std::to_string(n) + " times is too long");
  if (sequence.isStr()) {
    std::string out;
    for (int64_t i = 0; i < (size ? n : 0); ++i)
      out += sequence.str();
    return Value(std::move(out));
  }
  std::vector<Value> out;
  for (int64_t i = 0; i < (size ? n : 0); ++i)
    out.insert(out.end(), sequence.elements().begin(), sequence.elements().end());
  return sequence.isTuple() ? Value::tuple(std::move(out)) : Value::list(std::move(out));
}

static std::optional<Value> setOp(BinaryOp op, const Set &a, const Set &b) {
  Set out;
  auto keep = [&](const Set &from, auto &&condition) {
    for (const Value &v : from.elements())
      if (condition(v))
        out.insert(v);
  };
  switch (op) {
  case BinaryOp::BitOr:
    keep(a, [](const Value &) { return true; });
    keep(b, [](const Value &) { return true; });
    break;
  case BinaryOp::BitAnd:
    keep(a, [&](const Value &v) { return b.contains(v); });
    break;
  case BinaryOp::Sub:
    keep(a, [&](const Value &v) { return !b.contains(v); });
    break;
  case BinaryOp::BitXor:
    keep(a, [&](const Value &v) { return !b.contains(v); });
    keep(b, [&](const Value &v) { return !a.contains(v); });
    break;
  default:
    return std::nullopt;
  }
  return Value::set(std::move(out), a.frozen);
}

static std::optional<Value> sequenceOp(Interpreter &interpreter, BinaryOp op, const Value &a,
                                       const Value &b) {
  auto isSequence = [](const Value &v) { return v.isStr() || v.isSequence(); };
  if (op == BinaryOp::Add && a.kind() == b.kind()) {
    if (a.isStr())
      return checkLength(interpreter, a.str().size() + b.str().size()), Value(a.str() + b.str());
    if (a.isTuple())
      return a.isSizes() ? Value::sizes(concatenate(interpreter, a.tuple(), b.tuple()))
                         : Value::tuple(concatenate(interpreter, a.tuple(), b.tuple()));
    if (a.isList())
      return Value::list(concatenate(interpreter, a.list(), b.list()));
  }
  if (op == BinaryOp::Mul && isSequence(a) && isSize(b))
    return repeat(interpreter, a, b);
  if (op == BinaryOp::Mul && isSequence(b) && isSize(a))
    return repeat(interpreter, b, a);
  if (op == BinaryOp::Mod && a.isStr())
    return stringPercent(interpreter, a.str(), b);
  if (a.isSet() && b.isSet())
    return setOp(op, a.elementSet(), b.elementSet());
  if (op == BinaryOp::BitOr && a.isDict() && b.isDict()) {
    Dict out = a.dictionary();
    for (const auto &[key, value] : b.dictionary().items())
      out.set(key, value);
    return Value::dict(std::move(out));
  }
  return std::nullopt;
}

// ---- the operators
// -------------------------------------------------------------------------------------------------

static std::optional<Value> objectOp(Interpreter &interpreter, BinaryOp op, const Value &a,
                                     const Value &b) {
  if (a.isObject())
    if (auto r = a.object()->binaryOp(interpreter, op, b, false))
      return r;
  if (b.isObject())
    if (auto r = b.object()->binaryOp(interpreter, op, a, true))
      return r;
  return std::nullopt;
}

static Value computeBinary(Interpreter &interpreter, BinaryOp op, const Value &a, const Value &b) {
  if (isWhole(a) && isWhole(b) && op != BinaryOp::MatMul) {
    bool bits = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
    Value r = integerOp(interpreter, op, wholeOf(a), wholeOf(b));
    return bits && a.isBool() && b.isBool() ? Value(r.integer() != 0) : r;
  }
  if (isNumber(a) && isNumber(b))
    if (auto r = floatOp(interpreter, op, realOf(a), realOf(b)))
      return *r;
  if (isSize(a) && isSize(b) && op != BinaryOp::MatMul)
    return symbolicOp(interpreter, op, a, b);
  if ((a.isSymInt() && b.isFloat()) || (a.isFloat() && b.isSymInt())) {
    if (op == BinaryOp::Div && b.isFloat() && b.real() == 0)
      interpreter.raise("ZeroDivisionError", "float division by zero");
    bool first = a.isSymInt();
    if (auto r = std::make_shared<SymFloat>(first ? a : b)
                     ->binaryOp(interpreter, op, first ? b : a, !first))
      return *r;
    refuseSymbolic(interpreter, op, a, b);
  }
  if ((a.isSymBool() || a.isBool()) && (b.isSymBool() || b.isBool())) {
    auto conditionOf = [](const Value &v) {
      return v.isBool() ? symbolic::Expr(v.boolean()) : v.symBool();
    };
    if (op == BinaryOp::BitAnd)
      return Value::condition(logicalAnd(conditionOf(a), conditionOf(b)));
    if (op == BinaryOp::BitOr)
      return Value::condition(logicalOr(conditionOf(a), conditionOf(b)));
  }
  if (a.isObject() || b.isObject())
    if (auto r = objectOp(interpreter, op, a, b))
      return *r;
  if (auto r = sequenceOp(interpreter, op, a, b))
    return *r;
  if (op == BinaryOp::Add && (a.isStr() || a.isSequence()))
    interpreter.raise("TypeError", "can only concatenate " + typeName(a) + " (not \"" +
                                       typeName(b) + "\") to " + typeName(a));
  interpreter.raise("TypeError", "unsupported operand type(s) for " +
                                     std::string(symbols[size_t(op)]) + ": '" + typeName(a) +
                                     "' and '" + typeName(b) + "'");
}

Value Interpreter::binary(BinaryOp op, const Value &a, const Value &b) {
  try {
    return computeBinary(*this, op, a, b);
  } catch (const symbolic::ExpressionTooLarge &error) {
    refuse(error.what());
  } catch (const std::overflow_error &) {
    raise("OverflowError", "the size expression does not fit 64 bits");
  }
}

Value Interpreter::unary(UnaryOp op, const Value &a) {
  if (a.isObject())
    if (auto r = a.object()->unaryOp(*this, op))
      return *r;
  if (a.isFloat() && op != UnaryOp::Invert)
    return Value(op == UnaryOp::Minus ? -a.real() : a.real());
  if (isWhole(a)) {
    Int i = wholeOf(a), negated = 0;
    if (op != UnaryOp::Minus)
      return Value(op == UnaryOp::Invert ? ~i : i);
    if (__builtin_sub_overflow(Int(0), i, &negated))
      overflow(*this, BinaryOp::Sub);
    return Value(negated);
  }
  if (a.isSymInt() && op != UnaryOp::Invert)
    return op == UnaryOp::Minus ? Value::integer(-a.symInt()) : a;
  if (a.isSymInt())
    return Value::integer(-a.symInt() - symbolic::Expr(1));
  static constexpr const char *names[] = {"~", "unary +", "unary -"};
  raise("TypeError",
        std::string("bad operand type for ") + names[size_t(op)] + ": '" + typeName(a) + "'");
}

// ---- comparison
// ----------------------------------------------------------------------------------------------------

template <typename T> static bool holds(CompareOp op, const T &a, const T &b) {
  switch (op) {
  case CompareOp::Eq:
    return a == b;
  case CompareOp::Ne:
    return !(a == b);
  case CompareOp::Lt:
    return a < b;
  case CompareOp::Le:
    return a <= b;
  case CompareOp::Gt:
    return b < a;
  case CompareOp::Ge:
    return b <= a;
  }
  return false;
}

symbolic::Expr symbolicComparison(CompareOp op, const symbolic::Expr &a, const symbolic::Expr &b) {
  switch (op) {
  case CompareOp::Eq:
    return symbolic::equal(a, b);
  case CompareOp::Ne:
    return symbolic::notEqual(a, b);
  case CompareOp::Lt:
    return symbolic::less(a, b);
  case CompareOp::Le:
    return symbolic::lessEqual(a, b);
  case CompareOp::Gt:
    return symbolic::less(b, a);
  case CompareOp::Ge:
    return symbolic::lessEqual(b, a);
  }
  return 0;
}

CompareOp mirrored(CompareOp op) {
  static constexpr CompareOp table[] = {CompareOp::Eq, CompareOp::Ne, CompareOp::Gt,
                                        CompareOp::Ge, CompareOp::Lt, CompareOp::Le};
  return table[size_t(op)];
}

static Value compareElements(Interpreter &interpreter, CompareOp op, const std::vector<Value> &a,
                             const std::vector<Value> &b) {
  ValueLevel level;
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (equality && a.size() != b.size())
    return Value(op == CompareOp::Ne);
  // An __eq__ may change the lists that are being compared.
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    Value x = a[i], y = b[i];
    Budget::pay(1);
    if (x.isSame(y) || interpreter.equals(x, y))
      continue;
    return equality ? Value(op == CompareOp::Ne) : interpreter.compare(op, x, y);
  }
  return Value(holds(op, a.size(), b.size()));
}

static bool isSubset(const Set &a, const Set &b) {
  std::vector<Value> elements = a.elements();
  return std::all_of(elements.begin(), elements.end(),
                     [&](const Value &v) { return b.contains(v); });
}

static bool compareSets(CompareOp op, const Set &a, const Set &b) {
  switch (op) {
  case CompareOp::Lt:
    return a.size() < b.size() && isSubset(a, b);
  case CompareOp::Le:
    return isSubset(a, b);
  case CompareOp::Gt:
    return b.size() < a.size() && isSubset(b, a);
  case CompareOp::Ge:
    return isSubset(b, a);
  default:
    return (a.size() == b.size() && isSubset(a, b)) == (op == CompareOp::Eq);
  }
}

static bool equalDicts(Interpreter &interpreter, const Dict &a, const Dict &b) {
  if (a.size() != b.size())
    return false;
  ValueLevel level;
  for (size_t i = 0; i < a.size(); ++i) {
    auto [key, value] = a.items()[i];
    const Value *found = b.find(key);
    if (!found)
      return false;
    Value other = *found;
    if (!interpreter.equals(value, other))
      return false;
  }
  return true;
}

static std::optional<Value> compareContainers(Interpreter &interpreter, CompareOp op,
                                              const Value &a, const Value &b) {
  if (a.kind() != b.kind())
    return std::nullopt;
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  switch (a.kind()) {
  case Kind::Str:
    return Value(holds(op, a.str(), b.str()));
  case Kind::Tuple:
  case Kind::List:
    return compareElements(interpreter, op, a.elements(), b.elements());
  case Kind::Set:
    return Value(compareSets(op, a.elementSet(), b.elementSet()));
  case Kind::Dict:
    if (equality)
      return Value(equalDicts(interpreter, a.dictionary(), b.dictionary()) ==
                   (op == CompareOp::Eq));
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

Value Interpreter::compare(CompareOp op, const Value &a, const Value &b) {
  ActiveScope running(*this);
  if (isWhole(a) && isWhole(b))
    return Value(holds(op, wholeOf(a), wholeOf(b)));
  if (isNumber(a) && isNumber(b))
    return Value(holds(op, realOf(a), realOf(b)));
  if (isSize(a) && isSize(b))
    return Value::condition(
        symbolicComparison(op, toExpr(a, "an operand"), toExpr(b, "an operand")));
  if (a.isObject())
    if (auto r = a.object()->compare(*this, op, b, false))
      return *r;
  if (b.isObject())
    if (auto r = b.object()->compare(*this, mirrored(op), a, true))
      return *r;
  if (auto r = compareContainers(*this, op, a, b))
    return *r;
  if ((a.isSymInt() || b.isSymInt()) && (a.isFloat() || b.isFloat()))
    refuse("comparing " + host::repr(a) + " with " + host::repr(b) +
           " mixes a dynamic dimension and a float; compare with an integer");
  if (op == CompareOp::Eq || op == CompareOp::Ne)
    return Value(equal(a, b) == (op == CompareOp::Eq));
  raise("TypeError", "'" + std::string(comparisons[size_t(op)]) +
                         "' not supported between instances of '" + typeName(a) + "' and '" +
                         typeName(b) + "'");
}

bool Interpreter::truth(const Value &v) {
  switch (v.kind()) {
  case Kind::None:
    return false;
  case Kind::Bool:
    return v.boolean();
  case Kind::Int:
    return v.integer() != 0;
  case Kind::Float:
    return v.real() != 0;
  case Kind::Str:
    return !v.str().empty();
  case Kind::Tuple:
  case Kind::List:
    return !v.elements().empty();
  case Kind::Dict:
    return v.dictionary().size() != 0;
  case Kind::Set:
    return v.elementSet().size() != 0;
  case Kind::Range:
    return v.range().length() != 0;
  case Kind::SymInt:
    leaveMerge(*this, v);
    return hooks().decide(*this, symbolic::notEqual(v.symInt(), 0), location());
  case Kind::SymBool:
    leaveMerge(*this, v);
    return hooks().decide(*this, v.symBool(), location());
  case Kind::Object:
    return v.object()->truth(*this);
  default:
    return true;
  }
}

} // namespace pellucid::host
