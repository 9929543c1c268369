// SPDX-License-Identifier: Apache-2.0
#include "symbolic/ExprNode.h"

#include <cctype>

namespace pellucid::symbolic {

//===-- Printing ------------------------------------------------------------------------------===//

static void print(std::string &out, const Expr &e);

/// Symbols, constants that are not negative and calls stand alone; anything else gets parentheses.
static void printAtom(std::string &out, const Expr &e) {
  switch (e.op()) {
  case ExprOp::Constant:
    if (*e.constant() >= 0)
      return print(out, e);
    break;
  case ExprOp::Add:
  case ExprOp::Mul:
  case ExprOp::FloorDiv:
  case ExprOp::Lt:
  case ExprOp::Le:
    break;
  default:
    return print(out, e);
  }
  out += '(';
  print(out, e);
  out += ')';
}

static void printCall(std::string &out, std::string_view name, const std::vector<Expr> &operands) {
  out += name;
  out += '(';
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i)
      out += ", ";
    print(out, operands[i]);
  }
  out += ')';
}

/// `a*b*64`; the coefficient -1 is a sign.
static void printProduct(std::string &out, const Expr &e, bool negated) {
  if (e.op() != ExprOp::Mul) {
    if (std::optional<int64_t> c = e.constant(); c && negated)
      out += std::to_string(0 - static_cast<uint64_t>(*c));
    else
      printAtom(out, e);
    return;
  }
  const std::vector<Expr> &operands = e.operands();
  std::optional<int64_t> coefficient = operands[0].constant();
  for (size_t i = coefficient ? 1 : 0; i < operands.size(); ++i) {
    if (i > (coefficient ? 1u : 0u))
      out += '*';
    printAtom(out, operands[i]);
  }
  if (!coefficient)
    return;
  if (*coefficient == INT64_MIN) {
    out += "*" + std::to_string(INT64_MIN);
    return;
  }
  uint64_t magnitude = *coefficient < 0 ? 0 - static_cast<uint64_t>(*coefficient)
                                        : static_cast<uint64_t>(*coefficient);
  if (magnitude != 1)
    out += "*" + std::to_string(magnitude);
}

/// Printed with a sign of its own; of -2^63 nothing positive is left.
static bool isNegativeTerm(const Expr &e) {
  int64_t value = e.op() == ExprOp::Mul ? e.operands()[0].constantOr(1) : e.constantOr(0);
  return value < 0 && value != INT64_MIN;
}

static void printSum(std::string &out, const std::vector<Expr> &operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    bool negative = isNegativeTerm(operands[i]);
    if (i)
      out += negative ? " - " : " + ";
    else if (negative)
      out += '-';
    printProduct(out, operands[i], negative);
  }
}

static void printBinary(std::string &out, const Expr &e, std::string_view sign) {
  printAtom(out, e.operands()[0]);
  out += sign;
  printAtom(out, e.operands()[1]);
}

static void printComparison(std::string &out, const Expr &e, std::string_view sign) {
  for (int i = 0; i < 2; ++i) {
    const Expr &side = e.operands()[i];
    if (i)
      out += sign;
    if (side.op() == ExprOp::Lt || side.op() == ExprOp::Le)
      printAtom(out, side);
    else
      print(out, side);
  }
}

static void print(std::string &out, const Expr &e) {
  switch (e.op()) {
  case ExprOp::Constant:
    out += std::to_string(*e.constant());
    return;
  case ExprOp::Symbol:
    out += e.symbolName();
    return;
  case ExprOp::Add:
    return printSum(out, e.operands());
  case ExprOp::Mul:
    return printSum(out, {e});
  case ExprOp::FloorDiv:
    return printBinary(out, e, "//");
  case ExprOp::Lt:
    return printComparison(out, e, " < ");
  case ExprOp::Le:
    return printComparison(out, e, " <= ");
  case ExprOp::Mod:
    return printCall(out, "Mod", e.operands());
  case ExprOp::CeilDiv:
    return printCall(out, "CeilDiv", e.operands());
  case ExprOp::Min:
    return printCall(out, "Min", e.operands());
  case ExprOp::Max:
    return printCall(out, "Max", e.operands());
  case ExprOp::Eq:
    return printCall(out, "Eq", e.operands());
  case ExprOp::Ne:
    return printCall(out, "Ne", e.operands());
  case ExprOp::And:
    return printCall(out, "And", e.operands());
  case ExprOp::Or:
    return printCall(out, "Or", e.operands());
  case ExprOp::Not:
    return printCall(out, "Not", e.operands());
  case ExprOp::Select:
    return printCall(out, "Select", e.operands());
  case ExprOp::NextPowerOf2:
    return printCall(out, "NextPowerOf2", e.operands());
  }
}

std::string Expr::text() const {
  std::string out;
  print(out, *this);
  return out;
}

