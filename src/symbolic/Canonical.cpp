// SPDX-License-Identifier: Apache-2.0
/// The rewriting constructors. Sums and products become polynomials over atoms (symbols, divisions,
/// min, max, …), so equal polynomials are one node; divisions give up the part that divides
/// exactly; comparisons have their terms on fixed sides, with the common factor removed.
#include "symbolic/ExprNode.h"

#include <algorithm>
#include <numeric>

namespace pellucid::symbolic {

/// A product of sums with more terms than this stays a product: expanding it costs more than
/// knowing it.
static constexpr size_t maxExpandedTerms = 512;

int64_t checkedAdd(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out))
    throw std::overflow_error("symbolic integer: " + std::to_string(a) + " + " + std::to_string(b) +
                              " does not fit into 64 bits");
  return out;
}

int64_t checkedMul(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out))
    throw std::overflow_error("symbolic integer: " + std::to_string(a) + " * " + std::to_string(b) +
                              " does not fit into 64 bits");
  return out;
}

int64_t checkedNegate(int64_t a) { return checkedMul(a, -1); }

//===-- Polynomials ---------------------------------------------------------------------------===//

/// Higher degree first, so that constants stand last.
static int compareFactors(const std::vector<Expr> &a, const std::vector<Expr> &b) {
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (int c = compare(a[i], b[i]))
      return c;
  return 0;
}

static Monomial toMonomial(const Expr &e) {
  if (std::optional<int64_t> c = e.constant())
    return {{}, *c};
  if (e.op() != ExprOp::Mul)
    return {{e}, 1};
  const std::vector<Expr> &operands = e.operands();
  if (std::optional<int64_t> c = operands[0].constant())
    return {{operands.begin() + 1, operands.end()}, *c};
  return {operands, 1};
}

Polynomial toPolynomial(const Expr &e) {
  Polynomial terms;
  if (e.op() == ExprOp::Add)
    for (const Expr &operand : e.operands())
      terms.push_back(toMonomial(operand));
  else if (e.constant() != 0)
    terms.push_back(toMonomial(e));
  return terms;
}

static std::optional<Polynomial> roundedUp(const Polynomial &terms);

static Polynomial normalized(Polynomial terms) {
  std::sort(terms.begin(), terms.end(), [](const Monomial &a, const Monomial &b) {
    return compareFactors(a.factors, b.factors) < 0;
  });
  Polynomial merged;
  for (Monomial &term : terms)
    if (!merged.empty() && merged.back().factors == term.factors)
      merged.back().coefficient = checkedAdd(merged.back().coefficient, term.coefficient);
    else
      merged.push_back(std::move(term));
  std::erase_if(merged, [](const Monomial &m) { return m.coefficient == 0; });
  std::optional<Polynomial> rounded = roundedUp(merged);
  return rounded ? normalized(std::move(*rounded)) : merged;
}

static Expr fromMonomial(const Monomial &m) {
  if (m.factors.empty())
    return Expr(m.coefficient);
  if (m.coefficient == 1 && m.factors.size() == 1)
    return m.factors[0];
  std::vector<Expr> operands;
  if (m.coefficient != 1)
    operands.emplace_back(m.coefficient);
  operands.insert(operands.end(), m.factors.begin(), m.factors.end());
  return ExprTable::make(ExprOp::Mul, std::move(operands));
}

static Polynomial scaled(Polynomial terms, int64_t k) {
  for (Monomial &m : terms)
    m.coefficient = checkedMul(m.coefficient, k);
  return terms;
}

