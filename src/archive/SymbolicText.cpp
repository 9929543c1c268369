// SPDX-License-Identifier: Apache-2.0
#include "archive/SymbolicText.h"

#include "symbolic/DecimalScale.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

namespace pellucid::archive {

using symbolic::Expr;

namespace {

/// A quotient: sympy holds halves inside of floor() and products with inverses.
struct Quotient {
  Expr over = 0, under = 1;
};

/// Thrown inside of this file only.
struct NotRead {
  std::string what;
};

Expr whole(const Quotient &q) {
  if (q.under == Expr(1))
    return q.over;
  Expr quotient = floorDiv(q.over, q.under);
  // An exact division, such as that of Mul(Rational(1, 2), Mul(Integer(2), s)).
  if (quotient * q.under == q.over)
    return quotient;
  throw NotRead{"a fraction outside of floor()"};
}

Quotient sum(const Quotient &a, const Quotient &b) {
  if (a.under == b.under)
    return {a.over + b.over, a.under};
  return {a.over * b.under + b.over * a.under, a.under * b.under};
}

Quotient product(const Quotient &a, const Quotient &b) {
  return {a.over * b.over, a.under * b.under};
}

/// With a divisor that is no negative number.
Quotient divide(const Quotient &a, const Quotient &b) {
  Quotient result = product(a, {b.under, b.over});
  auto under = result.under.constant();
  return under && *under < 0 ? Quotient{-result.over, -result.under} : result;
}

/// Towards zero.
Quotient truncate(const Quotient &a) {
  Expr down = floorDiv(a.over, a.under);
  auto under = a.under.constant();
  if (!under || *under <= 0)
    throw NotRead{"a fraction of unknown sign that is cut off"};
  return {*under == 1
              ? down
              : symbolic::select(symbolic::lessEqual(0, a.over), down, ceilDiv(a.over, a.under)),
          1};
}

Quotient power(const Quotient &base, const Quotient &exponent) {
  constexpr int64_t largest = 64;
  auto times = exponent.under == Expr(1) ? exponent.over.constant() : std::nullopt;
  if (!times || *times < -largest || *times > largest)
    throw NotRead{"a power whose exponent is not a small number"};
  Quotient result{1, 1};
  Quotient factor = *times < 0 ? Quotient{base.under, base.over} : base;
  for (int64_t i = 0; i < (*times < 0 ? -*times : *times); ++i)
    result = product(result, factor);
  return result;
}

using Operands = std::vector<Quotient>;
using Rule = Quotient (*)(const Operands &);

template <Expr (*combine)(const Expr &, const Expr &)> Quotient foldWhole(const Operands &a) {
  Expr result = whole(a[0]);
  for (size_t i = 1; i < a.size(); ++i)
    result = combine(result, whole(a[i]));
  return {result, 1};
}
template <Expr (*combine)(const Expr &, const Expr &)> Quotient compared(const Operands &a) {
  // Over a common positive denominator, or none.
  if (a[0].under == a[1].under)
    return {combine(a[0].over, a[1].over), 1};
  return {combine(whole(a[0]), whole(a[1])), 1};
}

struct Function {
  size_t fewest, most;
  Rule rule;
};

const std::map<std::string_view, Function> &functions() {
  constexpr size_t any = SIZE_MAX;
  static const Function same = {1, 1, [](const Operands &a) { return a[0]; }};
  static const Function floored = {
      1, 1, [](const Operands &a) { return Quotient{floorDiv(a[0].over, a[0].under), 1}; }};
  static const Function raised = {
      1, 1, [](const Operands &a) { return Quotient{ceilDiv(a[0].over, a[0].under), 1}; }};
  static const Function divided = {2, 2, [](const Operands &a) { return divide(a[0], a[1]); }};
  static const Function dividedDown = {
      2, 2, [](const Operands &a) {
        return Quotient{floorDiv(a[0].over * a[1].under, a[0].under * a[1].over), 1};
      }};
  static const Function remainder = {2, 2, foldWhole<symbolic::mod>};
  static const Function powers = {2, 2, [](const Operands &a) { return power(a[0], a[1]); }};
  static const std::map<std::string_view, Function> table = {
      {"Add",
       {1, any,
        [](const Operands &a) {
          Quotient total{0, 1};
          for (const Quotient &q : a)
            total = sum(total, q);
          return total;
        }}},
      {"Mul",
       {1, any,
        [](const Operands &a) {
          Quotient total{1, 1};
          for (const Quotient &q : a)
            total = product(total, q);
          return total;
        }}},
      {"Rational", divided},
      {"Pow", powers},
      {"PowByNatural", powers},
      {"FloorDiv", dividedDown},
      {"CleanDiv", dividedDown},
      {"CeilDiv",
       {2, 2,
        [](const Operands &a) {
          return Quotient{ceilDiv(a[0].over * a[1].under, a[0].under * a[1].over), 1};
        }}},
      {"IntTrueDiv", divided},
      {"FloatTrueDiv", divided},
      {"Mod", remainder},
      {"PythonMod", remainder},
      {"ModularIndexing",
       {3, 3,
        [](const Operands &a) {
          return Quotient{mod(floorDiv(whole(a[0]), whole(a[1])), whole(a[2])), 1};
        }}},
      {"floor", floored},
      {"FloorToInt", floored},
      {"ceiling", raised},
      {"CeilToInt", raised},
      {"TruncToInt", {1, 1, [](const Operands &a) { return truncate(a[0]); }}},
      {"ToFloat", same},
      {"Identity", same},
      {"Max", {1, any, foldWhole<symbolic::max>}},
      {"Min", {1, any, foldWhole<symbolic::min>}},
      {"Abs",
       {1, 1,
        [](const Operands &a) {
          Expr value = whole(a[0]);
          return Quotient{max(value, -value), 1};
        }}},
      {"Equality", {2, 2, compared<symbolic::equal>}},
      {"Eq", {2, 2, compared<symbolic::equal>}},
      {"Unequality", {2, 2, compared<symbolic::notEqual>}},
      {"Ne", {2, 2, compared<symbolic::notEqual>}},
      {"StrictLessThan", {2, 2, compared<symbolic::less>}},
      {"Lt", {2, 2, compared<symbolic::less>}},
      {"LessThan", {2, 2, compared<symbolic::lessEqual>}},
      {"Le", {2, 2, compared<symbolic::lessEqual>}},
      {"StrictGreaterThan",
       {2, 2, [](const Operands &a) { return compared<symbolic::less>({a[1], a[0]}); }}},
      {"GreaterThan",
       {2, 2, [](const Operands &a) { return compared<symbolic::lessEqual>({a[1], a[0]}); }}},
      {"And", {1, any, foldWhole<symbolic::logicalAnd>}},
      {"Or", {1, any, foldWhole<symbolic::logicalOr>}},
      {"Not",
       {1, 1, [](const Operands &a) { return Quotient{symbolic::logicalNot(whole(a[0])), 1}; }}},
      {"Where",
       {3, 3,
        [](const Operands &a) {
          return Quotient{symbolic::select(whole(a[0]), whole(a[1]), whole(a[2])), 1};
        }}},
  };
  return table;
}

class Reader {
public:
  explicit Reader(std::string_view t) : text(t) {}

