// SPDX-License-Identifier: Apache-2.0
/// Facts about symbols, and what follows from them for expressions: intervals, divisors, proofs.
#include "symbolic/ExprNode.h"

#include <algorithm>
#include <numeric>

namespace pellucid::symbolic {

void SymbolTable::declare(const std::string &name, SymbolInfo info) {
  if (!infos.count(name))
    order.push_back(name);
  infos[name] = info;
}

const SymbolInfo *SymbolTable::find(std::string_view name) const {
  auto it = infos.find(name);
  return it == infos.end() ? nullptr : &it->second;
}

//===-- Intervals -----------------------------------------------------------------------------===//

using Wide = __int128;

/// Values are 64-bit, so a bound outside says no more than the last 64-bit value does.
static int64_t saturated(Wide v) {
  return v < INT64_MIN ? INT64_MIN : v > INT64_MAX ? INT64_MAX : static_cast<int64_t>(v);
}

static Range productOf(Range a, Range b) {
  Wide corners[] = {Wide(a.min) * b.min, Wide(a.min) * b.max, Wide(a.max) * b.min,
                    Wide(a.max) * b.max};
  auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {saturated(*low), saturated(*high)};
}

static Range joined(Range a, Range b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

/// Equal factors of a product vary together: a square is not negative.
static Range powerOf(Range base, unsigned exponent) {
  Range result{1, 1};
  for (unsigned i = 0; i < exponent; ++i)
    result = productOf(result, base);
  if (exponent % 2 == 0)
    result.min = std::max<int64_t>(result.min, 0);
  return result;
}

/// Of a//b for b with one sign.
static Range quotientOf(Range a, Range b) {
  Wide corners[4];
  int n = 0;
  for (int64_t x : {a.min, a.max})
    for (int64_t y : {b.min, b.max}) {
      Wide q = Wide(x) / y;
      corners[n++] = q - (Wide(x) % y != 0 && (x < 0) != (y < 0));
    }
  auto [low, high] = std::minmax_element(corners, corners + 4);
  return {saturated(*low), saturated(*high)};
}

static Range floorDivOf(Range a, Range b) {
  Range result{INT64_MAX, INT64_MIN};
  if (b.max >= 1)
    result = joined(result, quotientOf(a, {std::max<int64_t>(b.min, 1), b.max}));
  if (b.min <= -1)
    result = joined(result, quotientOf(a, {b.min, std::min<int64_t>(b.max, -1)}));
  // Only 0 is left to divide by: there is no value.
  return result.min > result.max ? Range{} : result;
}

static Range negated(Range a) { return {saturated(-Wide(a.max)), saturated(-Wide(a.min))}; }

static Range modOf(Range a, Range b) {
  Range result{INT64_MAX, INT64_MIN};
  if (b.max >= 1) {
    if (b.min >= 1 && a.min >= 0 && a.max < b.min)
      return a;
    result = joined(result, {0, a.min >= 0 ? std::min(a.max, b.max - 1) : b.max - 1});
  }
  if (b.min <= -1)
    result = joined(result, {b.min + 1, 0});
  return result.min > result.max ? Range{} : result;
}

static Range truth(std::optional<bool> decided) {
  return decided ? Range{*decided, *decided} : Range{0, 1};
}

Range SymbolTable::range(const Expr &e) const {
  const std::vector<Expr> &operands = e.operands();
  switch (e.op()) {
  case ExprOp::Constant:
    return {*e.constant(), *e.constant()};
  case ExprOp::Symbol: {
    const SymbolInfo *known = find(e.symbolName());
    return known ? known->range : Range{};
  }
  case ExprOp::Add: {
    // Saturation is not associative: the sum is taken wide.
    Wide low = 0, high = 0;
    for (const Expr &operand : operands) {
      Range r = range(operand);
      low += r.min;
      high += r.max;
    }
    return {saturated(low), saturated(high)};
  }
  case ExprOp::Mul: {
    Range result{1, 1};
    for (size_t i = 0; i < operands.size();) {
      size_t same = i + 1;
      while (same < operands.size() && operands[same] == operands[i])
        ++same;
      result = productOf(result, powerOf(range(operands[i]), static_cast<unsigned>(same - i)));
      i = same;
    }
    return result;
  }
  case ExprOp::FloorDiv:
    return floorDivOf(range(operands[0]), range(operands[1]));
  case ExprOp::CeilDiv:
    return negated(floorDivOf(negated(range(operands[0])), range(operands[1])));
  case ExprOp::Mod:
    return modOf(range(operands[0]), range(operands[1]));
  case ExprOp::Min:
  case ExprOp::Max: {
    Range result = range(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i) {
      Range r = range(operands[i]);
      result = e.op() == ExprOp::Min
                   ? Range{std::min(result.min, r.min), std::min(result.max, r.max)}
                   : Range{std::max(result.min, r.min), std::max(result.max, r.max)};
    }
    return result;
  }
  case ExprOp::Select: {
    Range condition = range(operands[0]);
    if (!condition.contains(0))
      return range(operands[1]);
    if (condition.min == 0 && condition.max == 0)
      return range(operands[2]);
    return joined(range(operands[1]), range(operands[2]));
  }
  case ExprOp::NextPowerOf2: {
    Range inner = range(operands[0]);
    return {powerOf2From(inner.min).value_or(int64_t(1) << 62),
            powerOf2From(inner.max).value_or(INT64_MAX)};
  }
  default:
    return truth(prove(e));
  }
}

//===-- Divisors ------------------------------------------------------------------------------===//

static uint64_t magnitude(int64_t v) {
  return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

/// A number that divides every value of `e`; 0 when `e` is always 0.
static uint64_t knownDivisor(const SymbolTable &table, const Expr &e) {
  const std::vector<Expr> &operands = e.operands();
  switch (e.op()) {
  case ExprOp::Constant:
    return magnitude(*e.constant());
  case ExprOp::Symbol: {
    const SymbolInfo *known = table.find(e.symbolName());
    if (!known)
      return 1;
    return known->range.min == known->range.max ? magnitude(known->range.min)
                                                : magnitude(known->divisor);
  }
  case ExprOp::Add:
  case ExprOp::Min:
  case ExprOp::Max: {
    uint64_t g = 0;
    for (const Expr &operand : operands)
      g = std::gcd(g, knownDivisor(table, operand));
    return g;
  }
  case ExprOp::Mul: {
    uint64_t product = 1;
    for (const Expr &operand : operands) {
      uint64_t d = knownDivisor(table, operand);
      if (d == 0)
        return 0;
      if (__builtin_mul_overflow(product, d, &product))
        return d;
    }
    return product;
  }
  case ExprOp::FloorDiv:
    if (std::optional<int64_t> c = operands[1].constant(); c && *c > 0)
      if (uint64_t d = knownDivisor(table, operands[0]); d % static_cast<uint64_t>(*c) == 0)
        return d / static_cast<uint64_t>(*c);
    return 1;
  case ExprOp::Mod:
    return std::gcd(knownDivisor(table, operands[0]), knownDivisor(table, operands[1]));
  case ExprOp::Select:
    return std::gcd(knownDivisor(table, operands[1]), knownDivisor(table, operands[2]));
  case ExprOp::NextPowerOf2:
    // The least of the powers divides the others, and 0 too.
    return magnitude(std::max<int64_t>(table.range(e).min, table.range(e).max != 0));
  default:
    return 1;
  }
}

bool SymbolTable::isMultipleOf(const Expr &expr, int64_t divisor) const {
  uint64_t d = magnitude(divisor);
  uint64_t known = knownDivisor(*this, expr);
  return d == 0 ? known == 0 : known % d == 0;
}

//===-- Proofs --------------------------------------------------------------------------------===//

namespace {
/// Rewrites symbols by what is known of them: one value -> that constant; a multiple of d -> d
/// times a new symbol. After that the canonical form sees exact divisions.
struct Refinement {
  SymbolTable table;
  std::map<std::string, Expr> replacements;

  Refinement(const SymbolTable &known, const Expr &expr) : table(known) {
    for (const std::string &name : expr.symbols()) {
      const SymbolInfo *info = known.find(name);
      if (!info)
        continue;
      if (info->range.min == info->range.max)
        replacements.emplace(name, Expr(info->range.min));
      else if (info->divisor > 1)
        addMultiple(name, *info);
    }
  }

  void addMultiple(const std::string &name, const SymbolInfo &info) {
    // No identifier has a slash, so the new name is free.
    std::string unit = name + "/" + std::to_string(info.divisor);
    Range r{-floorQuotient(info.range.min == INT64_MIN ? INT64_MAX : -info.range.min, info.divisor),
            floorQuotient(info.range.max, info.divisor)};
    table.declare(unit, {r, 1, {}});
    replacements.emplace(name, Expr(info.divisor) * Expr::symbol(unit));
  }
};

bool proveNonNegative(const SymbolTable &table, const Expr &e, int depth);

/// Tries e with `term` replaced by something that is not larger.
bool proveWithBound(const SymbolTable &table, const Polynomial &terms, size_t i, const Expr &bound,
                    int64_t scale, int depth) {
  Polynomial rest = terms;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
  return proveNonNegative(table, Expr(scale) * fromPolynomial(std::move(rest)) + bound, depth - 1);
}

/// k * (a//c), c > 0, at least (k > 0: k*(a-c+1), k < 0: k*a) / c; everything is multiplied by c.
bool proveThroughDivision(const SymbolTable &table, const Polynomial &terms, size_t i, int depth) {
  const std::vector<Expr> &operands = terms[i].factors[0].operands();
  std::optional<int64_t> c = operands[1].constant();
  if (!c || *c <= 0)
    return false;
  int64_t k = terms[i].coefficient;
  Expr bound = k > 0 ? Expr(k) * (operands[0] - Expr(*c - 1)) : Expr(k) * operands[0];
  return proveWithBound(table, terms, i, bound, *c, depth);
}

/// k*(x//m) - l*(y//m) is at least j*((x - y)//m) and what is left of the two, j the smaller of k
/// and l.
bool proveThroughQuotients(const SymbolTable &table, const Polynomial &terms, size_t i, int depth) {
  const Expr &plus = terms[i].factors[0];
  std::optional<int64_t> m = plus.operands()[1].constant();
  if (terms[i].coefficient < 0 || !m || *m <= 0)
    return false;
  for (const Monomial &other : terms) {
    if (other.coefficient >= 0 || other.factors.size() != 1 ||
        other.factors[0].op() != ExprOp::FloorDiv ||
        !(other.factors[0].operands()[1] == plus.operands()[1]))
      continue;
    const Expr &minus = other.factors[0];
    Expr both(std::min(terms[i].coefficient, checkedNegate(other.coefficient)));
    Expr bound = fromPolynomial(terms) - both * (plus - minus) +
                 both * floorDiv(plus.operands()[0] - minus.operands()[0], Expr(*m));
    if (proveNonNegative(table, bound, depth - 1))
      return true;
  }
  return false;
}

bool proveNonNegative(const SymbolTable &table, const Expr &e, int depth) {
  if (table.range(e).min >= 0)
    return true;
  if (depth == 0)
    return false;
  Polynomial terms = toPolynomial(e);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].factors.size() != 1)
      continue;
    const Expr &atom = terms[i].factors[0];
    int64_t k = terms[i].coefficient;
    if (atom.op() == ExprOp::FloorDiv && (proveThroughQuotients(table, terms, i, depth) ||
                                          proveThroughDivision(table, terms, i, depth)))
      return true;
    // 0 <= a mod b <= b - 1, where b is positive.
    if (atom.op() == ExprOp::Mod && table.range(atom.operands()[1]).min > 0 &&
        proveWithBound(table, terms, i, k > 0 ? Expr(0) : Expr(k) * (atom.operands()[1] - Expr(1)),
                       1, depth))
      return true;
    // max(a, …) >= a and -min(a, …) >= -a.
    if ((atom.op() == ExprOp::Max && k > 0) || (atom.op() == ExprOp::Min && k < 0))
      for (const Expr &operand : atom.operands())
        if (proveWithBound(table, terms, i, Expr(k) * operand, 1, depth))
          return true;
    // max(a, 0) <= the next power of two from a < max(2*a, 1).
    if (atom.op() == ExprOp::NextPowerOf2) {
      const Expr &from = atom.operands()[0];
      Expr bound = k > 0 ? from : max(from * Expr(2) - Expr(1), 0);
      if (proveWithBound(table, terms, i, Expr(k) * bound, 1, depth))
        return true;
    }
    // The other way every operand must do.
    if ((atom.op() == ExprOp::Min && k > 0) || (atom.op() == ExprOp::Max && k < 0))
      if (std::all_of(atom.operands().begin(), atom.operands().end(), [&](const Expr &operand) {
            return proveWithBound(table, terms, i, Expr(k) * operand, 1, depth);
          }))
        return true;
  }
  return false;
}

std::optional<bool> decideOrder(const SymbolTable &table, const Expr &left, const Expr &right) {
  constexpr int depth = 4;
  if (proveNonNegative(table, right - left, depth))
    return true;
  if (proveNonNegative(table, left - right - Expr(1), depth))
    return false;
  return std::nullopt;
}

std::optional<bool> decideEquality(const SymbolTable &table, const Expr &left, const Expr &right) {
  Expr d = left - right;
  Range r = table.range(d);
  if (r.min == 0 && r.max == 0)
    return true;
  if (!r.contains(0))
    return false;
  Polynomial terms = toPolynomial(d);
  uint64_t g = 0, constant = 0;
  for (const Monomial &m : terms)
    if (m.factors.empty())
      constant = magnitude(m.coefficient);
    else
      g = std::gcd(g, knownDivisor(table, fromPolynomial({m})));
  if (g != 0 && constant % g != 0)
    return false;
  std::optional<bool> below = decideOrder(table, left, right),
                      above = decideOrder(table, right, left);
  if (below == true && above == true)
    return true;
  if (below == false || above == false)
    return false;
  return std::nullopt;
}

std::optional<bool> decide(const SymbolTable &table, const Expr &e) {
  const std::vector<Expr> &operands = e.operands();
  switch (e.op()) {
  case ExprOp::Constant:
    return *e.constant() != 0;
  case ExprOp::Eq:
    return decideEquality(table, operands[0], operands[1]);
  case ExprOp::Ne:
    if (std::optional<bool> same = decideEquality(table, operands[0], operands[1]))
      return !*same;
    return std::nullopt;
  case ExprOp::Le:
    return decideOrder(table, operands[0], operands[1]);
  case ExprOp::Lt:
    if (std::optional<bool> other = decideOrder(table, operands[1], operands[0]))
      return !*other;
    return std::nullopt;
  case ExprOp::And:
  case ExprOp::Or: {
    bool deciding = e.op() == ExprOp::Or, all = true;
    for (const Expr &operand : operands) {
      std::optional<bool> one = decide(table, operand);
      if (one == deciding)
        return deciding;
      all &= one.has_value();
    }
    return all ? std::optional<bool>(!deciding) : std::nullopt;
  }
  case ExprOp::Not:
    if (std::optional<bool> inner = decide(table, operands[0]))
      return !*inner;
    return std::nullopt;
  default: {
    Range r = table.range(e);
    if (!r.contains(0))
      return true;
    return r.min == 0 && r.max == 0 ? std::optional<bool>(false) : std::nullopt;
  }
  }
}
} // namespace

std::optional<bool> SymbolTable::prove(const Expr &condition) const {
  if (std::optional<int64_t> c = condition.constant())
    return *c != 0;
  try {
    Refinement refinement(*this, condition);
    if (refinement.replacements.empty())
      return decide(*this, condition);
    return decide(refinement.table, substitute(condition, refinement.replacements));
  } catch (const std::overflow_error &) {
    return std::nullopt;
  }
}

std::optional<int64_t> SymbolTable::hint(const Expr &expr) const {
  std::map<std::string, int64_t> values;
  for (const std::string &name : expr.symbols())
    if (const SymbolInfo *info = find(name); info && info->hint)
      values[name] = *info->hint;
  return evaluate(expr, values);
}

} // namespace pellucid::symbolic