/// x + Mod(-x, c), a size with its padding, is c*CeilDiv(x, c), and x - Mod(x, c) is c*(x//c):
/// multiples of c for everybody to see.
static std::optional<Polynomial> roundedUp(const Polynomial &terms) {
  for (const Monomial &term : terms) {
    if (term.factors.size() != 1 || term.factors[0].op() != ExprOp::Mod)
      continue;
    const std::vector<Expr> &operands = term.factors[0].operands();
    std::optional<int64_t> c = operands[1].constant();
    if (!c || *c <= 0)
      continue;
    // k*Mod(a, c) = k*a - k*c*(a//c), where every part of k*a is taken away by another term.
    Polynomial inner = scaled(toPolynomial(operands[0]), term.coefficient);
    bool cancels = std::all_of(inner.begin(), inner.end(), [&](const Monomial &part) {
      return part.factors.empty() ||
             std::any_of(terms.begin(), terms.end(), [&](const Monomial &other) {
               return other.factors == part.factors && other.coefficient == -part.coefficient;
             });
    });
    if (!cancels)
      continue;
    Polynomial rest = std::move(inner);
    for (const Monomial &other : terms)
      if (other.factors != term.factors)
        rest.push_back(other);
    // Of a and -a the one with the positive beginning, so that a sum and its negative agree.
    bool isUp = toPolynomial(operands[0])[0].coefficient < 0;
    Expr turns = isUp ? ceilDiv(-operands[0], operands[1]) : floorDiv(operands[0], operands[1]);
    int64_t factor = checkedMul(term.coefficient, *c);
    for (Monomial &part : scaled(toPolynomial(turns), isUp ? factor : checkedNegate(factor)))
      rest.push_back(std::move(part));
    return rest;
  }
  return std::nullopt;
}

Expr fromPolynomial(Polynomial terms) {
  Polynomial flat;
  for (Monomial &m : terms)
    // A sum that was kept as a factor comes free when the other factors have gone.
    if (m.factors.size() == 1 && m.factors[0].op() == ExprOp::Add)
      for (Monomial &inner : scaled(toPolynomial(m.factors[0]), m.coefficient))
        flat.push_back(std::move(inner));
    else
      flat.push_back(std::move(m));
  terms = normalized(std::move(flat));
  if (terms.empty())
    return Expr(0);
  if (terms.size() == 1)
    return fromMonomial(terms[0]);
  std::vector<Expr> operands;
  for (const Monomial &term : terms)
    operands.push_back(fromMonomial(term));
  return ExprTable::make(ExprOp::Add, std::move(operands));
}

static Monomial product(const Monomial &a, const Monomial &b) {
  Monomial out{a.factors, checkedMul(a.coefficient, b.coefficient)};
  out.factors.insert(out.factors.end(), b.factors.begin(), b.factors.end());
  std::sort(out.factors.begin(), out.factors.end(),
            [](const Expr &x, const Expr &y) { return compare(x, y) < 0; });
  return out;
}

static Polynomial difference(const Expr &a, const Expr &b) {
  Polynomial terms = toPolynomial(a);
  for (Monomial &m : scaled(toPolynomial(b), -1))
    terms.push_back(std::move(m));
  return normalized(std::move(terms));
}

/// Without looking at magnitudes that do not fit: gcd of |coefficients|, constants left out when
/// asked.
static uint64_t commonFactor(const Polynomial &terms, bool withConstant) {
  uint64_t g = 0;
  for (const Monomial &m : terms)
    if (withConstant || !m.factors.empty())
      g = std::gcd(g, m.coefficient < 0 ? 0 - static_cast<uint64_t>(m.coefficient)
                                        : static_cast<uint64_t>(m.coefficient));
  return g;
}

/// `fold` of two constants, without polynomials: most sizes are numbers.
template <typename Fold>
static std::optional<Expr> folded(const Expr &a, const Expr &b, const Fold &fold) {
  std::optional<int64_t> x = a.constant(), y = b.constant();
  if (!x || !y)
    return std::nullopt;
  return Expr(fold(*x, *y));
}

Expr operator+(const Expr &a, const Expr &b) {
  if (auto sum = folded(a, b, checkedAdd))
    return *sum;
  if (a.constant() == 0)
    return b;
  if (b.constant() == 0)
    return a;
  Polynomial terms = toPolynomial(a);
  for (Monomial &m : toPolynomial(b))
    terms.push_back(std::move(m));
  return fromPolynomial(std::move(terms));
}