  Expr read() {
    Quotient result = expression(0);
    space();
    if (at != text.size())
      throw NotRead{"'" + std::string(text.substr(at)) + "'"};
    return whole(result);
  }

private:
  void space() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool accept(char c) {
    space();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      throw NotRead{"'" + std::string(text.substr(at)) + "' where '" + c + "' is expected"};
  }
  static bool isNamePart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  std::string_view name() {
    space();
    size_t start = at;
    while (at < text.size() && isNamePart(text[at]))
      ++at;
    return text.substr(start, at - start);
  }

  Expr integer() {
    space();
    int64_t value = 0;
    auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (problem != std::errc())
      throw NotRead{"'" + std::string(text.substr(at)) + "' where a 64-bit number is expected"};
    at = static_cast<size_t>(end - text.data());
    return value;
  }

  Quotient expression(unsigned depth) {
    constexpr unsigned deepest = 200;
    if (depth > deepest)
      throw NotRead{"an expression that is nested more than 200 deep"};
    space();
    if (at < text.size() && (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')))
      return {integer(), 1};
    std::string_view called = name();
    if (called.empty())
      throw NotRead{"'" + std::string(text.substr(at)) + "'"};
    if (called == "true" || called == "false")
      return {called == "true" ? 1 : 0, 1};
    space();
    // A bare name, as in range constraints.
    if (at >= text.size() || text[at] != '(')
      return {Expr::symbol(called), 1};
    ++at;
    if (called == "Symbol")
      return symbol();
    if (called == "Integer") {
      Expr value = integer();
      expect(')');
      return {value, 1};
    }
    if (called == "Float")
      return real();
    if (called == "Piecewise")
      return piecewise(depth);
    auto known = functions().find(called);
    if (known == functions().end())
      throw NotRead{"'" + std::string(called) + "(…)'"};
    std::vector<Quotient> operands = operandsOf(depth);
    const Function &function = known->second;
    if (operands.size() < function.fewest || operands.size() > function.most)
      throw NotRead{"'" + std::string(called) + "' with " + std::to_string(operands.size()) +
                    " operands"};
    return function.rule(operands);
  }

  /// Up to the parenthesis that closes the call.
  std::vector<Quotient> operandsOf(unsigned depth) {
    std::vector<Quotient> operands;
    while (!accept(')')) {
      operands.push_back(expression(depth + 1));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return operands;
  }

  /// The rest of `Piecewise(ExprCondPair(a, condition), …, ExprCondPair(b, true))`: the first whose
  /// condition holds.
  Quotient piecewise(unsigned depth) {
    std::vector<std::vector<Quotient>> pairs;
    do {
      if (name() != "ExprCondPair")
        throw NotRead{"a piece that is not a pair"};
      expect('(');
      pairs.push_back(operandsOf(depth + 1));
      if (pairs.back().size() != 2)
        throw NotRead{"a pair of " + std::to_string(pairs.back().size()) + " parts"};
    } while (accept(','));
    expect(')');
    if (whole(pairs.back()[1]) != Expr(1))
      throw NotRead{"a choice whose last condition may not hold"};
    Expr chosen = whole(pairs.back()[0]);
    for (size_t i = pairs.size() - 1; i-- > 0;)
      chosen = symbolic::select(whole(pairs[i][1]), whole(pairs[i][0]), chosen);
    return {chosen, 1};
  }

  /// The rest of `Float('-1.5', precision=53)`.
  Quotient real() {
    space();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      throw NotRead{"a number without quotes"};
    char quote = text[at++];
    double value = 0;
    auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (problem != std::errc())
      throw NotRead{"'" + std::string(text.substr(at)) + "' where a number is expected"};
    at = static_cast<size_t>(end - text.data());
    expect(quote);
    if (accept(',')) {
      name();
      expect('=');
      name();
    }
    expect(')');
    constexpr double largest = 9007199254740992.0;
    double given = value;
    int64_t under = 1;
    while (value != std::trunc(value) && under < (1 << 20)) {
      value *= 2;
      under *= 2;
    }
    if (value != std::trunc(value))
      if (auto scale = symbolic::decimalScale(given))
        return {scale->first, scale->second};
    if (!(std::abs(value) <= largest) || value != std::trunc(value))
      throw NotRead{"a number that is not near enough to a fraction of small numbers"};
    return {static_cast<int64_t>(value), under};
  }

  /// The rest of `Symbol('s27', positive=True, integer=True)`.
  Quotient symbol() {
    space();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      throw NotRead{"a symbol without a name"};
    char quote = text[at++];
    std::string_view symbolName = name();
    expect(quote);
    bool isWord = !symbolName.empty() && !(symbolName[0] >= '0' && symbolName[0] <= '9');
    if (!isWord)
      throw NotRead{"the symbol '" + std::string(symbolName) + "'"};
    while (accept(',')) {
      name(); // an assumption of sympy's: what is assumed follows from the range
      expect('=');
      name();
    }
    expect(')');
    return {Expr::symbol(symbolName), 1};
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

std::optional<Expr> parseSymbolic(std::string_view text, std::string &error) {
  try {
    return Reader(text).read();
  } catch (const NotRead &problem) {
    error =
        problem.what + " in the expression '" + std::string(text.substr(0, 200)) + "' is not read";
  } catch (const std::overflow_error &) {
    error = "the expression '" + std::string(text.substr(0, 200)) + "' goes beyond 64 bits";
  }
  return std::nullopt;
}

/// PyTorch's functions are of two operands, sums and products of any number.
static std::string callText(const char *function, const std::vector<std::string> &operands,
                            bool takesMany) {
  std::string text = operands[0];
  if (!takesMany) {
    for (size_t i = 1; i < operands.size(); ++i)
      text = std::string(function) + "(" + text + ", " + operands[i] + ")";
    return text;
  }
  for (size_t i = 1; i < operands.size(); ++i)
    text += ", " + operands[i];
  return std::string(function) + "(" + text + ")";
}

namespace {

/// A size, or a condition, in sympy's words. Both throw NotRead for what it has none for.
std::string sizeText(const Expr &expr);
std::string conditionText(const Expr &expr);

std::vector<std::string> texts(const Expr &expr, std::string (*text)(const Expr &)) {
  std::vector<std::string> operands;
  for (const Expr &operand : expr.operands())
    operands.push_back(text(operand));
  return operands;
}

/// As torch.sym_ite.
std::string choiceText(const Expr &condition, const Expr &a, const Expr &b) {
  return "Piecewise(ExprCondPair(" + sizeText(a) + ", " + conditionText(condition) +
         "), ExprCondPair(" + sizeText(b) + ", true))";
}

bool isCondition(const Expr &expr) {
  using symbolic::ExprOp;
  switch (expr.op()) {
  case ExprOp::Eq:
  case ExprOp::Ne:
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Not:
    return true;
  default:
    return false;
  }
}

/// u0, u1, …, which values decide, may be anything.
bool isUnbacked(const std::string &symbol) { return symbol[0] == 'u'; }

std::string sizeText(const Expr &expr) {
  using symbolic::ExprOp;
  if (auto value = expr.constant())
    return "Integer(" + std::to_string(*value) + ")";
  if (expr.op() == ExprOp::Symbol)
    return "Symbol('" + expr.symbolName() +
           (isUnbacked(expr.symbolName()) ? "', integer=True)" : "', positive=True, integer=True)");
  if (isCondition(expr))
    return choiceText(expr, 1, 0);
  if (expr.op() == ExprOp::Select)
    return choiceText(expr.operands()[0], expr.operands()[1], expr.operands()[2]);
  std::vector<std::string> operands = texts(expr, sizeText);
  switch (expr.op()) {
  case ExprOp::Add:
    return callText("Add", operands, true);
  case ExprOp::Mul:
    return callText("Mul", operands, true);
  case ExprOp::FloorDiv:
    return callText("FloorDiv", operands, false);
  case ExprOp::Mod:
    return callText("PythonMod", operands, false);
  case ExprOp::CeilDiv: // -(-a // b)
    return "Mul(Integer(-1), FloorDiv(Mul(Integer(-1), " + operands[0] + "), " + operands[1] + "))";
  case ExprOp::Min:
    return callText("Min", operands, false);
  case ExprOp::Max:
    return callText("Max", operands, false);
  default:
    throw NotRead{"a number"};
  }
}

std::string conditionText(const Expr &expr) {
  using symbolic::ExprOp;
  if (auto value = expr.constant())
    return *value ? "true" : "false";
  auto compared = [&](const char *function) {
    return callText(function, texts(expr, sizeText), true);
  };
  switch (expr.op()) {
  case ExprOp::Eq:
    return compared("Equality");
  case ExprOp::Ne:
    return compared("Unequality");
  case ExprOp::Lt:
    return compared("StrictLessThan");
  case ExprOp::Le:
    return compared("LessThan");
  case ExprOp::And:
    return callText("And", texts(expr, conditionText), true);
  case ExprOp::Or:
    return callText("Or", texts(expr, conditionText), true);
  case ExprOp::Not:
    return "Not(" + conditionText(expr.operands()[0]) + ")";
  default:
    return "Unequality(" + sizeText(expr) + ", Integer(0))";
  }
}

std::optional<std::string> written(std::string (*text)(const Expr &), const Expr &expr) {
  try {
    return text(expr);
  } catch (const NotRead &) {
    return std::nullopt;
  }
}

} // namespace

std::optional<std::string> printSymbolic(const Expr &expr) { return written(sizeText, expr); }
std::optional<std::string> printSymbolicCondition(const Expr &expr) {
  return written(conditionText, expr);
}

} // namespace pellucid::archive
