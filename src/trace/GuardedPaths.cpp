// SPDX-License-Identifier: Apache-2.0
#include "trace/GuardedPaths.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace pellucid::trace {

using symbolic::Expr;
using symbolic::ExprOp;
using symbolic::Range;
using symbolic::SymbolTable;

bool DecisionPath::decide(const Expr &condition) {
  // The same question has the same answer all along one way.
  for (size_t i = 0; i < next; ++i)
    if (decisions[i].first == condition)
      return decisions[i].second;
  if (next == decisions.size())
    decisions.emplace_back(condition, true);
  return decisions[next++].second;
}

bool DecisionPath::advance() {
  next = 0;
  while (!decisions.empty() && !decisions.back().second)
    decisions.pop_back();
  if (decisions.empty())
    return false;
  decisions.back().second = false;
  return true;
}

Expr DecisionPath::guard() const {
  // x == 64 leaves nothing to say of x == 32.
  auto decided = [&](const Expr &x) {
    return std::any_of(decisions.begin(), decisions.end(), [&](const auto &decision) {
      return decision.second && decision.first.op() == ExprOp::Eq &&
             decision.first.operands()[0] == x && decision.first.operands()[1].isConstant();
    });
  };
  Expr all = 1;
  for (const auto &[condition, answer] : decisions) {
    if (!answer && condition.op() == ExprOp::Eq && condition.operands()[1].isConstant() &&
        decided(condition.operands()[0]))
      continue;
    all = symbolic::logicalAnd(all, answer ? condition : symbolic::logicalNot(condition));
  }
  return all;
}

namespace {
constexpr size_t mostValues = 256;
constexpr uint64_t mostSizes = 1 << 16;
constexpr uint64_t mostTries = 1 << 18; ///< evaluations of one condition

using Values = std::optional<std::set<int64_t>>;

Values merged(Values a, const Values &b) {
  if (!a || !b)
    return std::nullopt;
  a->insert(b->begin(), b->end());
  return a->size() > mostValues ? std::nullopt : a;
}

/// What the operator makes of each pair of values.
Values combined(const Expr &expr, const Values &a, const Values &b) {
  if (!a || !b || a->size() * b->size() > mostValues)
    return std::nullopt;
  std::set<int64_t> values;
  for (int64_t x : *a)
    for (int64_t y : *b)
      values.insert(expr.op() == ExprOp::Min   ? std::min(x, y)
                    : expr.op() == ExprOp::Max ? std::max(x, y)
                    : expr.op() == ExprOp::Add ? x + y
                                               : x * y);
  return values;
}

Values listed(const Expr &expr, const SymbolTable &symbols) {
  if (auto known = expr.constant())
    return std::set<int64_t>{*known};
  if (expr.op() == ExprOp::Select)
    return merged(listed(expr.operands()[1], symbols), listed(expr.operands()[2], symbols));
  for (ExprOp op : {ExprOp::Min, ExprOp::Max, ExprOp::Add, ExprOp::Mul}) {
    if (expr.op() != op)
      continue;
    Values values = listed(expr.operands()[0], symbols);
    for (size_t i = 1; i < expr.operands().size(); ++i)
      values = combined(expr, values, listed(expr.operands()[i], symbols));
    if (values)
      return values;
  }
  if (expr.op() == ExprOp::NextPowerOf2) {
    std::set<int64_t> values;
    Range range = symbols.range(expr);
    if (range.min == 0)
      values.insert(0);
    for (int64_t power = std::max<int64_t>(range.min, 1); power < range.max; power *= 2)
      values.insert(power);
    values.insert(range.max);
    return values;
  }
  Range range = symbols.range(expr);
  if (range.max < range.min ||
      static_cast<uint64_t>(range.max) - static_cast<uint64_t>(range.min) >= mostValues)
    return std::nullopt;
  std::set<int64_t> values;
  for (int64_t v = range.min; v <= range.max; ++v)
    values.insert(v);
  return values;
}

using Sizes = std::map<std::string, int64_t>;
using Box = std::map<std::string, Range>;

/// Calls `visit` on every point of `box` until it gives false. Nullopt when there are too many.
std::optional<bool> forAll(const Box &box, const std::function<bool(const Sizes &)> &visit) {
  uint64_t count = 1;
  for (const auto &[name, range] : box) {
    uint64_t width = static_cast<uint64_t>(range.max) - static_cast<uint64_t>(range.min) + 1;
    if (width == 0 || width > mostSizes || count * width > mostSizes)
      return std::nullopt;
    count *= width;
  }
  Sizes sizes;
  for (const auto &[name, range] : box)
    sizes[name] = range.min;
  while (true) {
    if (!visit(sizes))
      return false;
    auto digit = box.begin();
    while (digit != box.end() && ++sizes[digit->first] > digit->second.max)
      sizes[digit->first] = digit->second.min, ++digit;
    if (digit == box.end())
      return true;
  }
}

/// What the sizes' remainders by it decide, the divisions of the expression decide; 0 when that is
/// too large, or a divisor no constant.
int64_t periodOf(const Expr &expr) {
  constexpr int64_t longest = 512;
  int64_t period = 1;
  for (const Expr &operand : expr.operands()) {
    int64_t inner = periodOf(operand);
    if (inner == 0)
      return 0;
    period = std::lcm(period, inner);
    if (period > longest)
      return 0;
  }
  if (expr.op() != ExprOp::FloorDiv && expr.op() != ExprOp::Mod && expr.op() != ExprOp::CeilDiv)
    return period;
  int64_t divisor = expr.operands()[1].constantOr(0);
  return divisor <= 0 || divisor > longest / period ? 0 : period * divisor;
}

/// Whether all sizes of the range have it proved: with each remainder by the period, divisions
/// are exact.
bool holdsIn(const Range &range, const Expr &condition, bool value, const std::string &name,
             int64_t divisor) {
  int64_t period = periodOf(condition);
  if (period == 0)
    return false;
  period = std::lcm(period, divisor);
  Expr asked = value ? condition : symbolic::logicalNot(condition), turns = Expr::symbol("turns");
  for (int64_t rest = 0; rest < period; rest += divisor) {
    int64_t least = (range.min - rest + period - 1) / period, most = (range.max - rest) / period;
    SymbolTable one;
    one.declare("turns", {{least, most}, 1, {}});
    try {
      if (least <= most &&
          one.prove(substitute(asked, {{name, turns * Expr(period) + Expr(rest)}})) != true)
        return false;
    } catch (const std::overflow_error &) {
      return false;
    }
  }
  return true;
}

Box declaredRanges(const Expr &condition, const SymbolTable &symbols) {
  Box box;
  for (const std::string &name : condition.symbols())
    box[name] = symbols.find(name)->range;
  return box;
}
} // namespace