Expr operator-(const Expr &a) { return fromPolynomial(scaled(toPolynomial(a), -1)); }
Expr operator-(const Expr &a, const Expr &b) {
  if (auto rest =
          folded(a, b, [](int64_t x, int64_t y) { return checkedAdd(x, checkedNegate(y)); }))
    return *rest;
  return fromPolynomial(difference(a, b));
}

Expr operator*(const Expr &a, const Expr &b) {
  if (auto all = folded(a, b, checkedMul))
    return *all;
  if (a.constant() == 1)
    return b;
  if (b.constant() == 1)
    return a;
  Polynomial left = toPolynomial(a), right = toPolynomial(b);
  if (left.size() > 1 && right.size() > 1 && left.size() * right.size() > maxExpandedTerms) {
    left = {{{a}, 1}};
    right = {{{b}, 1}};
  }
  Polynomial terms;
  for (const Monomial &x : left)
    for (const Monomial &y : right)
      terms.push_back(product(x, y));
  return fromPolynomial(std::move(terms));
}

//===-- Division ------------------------------------------------------------------------------===//

/// `m` without the factors of `by`, or nullopt where it does not divide.
static std::optional<Monomial> exactQuotient(const Monomial &m, const Monomial &by) {
  if (by.coefficient == 0 || (by.coefficient == -1 && m.coefficient == INT64_MIN) ||
      m.coefficient % by.coefficient != 0)
    return std::nullopt;
  Monomial out{m.factors, m.coefficient / by.coefficient};
  for (const Expr &factor : by.factors) {
    auto it = std::find(out.factors.begin(), out.factors.end(), factor);
    if (it == out.factors.end())
      return std::nullopt;
    out.factors.erase(it);
  }
  return out;
}

/// a == whole * b + rest, with as much as possible in `whole`.
struct Split {
  Polynomial whole, rest;
};

static Split splitBy(const Expr &a, const Expr &b) {
  Split split;
  Polynomial divisor = toPolynomial(b);
  Polynomial terms = toPolynomial(a);
  if (divisor.size() == 1) {
    for (Monomial &m : terms)
      if (std::optional<Monomial> q = exactQuotient(m, divisor[0]))
        split.whole.push_back(std::move(*q));
      else
        split.rest.push_back(std::move(m));
    return split;
  }
  // A sum divides only a multiple of itself.
  if (!divisor.empty() && !terms.empty())
    if (std::optional<Monomial> q = exactQuotient(terms[0], divisor[0]))
      if (Expr whole = fromPolynomial({*q}); whole * b == a) {
        split.whole.push_back(std::move(*q));
        return split;
      }
  split.rest = std::move(terms);
  return split;
}

/// Moves the multiple of `c` in the constant term over: the rest's constant is in [0, c).
static void splitConstant(Split &split, int64_t c) {
  for (Monomial &m : split.rest)
    if (m.factors.empty()) {
      split.whole.push_back({{}, floorQuotient(m.coefficient, c)});
      m.coefficient = floorRemainder(m.coefficient, c);
    }
  split.rest = normalized(std::move(split.rest));
}

static void divideExactly(Polynomial &terms, int64_t g) {
  for (Monomial &m : terms)
    m.coefficient /= g;
}

/// The term that is one floor division by a positive constant, where there is no other.
static const Monomial *onlyQuotient(const Polynomial &terms) {
  const Monomial *found = nullptr;
  for (const Monomial &m : terms) {
    if (m.coefficient != 1 || m.factors.size() != 1 || m.factors[0].op() != ExprOp::FloorDiv ||
        m.factors[0].operands()[1].constantOr(0) <= 0)
      continue;
    if (found)
      return nullptr;
    found = &m;
  }
  return found;
}

