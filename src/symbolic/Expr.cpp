// SPDX-License-Identifier: Apache-2.0
#include "symbolic/ExprNode.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>

namespace pellucid::symbolic {

namespace {
/// Every live node, by hash. Entries go with their nodes, so the table is as large as what is in
/// use.
struct Interner {
  std::mutex mutex;
  std::unordered_multimap<size_t, std::pair<const ExprNode *, std::weak_ptr<const ExprNode>>> nodes;

  void forget(const ExprNode *node) {
    {
      std::lock_guard lock(mutex);
      auto [first, last] = nodes.equal_range(node->hash);
      for (auto it = first; it != last; ++it)
        if (it->second.first == node) {
          nodes.erase(it);
          break;
        }
    }
    // Outside the lock: the operands may go with it and come here again.
    delete node;
  }
};

Interner &interner() {
  // Never destroyed: expressions in static objects may outlive it otherwise.
  static Interner *table = new Interner;
  return *table;
}

size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 29);
}

size_t hashOf(const ExprNode &n) {
  size_t h = mix(static_cast<size_t>(n.op), static_cast<size_t>(n.value));
  h = mix(h, std::hash<std::string>()(n.name));
  for (const Expr &e : n.operands)
    h = mix(h, std::hash<const void *>()(e.identity()));
  return h;
}

bool sameContent(const ExprNode &a, const ExprNode &b) {
  return a.op == b.op && a.value == b.value && a.name == b.name && a.operands == b.operands;
}
} // namespace

/// Nodes are shared, so that a few of them can stand for a tree without end: what walks one does so
/// without asking, on the stack and in a time that these bounds keep small.
static void measure(ExprNode &node) {
  constexpr uint64_t mostParts = 20'000, mostHeight = 300;
  uint64_t size = 1, height = 0;
  for (const Expr &operand : node.operands) {
    size += operand.size();
    height = std::max<uint64_t>(height, operand.height());
  }
  if (size > mostParts || height >= mostHeight)
    throw ExpressionTooLarge("a size expression has more than " +
                             (size > mostParts ? std::to_string(mostParts) + " parts"
                                               : std::to_string(mostHeight) + " levels"));
  node.size = static_cast<uint32_t>(size);
  node.height = static_cast<uint32_t>(height + 1);
}

Expr ExprTable::make(ExprOp op, int64_t value, std::string name, std::vector<Expr> operands) {
  auto node = std::make_unique<ExprNode>(ExprNode{op, value, std::move(name), std::move(operands)});
  measure(*node);
  node->hash = hashOf(*node);
  Interner &table = interner();
  // A candidate that is not the one may be the last reference to its node: let it go outside the
  // lock.
  std::vector<std::shared_ptr<const ExprNode>> others;
  std::lock_guard lock(table.mutex);
  auto [first, last] = table.nodes.equal_range(node->hash);
  for (auto it = first; it != last; ++it)
    if (std::shared_ptr<const ExprNode> found = it->second.second.lock()) {
      if (sameContent(*found, *node))
        return Expr(std::move(found));
      others.push_back(std::move(found));
    }
  size_t hash = node->hash;
  std::shared_ptr<const ExprNode> shared(node.release(),
                                         [](const ExprNode *n) { interner().forget(n); });
  table.nodes.emplace(hash, std::make_pair(shared.get(), std::weak_ptr<const ExprNode>(shared)));
  return Expr(std::move(shared));
}

namespace {
/// Sizes come again and again, and are copied with every type: the first constant of a place here
/// stays for good, owned by nobody, so that copies of it count nothing. Another one of that place
/// is a node like all others, and remains one.
class LastingConstants {
public:
  /// Null where the place is another constant's.
  static const ExprNode *find(int64_t value) {
    std::atomic<const ExprNode *> &place =
        nodes[mix(0, static_cast<size_t>(value)) >> (64 - countBits)];
    const ExprNode *node = place.load(std::memory_order_acquire);
    if (!node)
      node = claim(place, value);
    return node->value == value ? node : nullptr;
  }

private:
  static constexpr unsigned countBits = 14;
  static inline std::atomic<const ExprNode *> nodes[size_t(1) << countBits] = {};