std::optional<std::set<int64_t>> possibleValues(const Expr &expr, const SymbolTable &symbols) {
  Values values = listed(expr, symbols);
  if (values)
    std::erase_if(*values, [&](int64_t v) { return !symbols.range(expr).contains(v); });
  return values;
}

bool canHold(const Expr &condition, const SymbolTable &symbols) {
  if (auto known = symbols.prove(condition))
    return *known;
  auto never = forAll(declaredRanges(condition, symbols), [&](const Sizes &sizes) {
    return symbolic::evaluate(condition, sizes).value_or(1) == 0;
  });
  return !never.value_or(false);
}

std::optional<std::pair<std::string, int64_t>> multiplesWhere(const Expr &condition, bool value,
                                                              const SymbolTable &symbols) {
  std::vector<std::string> names = condition.symbols();
  int64_t period = names.size() == 1 ? periodOf(condition) : 0;
  if (period <= 1)
    return std::nullopt;
  symbolic::SymbolInfo info = *symbols.find(names[0]);
  const int64_t before = info.divisor, hint = info.hint.value_or(1);
  for (int64_t of = 2; of <= period; ++of) {
    if (period % of || before > INT64_MAX / of)
      continue;
    info.divisor = std::lcm(before, of);
    if (info.divisor == before || hint % info.divisor)
      continue;
    SymbolTable one;
    one.declare(names[0], info);
    if (one.prove(condition) == value)
      return std::pair(names[0], info.divisor);
  }
  return std::nullopt;
}

std::optional<Box> rangesWhere(const Expr &condition, bool value, const SymbolTable &symbols) {
  Box box;
  std::vector<std::pair<std::string, int64_t>> divisors;
  for (const std::string &name : condition.symbols()) {
    auto hint = symbols.find(name)->hint;
    if (!hint)
      return std::nullopt;
    box[name] = {*hint, *hint};
    if (int64_t divisor = symbols.find(name)->divisor; divisor > 1)
      divisors.emplace_back(name, divisor);
  }
  // Of a condition on several dims, each face is a product of sizes.
  uint64_t left = mostTries;
  auto holds = [&](const Box &candidate) {
    return forAll(candidate, [&](const Sizes &sizes) {
      for (const auto &[name, divisor] : divisors)
        if (sizes.at(name) % divisor != 0)
          return true; // no size of the dim
      if (left == 0)
        return false;
      --left;
      auto result = symbolic::evaluate(condition, sizes);
      return result && (*result != 0) == value;
    });
  };
  // One dim after the other, one step at a time: only the new face of the box is tried.
  for (auto &[name, range] : box) {
    Range declared = symbols.find(name)->range;
    auto extends = [&](int64_t to) {
      Box face = box;
      face[name] = {to, to};
      return holds(face).value_or(false);
    };
    auto isRest = [&](const Range &rest) {
      return box.size() == 1 && rest.min >= 0 &&
             holdsIn(rest, condition, value, name, symbols.find(name)->divisor);
    };
    int64_t steps = static_cast<int64_t>(mostSizes);
    while (range.min > declared.min && --steps > 0 && extends(range.min - 1))
      --range.min;
    if (range.min > declared.min && steps == 0 && isRest({declared.min, range.min - 1}))
      range.min = declared.min;
    // Most conditions hold from some small size on.
    constexpr int64_t tried = 2048;
    steps = static_cast<int64_t>(mostSizes);
    while (range.max < declared.max && --steps > 0 && extends(range.max + 1))
      if (++range.max; steps == static_cast<int64_t>(mostSizes) - tried &&
                       isRest({range.max + 1, declared.max})) {
        range.max = declared.max;
        break;
      }
  }
  return box;
}

} // namespace pellucid::trace