static Expr floorDivByConstant(const Expr &a, int64_t c) {
  Split split = splitBy(a, Expr(c));
  splitConstant(split, c);
  // A rest that is a constant is in [0, c), so nothing comes of it.
  if (split.rest.empty() || split.rest[0].factors.empty())
    return fromPolynomial(std::move(split.whole));
  int64_t g =
      static_cast<int64_t>(std::gcd(commonFactor(split.rest, true), static_cast<uint64_t>(c)));
  divideExactly(split.rest, g);
  c /= g;
  Expr rest = fromPolynomial(split.rest);
  Expr whole = fromPolynomial(std::move(split.whole));
  if (c == 1)
    return whole + rest;
  if (rest.op() == ExprOp::Mod)
    if (std::optional<int64_t> inner = rest.operands()[1].constant();
        inner && *inner > 0 && *inner <= c)
      return whole;
  // (x//m + r)//c == (x + m*r)//(m*c).
  if (const Monomial *quotient = onlyQuotient(split.rest))
    try {
      const Expr &atom = quotient->factors[0];
      const Expr &x = atom.operands()[0], &m = atom.operands()[1];
      return whole + floorDiv(x + m * (rest - atom), Expr(checkedMul(*m.constant(), c)));
    } catch (const std::overflow_error &) {
      // Numbers that do not fit: it stays as it is.
    }
  return whole + ExprTable::make(ExprOp::FloorDiv, {rest, Expr(c)});
}

Expr floorDiv(const Expr &a, const Expr &b) {
  std::optional<int64_t> x = a.constant(), c = b.constant();
  if (c == 0)
    return ExprTable::make(ExprOp::FloorDiv, {a, b});
  if (x && c)
    return *c == -1 ? Expr(checkedNegate(*x)) : Expr(floorQuotient(*x, *c));
  if (c == 1)
    return a;
  if (c && *c > 0)
    return floorDivByConstant(a, *c);
  if (c)
    return floorDiv(-a, Expr(checkedNegate(*c)));
  Split split = splitBy(a, b);
  Expr whole = fromPolynomial(std::move(split.whole));
  if (split.rest.empty())
    return whole;
  return whole + ExprTable::make(ExprOp::FloorDiv, {fromPolynomial(std::move(split.rest)), b});
}

/// A remainder by a multiple of c counts as what it is the remainder of.
static Polynomial withoutRemainders(Polynomial terms, int64_t c) {
  if (terms.size() == 1 && terms[0].coefficient == 1)
    return terms;
  Polynomial plain;
  for (const Monomial &m : terms) {
    bool isRemainder = m.factors.size() == 1 && m.factors[0].op() == ExprOp::Mod;
    std::optional<int64_t> inner =
        isRemainder ? m.factors[0].operands()[1].constant() : std::nullopt;
    if (inner && *inner > 0 && checkedMul(m.coefficient, *inner) % c == 0)
      for (Monomial &part : scaled(toPolynomial(m.factors[0].operands()[0]), m.coefficient))
        plain.push_back(std::move(part));
    else
      plain.push_back(m);
  }
  return plain;
}

static Expr modByConstant(const Expr &a, int64_t c) {
  Polynomial terms = withoutRemainders(toPolynomial(a), c);
  for (Monomial &m : terms)
    m.coefficient = m.factors.empty() ? floorRemainder(m.coefficient, c) : m.coefficient % c;
  terms = normalized(std::move(terms));
  if (terms.empty())
    return Expr(0);
  int64_t g = static_cast<int64_t>(std::gcd(commonFactor(terms, true), static_cast<uint64_t>(c)));
  divideExactly(terms, g);
  c /= g;
  Expr rest = fromPolynomial(std::move(terms));
  if (c == 1)
    return Expr(0);
  if (std::optional<int64_t> r = rest.constant())
    return Expr(checkedMul(floorRemainder(*r, c), g));
  if (rest.op() == ExprOp::Mod)
    if (std::optional<int64_t> inner = rest.operands()[1].constant(); inner && *inner > 0) {
      if (*inner <= c)
        return Expr(g) * rest;
      if (*inner % c == 0)
        return Expr(g) * mod(rest.operands()[0], Expr(c));
    }
  return Expr(g) * ExprTable::make(ExprOp::Mod, {rest, Expr(c)});
}