  static const ExprNode *claim(std::atomic<const ExprNode *> &place, int64_t value) {
    auto made = std::make_unique<ExprNode>(ExprNode{ExprOp::Constant, value, {}, {}});
    measure(*made);
    made->hash = hashOf(*made);
    const ExprNode *other = nullptr;
    if (!place.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel))
      return other;
    return made.release();
  }
};
} // namespace

Expr::Expr(int64_t constant) {
  if (const ExprNode *lasting = LastingConstants::find(constant))
    node = {std::shared_ptr<const ExprNode>(), lasting};
  else
    node = ExprTable::make(constant).node;
}
Expr Expr::symbol(std::string_view name) {
  return ExprTable::make(ExprOp::Symbol, 0, std::string(name), {});
}
ExprOp Expr::op() const { return node->op; }
size_t Expr::size() const { return node->size; }
size_t Expr::height() const { return node->height; }
const std::string &Expr::symbolName() const { return node->name; }
const std::vector<Expr> &Expr::operands() const { return node->operands; }

std::optional<int64_t> Expr::constant() const {
  if (node->op == ExprOp::Constant)
    return node->value;
  return std::nullopt;
}

static void collectSymbols(const Expr &e, std::set<std::string> &names) {
  if (e.op() == ExprOp::Symbol)
    names.insert(e.symbolName());
  for (const Expr &operand : e.operands())
    collectSymbols(operand, names);
}

std::vector<std::string> Expr::symbols() const {
  std::set<std::string> names;
  collectSymbols(*this, names);
  return {names.begin(), names.end()};
}

int compare(const Expr &a, const Expr &b) {
  if (a == b)
    return 0;
  auto rank = [](const Expr &e) {
    return e.op() == ExprOp::Symbol ? -1 : static_cast<int>(e.op());
  };
  if (rank(a) != rank(b))
    return rank(a) < rank(b) ? -1 : 1;
  if (a.op() == ExprOp::Symbol)
    return a.symbolName() < b.symbolName() ? -1 : 1;
  if (a.op() == ExprOp::Constant)
    return *a.constant() < *b.constant() ? -1 : 1;
  if (a.operands().size() != b.operands().size())
    return a.operands().size() < b.operands().size() ? -1 : 1;
  for (size_t i = 0; i < a.operands().size(); ++i)
    if (int c = compare(a.operands()[i], b.operands()[i]))
      return c;
  return 0;
}

static Expr rebuilt(const Expr &e, const std::vector<Expr> &operands) {
  auto folded = [&](Expr (*combine)(const Expr &, const Expr &)) {
    Expr result = operands[0];
    for (size_t i = 1; i < operands.size(); ++i)
      result = combine(result, operands[i]);
    return result;
  };
  switch (e.op()) {
  case ExprOp::Constant:
  case ExprOp::Symbol:
    return e;
  case ExprOp::Add:
    return folded([](const Expr &a, const Expr &b) { return a + b; });
  case ExprOp::Mul:
    return folded([](const Expr &a, const Expr &b) { return a * b; });
  case ExprOp::FloorDiv:
    return floorDiv(operands[0], operands[1]);
  case ExprOp::Mod:
    return mod(operands[0], operands[1]);
  case ExprOp::CeilDiv:
    return ceilDiv(operands[0], operands[1]);
  case ExprOp::Min:
    return folded([](const Expr &a, const Expr &b) { return min(a, b); });
  case ExprOp::Max:
    return folded([](const Expr &a, const Expr &b) { return max(a, b); });
  case ExprOp::Eq:
    return equal(operands[0], operands[1]);
  case ExprOp::Ne:
    return notEqual(operands[0], operands[1]);
  case ExprOp::Lt:
    return less(operands[0], operands[1]);
  case ExprOp::Le:
    return lessEqual(operands[0], operands[1]);
  case ExprOp::And:
    return folded(logicalAnd);
  case ExprOp::Or:
    return folded(logicalOr);
  case ExprOp::Not:
    return logicalNot(operands[0]);
  case ExprOp::Select:
    return select(operands[0], operands[1], operands[2]);
  case ExprOp::NextPowerOf2:
    return nextPowerOf2(operands[0]);
  }
  return e;
}