//===-- Parsing -------------------------------------------------------------------------------===//

namespace {
using Binary = Expr (*)(const Expr &, const Expr &);

struct Function {
  std::string_view name;
  Binary combine;
  bool variadic;
};

constexpr Function functions[] = {
    {"Mod", mod, false},       {"CeilDiv", ceilDiv, false}, {"Min", min, true},
    {"Max", max, true},        {"Eq", equal, false},        {"Ne", notEqual, false},
    {"And", logicalAnd, true}, {"Or", logicalOr, true},
};

/// Recursive descent; any failure empties `failed` upward through nullopt.
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::optional<Expr> parseAll() {
    std::optional<Expr> e = comparison();
    skipSpace();
    return e && at == text.size() ? e : std::nullopt;
  }

private:
  using Parsed = std::optional<Expr>;
  static constexpr int maxDepth = 200;

  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
      ++at;
  }

  bool accept(std::string_view token) {
    skipSpace();
    if (text.substr(at, token.size()) != token)
      return false;
    at += token.size();
    return true;
  }

  Parsed comparison() {
    struct Nesting {
      int &depth;
      explicit Nesting(int &d) : depth(d) { ++depth; }
      ~Nesting() { --depth; }
    } nesting(depth);
    if (depth > maxDepth)
      return std::nullopt;
    Parsed left = sum();
    if (!left)
      return left;
    for (auto [sign, combine] : {std::pair<std::string_view, Binary>{"<=", lessEqual},
                                 {"==", equal},
                                 {"!=", notEqual},
                                 {"<", less}})
      if (accept(sign)) {
        Parsed right = sum();
        return right ? Parsed(combine(*left, *right)) : right;
      }
    return left;
  }

  Parsed sum() {
    Parsed left = product();
    while (left) {
      bool minus = false;
      if (!accept("+") && !(minus = accept("-")))
        break;
      Parsed right = product();
      left = right ? Parsed(minus ? *left - *right : *left + *right) : right;
    }
    return left;
  }

  Parsed product() {
    Parsed left = unary();
    while (left) {
      Binary combine = nullptr;
      if (accept("//"))
        combine = floorDiv;
      else if (accept("*"))
        combine = [](const Expr &a, const Expr &b) { return a * b; };
      else if (accept("%"))
        combine = mod;
      else
        break;
      Parsed right = unary();
      left = right ? Parsed(combine(*left, *right)) : right;
    }
    return left;
  }

  Parsed unary() {
    if (!accept("-"))
      return primary();
    skipSpace();
    if (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
      return number(true);
    Parsed operand = primary();
    return operand ? Parsed(-*operand) : operand;
  }

  Parsed number(bool negative) {
    uint64_t magnitude = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
      if (__builtin_mul_overflow(magnitude, uint64_t(10), &magnitude) ||
          __builtin_add_overflow(magnitude, static_cast<uint64_t>(text[at] - '0'), &magnitude))
        return std::nullopt;
    if (magnitude > static_cast<uint64_t>(INT64_MAX) + negative)
      return std::nullopt;
    return Expr(static_cast<int64_t>(negative ? 0 - magnitude : magnitude));
  }

  Parsed primary() {
    if (accept("(")) {
      Parsed inner = comparison();
      return inner && accept(")") ? inner : std::nullopt;
    }
    if (at >= text.size())
      return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(text[at])))
      return number(false);
    size_t start = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                text[at] == '_' || text[at] == '.'))
      ++at;
    std::string_view name = text.substr(start, at - start);
    if (name.empty())
      return std::nullopt;
    return accept("(") ? call(name) : Expr::symbol(name);
  }

  Parsed call(std::string_view name) {
    std::vector<Expr> operands;
    do {
      Parsed operand = comparison();
      if (!operand)
        return operand;
      operands.push_back(*operand);
    } while (accept(","));
    if (!accept(")"))
      return std::nullopt;
    if (name == "Not" && operands.size() == 1)
      return logicalNot(operands[0]);
    if (name == "NextPowerOf2" && operands.size() == 1)
      return nextPowerOf2(operands[0]);
    if (name == "Select" && operands.size() == 3)
      return select(operands[0], operands[1], operands[2]);
    for (const Function &f : functions) {
      if (f.name != name || operands.size() < 2 || (operands.size() > 2 && !f.variadic))
        continue;
      Expr result = operands[0];
      for (size_t i = 1; i < operands.size(); ++i)
        result = f.combine(result, operands[i]);
      return result;
    }
    return std::nullopt;
  }

  std::string_view text;
  size_t at = 0;
  int depth = 0;
};
} // namespace

std::optional<Expr> parse(std::string_view text) {
  try {
    return Parser(text).parseAll();
  } catch (const std::overflow_error &) {
    return std::nullopt;
  }
}

} // namespace pellucid::symbolic