Expr mod(const Expr &a, const Expr &b) {
  std::optional<int64_t> x = a.constant(), c = b.constant();
  if (c == 0)
    return ExprTable::make(ExprOp::Mod, {a, b});
  if (x && c)
    return Expr(floorRemainder(*x, *c));
  if (c == 1 || c == -1)
    return Expr(0);
  if (c && *c > 0)
    return modByConstant(a, *c);
  if (c)
    return -mod(-a, Expr(checkedNegate(*c)));
  Split split = splitBy(a, b);
  if (split.rest.empty())
    return Expr(0);
  Expr rest = fromPolynomial(std::move(split.rest));
  if (rest.op() == ExprOp::Mod && rest.operands()[1] == b)
    return rest;
  return ExprTable::make(ExprOp::Mod, {rest, b});
}

/// By a positive constant it is a floor division; by anything else it stays what it is.
Expr ceilDiv(const Expr &a, const Expr &b) {
  std::optional<int64_t> c = b.constant();
  if (c && *c > 0) {
    if (std::optional<int64_t> x = a.constant())
      return Expr(floorQuotient(*x, *c) + (floorRemainder(*x, *c) != 0));
    return floorDiv(a + Expr(*c - 1), b);
  }
  if (c && *c < 0)
    return ceilDiv(-a, Expr(checkedNegate(*c)));
  if (c)
    return ExprTable::make(ExprOp::CeilDiv, {a, b});
  Split split = splitBy(a, b);
  Expr whole = fromPolynomial(std::move(split.whole));
  if (split.rest.empty())
    return whole;
  return whole + ExprTable::make(ExprOp::CeilDiv, {fromPolynomial(std::move(split.rest)), b});
}

//===-- Min and max ---------------------------------------------------------------------------===//

/// Whether a <= b for all values, where a - b is a constant or a constant and two quotients by one
/// divisor, x//m - y//m, whose x - y is a constant d: that is within d//m and ceil(d/m).
static bool isNeverAbove(const Expr &a, const Expr &b) {
  try {
    Expr apart = a - b;
    if (std::optional<int64_t> d = apart.constant())
      return *d <= 0;
    Polynomial terms = toPolynomial(apart);
    int64_t constant = terms.back().factors.empty() ? terms.back().coefficient : 0;
    if (constant != 0)
      terms.pop_back();
    if (terms.size() != 2 || terms[0].coefficient != -terms[1].coefficient)
      return false;
    for (const Monomial &term : terms)
      if (term.factors.size() != 1 || term.factors[0].op() != ExprOp::FloorDiv)
        return false;
    const Monomial &plus = terms[terms[0].coefficient > 0 ? 0 : 1],
                   &minus = terms[&plus == &terms[0]];
    const std::vector<Expr> &x = plus.factors[0].operands(), &y = minus.factors[0].operands();
    std::optional<int64_t> m = x[1].constant(), d = (x[0] - y[0]).constant();
    if (!m || *m <= 0 || !(x[1] == y[1]) || !d)
      return false;
    int64_t most = checkedNegate(floorQuotient(checkedNegate(*d), *m));
    return checkedAdd(checkedMul(plus.coefficient, most), constant) <= 0;
  } catch (const std::overflow_error &) {
    return false;
  }
}

static void addFlattened(ExprOp op, const Expr &e, std::vector<Expr> &operands) {
  if (e.op() == op)
    operands.insert(operands.end(), e.operands().begin(), e.operands().end());
  else
    operands.push_back(e);
}

static void sortOperands(std::vector<Expr> &operands) {
  std::sort(operands.begin(), operands.end(),
            [](const Expr &x, const Expr &y) { return compare(x, y) < 0; });
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
}

/// min(a, max(a, b)) == a, and the other way round.
static bool isAbsorbed(ExprOp op, const Expr &e, const std::vector<Expr> &operands) {
  ExprOp dual = op == ExprOp::Min ? ExprOp::Max : ExprOp::Min;
  if (e.op() != dual)
    return false;
  return std::any_of(e.operands().begin(), e.operands().end(), [&](const Expr &inner) {
    return std::find(operands.begin(), operands.end(), inner) != operands.end();
  });
}