Expr substitute(const Expr &expr, const std::map<std::string, Expr> &replacements) {
  if (expr.op() == ExprOp::Symbol) {
    auto it = replacements.find(expr.symbolName());
    return it == replacements.end() ? expr : it->second;
  }
  std::vector<Expr> operands;
  bool changed = false;
  for (const Expr &operand : expr.operands()) {
    operands.push_back(substitute(operand, replacements));
    changed |= !(operands.back() == operand);
  }
  return changed ? rebuilt(expr, operands) : expr;
}

//===-- Evaluation ----------------------------------------------------------------------------===//

using Values = std::map<std::string, int64_t>;
using Result = std::optional<int64_t>;

static Result divided(ExprOp op, int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN && op != ExprOp::Mod))
    return std::nullopt;
  if (op == ExprOp::Mod)
    return floorRemainder(a, b);
  int64_t q = floorQuotient(a, b);
  return op == ExprOp::CeilDiv && floorRemainder(a, b) != 0 ? q + 1 : q;
}

static Result combined(ExprOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
  case ExprOp::Add:
    return __builtin_add_overflow(a, b, &out) ? Result() : out;
  case ExprOp::Mul:
    return __builtin_mul_overflow(a, b, &out) ? Result() : out;
  case ExprOp::Min:
    return std::min(a, b);
  case ExprOp::Max:
    return std::max(a, b);
  case ExprOp::Eq:
    return a == b;
  case ExprOp::Ne:
    return a != b;
  case ExprOp::Lt:
    return a < b;
  case ExprOp::Le:
    return a <= b;
  default:
    return divided(op, a, b);
  }
}

/// A decided operand decides, whatever the others are: `And(n != 0, m//n > 2)` is 0 for n == 0.
static Result evaluateLogic(const Expr &e, const Values &values) {
  int64_t deciding = e.op() == ExprOp::Or;
  bool unknown = false;
  for (const Expr &operand : e.operands()) {
    Result v = evaluate(operand, values);
    if (!v)
      unknown = true;
    else if ((*v != 0) == deciding)
      return deciding;
  }
  return unknown ? Result() : Result(1 - deciding);
}

std::optional<int64_t> evaluate(const Expr &e, const Values &values) {
  const std::vector<Expr> &operands = e.operands();
  switch (e.op()) {
  case ExprOp::Constant:
    return e.constant();
  case ExprOp::Symbol: {
    auto it = values.find(e.symbolName());
    return it == values.end() ? Result() : Result(it->second);
  }
  case ExprOp::And:
  case ExprOp::Or:
    return evaluateLogic(e, values);
  case ExprOp::Not: {
    Result v = evaluate(operands[0], values);
    return v ? Result(*v == 0) : v;
  }
  case ExprOp::Select: {
    Result condition = evaluate(operands[0], values);
    return condition ? evaluate(operands[*condition ? 1 : 2], values) : condition;
  }
  case ExprOp::NextPowerOf2: {
    Result v = evaluate(operands[0], values);
    return v ? powerOf2From(*v) : v;
  }
  default:
    break;
  }
  Result result = evaluate(operands[0], values);
  for (size_t i = 1; i < operands.size() && result; ++i) {
    Result next = evaluate(operands[i], values);
    result = next ? combined(e.op(), *result, *next) : next;
  }
  return result;
}

} // namespace pellucid::symbolic