static Expr extremum(ExprOp op, const Expr &a, const Expr &b) {
  std::vector<Expr> all, kept;
  addFlattened(op, a, all);
  addFlattened(op, b, all);
  for (const Expr &e : all) {
    auto decides = [&](const Expr &x, const Expr &y) {
      return op == ExprOp::Min ? isNeverAbove(x, y) : isNeverAbove(y, x);
    };
    if (std::any_of(kept.begin(), kept.end(), [&](const Expr &k) { return decides(k, e); }))
      continue;
    std::erase_if(kept, [&](const Expr &k) { return decides(e, k); });
    kept.push_back(e);
  }
  std::vector<Expr> operands;
  for (const Expr &e : kept)
    if (!isAbsorbed(op, e, kept))
      operands.push_back(e);
  sortOperands(operands);
  return operands.size() == 1 ? operands[0] : ExprTable::make(op, std::move(operands));
}

Expr min(const Expr &a, const Expr &b) { return extremum(ExprOp::Min, a, b); }
Expr max(const Expr &a, const Expr &b) { return extremum(ExprOp::Max, a, b); }

//===-- Comparisons and logic -----------------------------------------------------------------===//

bool isBoolean(const Expr &e) {
  switch (e.op()) {
  case ExprOp::Eq:
  case ExprOp::Ne:
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Not:
    return true;
  default:
    return e.constant() == 0 || e.constant() == 1;
  }
}

static Expr asBoolean(const Expr &e) { return isBoolean(e) ? e : notEqual(e, Expr(0)); }

/// Σ positive terms on the left, Σ negated negative ones on the right; `bound` joins the right
/// side, or the left one where no term stands there.
static std::pair<Expr, Expr> sides(const Polynomial &terms, int64_t bound) {
  Polynomial left, right;
  for (const Monomial &m : terms)
    if (m.coefficient > 0)
      left.push_back(m);
    else
      right.push_back({m.factors, checkedNegate(m.coefficient)});
  if (left.empty())
    left.push_back({{}, checkedNegate(bound)});
  else
    right.push_back({{}, bound});
  return {fromPolynomial(std::move(left)), fromPolynomial(std::move(right))};
}

/// Takes the constant term out and returns it.
static int64_t takeConstant(Polynomial &terms) {
  if (terms.empty() || !terms.back().factors.empty())
    return 0;
  int64_t c = terms.back().coefficient;
  terms.pop_back();
  return c;
}

static Expr equality(ExprOp op, const Expr &a, const Expr &b) {
  if (a.isConstant() && b.isConstant())
    return Expr((a == b) == (op == ExprOp::Eq));
  try {
    Polynomial terms = difference(a, b);
    int64_t constant = takeConstant(terms);
    if (terms.empty())
      return Expr((constant == 0) == (op == ExprOp::Eq));
    int64_t g = static_cast<int64_t>(commonFactor(terms, false));
    if (g < 0)
      throw std::overflow_error("symbolic integer: coefficient out of range");
    if (constant % g != 0)
      return Expr(op == ExprOp::Ne);
    divideExactly(terms, g);
    constant /= g;
    if (terms[0].coefficient < 0) {
      terms = scaled(std::move(terms), -1);
      constant = checkedNegate(constant);
    }
    auto [left, right] = sides(terms, checkedNegate(constant));
    return ExprTable::make(op, {left, right});
  } catch (const std::overflow_error &) {
    return ExprTable::make(op, {a, b});
  }
}

Expr equal(const Expr &a, const Expr &b) { return equality(ExprOp::Eq, a, b); }
Expr notEqual(const Expr &a, const Expr &b) { return equality(ExprOp::Ne, a, b); }

/// Σ terms + constant <= 0, as `left <= right`. Strict comparisons come here too: a < b is a + 1 <=
/// b.
static Expr atMostZero(Polynomial terms, int64_t constant) {
  if (terms.empty())
    return Expr(constant <= 0);
  int64_t g = static_cast<int64_t>(commonFactor(terms, false));
  if (g < 0)
    throw std::overflow_error("symbolic integer: coefficient out of range");
  divideExactly(terms, g);
  auto [left, right] = sides(terms, floorQuotient(checkedNegate(constant), g));
  return ExprTable::make(ExprOp::Le, {left, right});
}

static Expr ordered(const Expr &a, const Expr &b, bool strict) {
  if (a.constant() && b.constant())
    return Expr(strict ? *a.constant() < *b.constant() : *a.constant() <= *b.constant());
  try {
    Polynomial terms = difference(a, b);
    int64_t constant = takeConstant(terms);
    return atMostZero(std::move(terms), checkedAdd(constant, strict));
  } catch (const std::overflow_error &) {
    return ExprTable::make(strict ? ExprOp::Lt : ExprOp::Le, {a, b});
  }
}

Expr less(const Expr &a, const Expr &b) { return ordered(a, b, true); }
Expr lessEqual(const Expr &a, const Expr &b) { return ordered(a, b, false); }

static Expr junction(ExprOp op, const Expr &a, const Expr &b) {
  int64_t neutral = op == ExprOp::And;
  std::vector<Expr> all, operands;
  addFlattened(op, asBoolean(a), all);
  addFlattened(op, asBoolean(b), all);
  for (const Expr &e : all) {
    if (e.constant() == 1 - neutral)
      return Expr(1 - neutral);
    if (!e.isConstant())
      operands.push_back(e);
  }
  sortOperands(operands);
  for (const Expr &e : operands)
    if (std::find(operands.begin(), operands.end(), logicalNot(e)) != operands.end())
      return Expr(1 - neutral);
  if (operands.empty())
    return Expr(neutral);
  return operands.size() == 1 ? operands[0] : ExprTable::make(op, std::move(operands));
}

Expr logicalAnd(const Expr &a, const Expr &b) { return junction(ExprOp::And, a, b); }
Expr logicalOr(const Expr &a, const Expr &b) { return junction(ExprOp::Or, a, b); }

/// Goes down to the comparisons, so no Not is left.
Expr logicalNot(const Expr &a) {
  Expr e = asBoolean(a);
  if (std::optional<int64_t> c = e.constant())
    return Expr(1 - *c);
  const std::vector<Expr> &operands = e.operands();
  switch (e.op()) {
  case ExprOp::Eq:
    return notEqual(operands[0], operands[1]);
  case ExprOp::Ne:
    return equal(operands[0], operands[1]);
  case ExprOp::Lt:
    return lessEqual(operands[1], operands[0]);
  case ExprOp::Le:
    return less(operands[1], operands[0]);
  default:
    break;
  }
  Expr result = logicalNot(operands[0]);
  for (size_t i = 1; i < operands.size(); ++i)
    result = e.op() == ExprOp::And ? logicalOr(result, logicalNot(operands[i]))
                                   : logicalAnd(result, logicalNot(operands[i]));
  return result;
}

Expr select(const Expr &condition, const Expr &a, const Expr &b) {
  Expr c = asBoolean(condition);
  if (std::optional<int64_t> decided = c.constant())
    return *decided ? a : b;
  if (a == b)
    return a;
  if (a.constant() == 1 && b.constant() == 0)
    return c;
  if (a.constant() == 0 && b.constant() == 1)
    return logicalNot(c);
  if (c.op() == ExprOp::Ne)
    return ExprTable::make(ExprOp::Select, {logicalNot(c), b, a});
  return ExprTable::make(ExprOp::Select, {c, a, b});
}

Expr nextPowerOf2(const Expr &a) {
  if (std::optional<int64_t> c = a.constant())
    if (std::optional<int64_t> power = powerOf2From(*c))
      return Expr(*power);
  if (a.op() == ExprOp::NextPowerOf2 || isBoolean(a))
    return a;
  return ExprTable::make(ExprOp::NextPowerOf2, {a});
}

} // namespace pellucid::symbolic
