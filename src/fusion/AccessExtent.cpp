// SPDX-License-Identifier: Apache-2.0
// Offsets are sums of variables (lanes, program ids, loop counters), each times a coefficient that
// the launch fixes. They count like digits: with the smallest first, each coefficient must be the
// number of offsets that the digits before it reach; a bound in the mask says where a digit ends
// early.
//
// Example: row*100 + column under column < 100, column < 128 lanes: the first digit reaches 128,
// ends at 100, and the row's coefficient is 100, so M rows cover 100*M elements.
#include "fusion/AccessExtent.h"

#include "tt/OffsetAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <set>

namespace pellucid::fusion {

using namespace mlir;
using symbolic::Expr;
using tt::OffsetForm;
using tt::OffsetSymbol;

namespace {

/// A sum over variables, with coefficients in terms of the program's symbols.
struct Linear {
  std::map<OffsetSymbol, Expr> coefficients;
  Expr uniform = 0;

  Expr of(const OffsetSymbol &variable) const {
    auto entry = coefficients.find(variable);
    return entry == coefficients.end() ? Expr(0) : entry->second;
  }
  void add(const Linear &other, const Expr &times) {
    uniform = uniform + other.uniform * times;
    for (const auto &[variable, coefficient] : other.coefficients)
      coefficients[variable] = of(variable) + coefficient * times;
  }
};

/// lhs < bound, where `lhs` has no uniform part.
struct Bound {
  Linear lhs;
  Expr bound = 0;
};

class Extent {
public:
  explicit Extent(const LaunchValues &l) : launch(l), symbols(*l.symbols) {}

  /// The offset behind `pointer` and the variables it counts by; false when it is no such sum.
  bool readPointer(Value pointer) {
    // Pointers to bools are cast to pointers to bytes.
    if (auto cast = pointer.getDefiningOp<tt::BitcastOp>())
      pointer = cast.getSrc();
    auto form = tt::pointerForm(pointer);
    if (!form)
      return false;
    auto linear = linearOf(form->offset);
    if (!linear)
      return false;
    offset = *linear;
    if (auto tile = dyn_cast<RankedTensorType>(pointer.getType()))
      for (int64_t d = 0; d < tile.getRank(); ++d)
        addVariable(OffsetSymbol::lane(static_cast<unsigned>(d)), tile.getDimSize(d));
    for (unsigned axis = 0; axis < 3; ++axis)
      if (!joinedIds.count(axis))
        addVariable(OffsetSymbol::programId(axis), launch.grid[axis]);
    return true;
  }

  /// The loops around `op`, outermost last, as variables; false for other control flow than loops
  /// and bounds checks.
  bool readSurroundings(Operation *op, std::vector<tt::OffsetComparison> &conditions) {
    SmallVector<scf::ForOp> loops;
    for (Operation *at = op; !isa<tt::FuncOp>(at->getParentOp()); at = at->getParentOp()) {
      if (auto loop = dyn_cast<scf::ForOp>(at->getParentOp())) {
        loops.push_back(loop);
        continue;
      }
      auto branch = dyn_cast<scf::IfOp>(at->getParentOp());
      auto form = branch ? tt::maskForm(branch.getCondition()) : std::nullopt;
      if (!form)
        return false;
      bool taken = at->getParentRegion() == &branch.getThenRegion();
      if (!taken && form->size() != 1)
        return false;
      if (!taken)
        form->front().predicate = arith::invertPredicate(form->front().predicate);
      conditions.insert(conditions.end(), form->begin(), form->end());
    }
    while (!loops.empty())
      if (!readLoop(loops.pop_back_val()))
        return false;
    return true;
  }

  bool readComparison(const tt::OffsetComparison &comparison) {
    Linear lhs, rhs;
    auto left = linearOf(comparison.lhs), right = linearOf(comparison.rhs);
    if (!left || !right)
      return false;
    Linear difference = *left;
    difference.add(*right, -1);
    using P = arith::CmpIPredicate;
    bool isUnsigned = comparison.predicate >= P::ult;
    if (isUnsigned && (!isNonNegative(*left) || !isNonNegative(*right)))
      return false;
    switch (comparison.predicate) {
    case P::slt:
    case P::ult:
      return addBound(difference, 0);
    case P::sle:
    case P::ule:
      return addBound(difference, 1);
    case P::sgt:
    case P::ugt:
      return addBound(negated(difference), 0);
    case P::sge:
    case P::uge:
      return addBound(negated(difference), 1);
    default:
      return false;
    }
  }

  std::optional<std::string> refuseCover(const Expr &elements);
  /// Programs that differ in some grid axis only have the same offsets.
  bool skipsPrograms() const;

private:
  bool equal(const Expr &a, const Expr &b) const { return a == b || symbols.proveEqual(a, b); }
  bool atMost(const Expr &a, const Expr &b) const {
    return symbols.prove(symbolic::lessEqual(a, b)).value_or(false);
  }

  static Linear negated(const Linear &linear) {
    Linear result;
    result.add(linear, -1);
    return result;
  }

  /// Variables count from 0.
  bool isNonNegative(const Linear &linear) const {
    return atMost(0, linear.uniform) &&
           std::all_of(linear.coefficients.begin(), linear.coefficients.end(),
                       [&](const auto &term) { return atMost(0, term.second); });
  }

  /// difference < slack. The same bound twice (in a mask and in a branch around the store) counts
  /// once.
  bool addBound(Linear difference, int64_t slack) {
    Bound bound;
    bound.bound = Expr(slack) - difference.uniform;
    difference.uniform = 0;
    bound.lhs = std::move(difference);
    for (const Bound &known : bounds)
      if (known.bound == bound.bound && known.lhs.coefficients == bound.lhs.coefficients)
        return true;
    bounds.push_back(std::move(bound));
    return true;
  }

  /// A program id that a loop's counter has taken up, used on its own, too: the two vary together.
  bool mixesJoinedIds() const {
    auto mentions = [&](const Linear &linear) {
      for (unsigned axis : joinedIds)
        if (!equal(linear.of(OffsetSymbol::programId(axis)), 0))
          return true;
      return false;
    };
    return mentions(offset) || std::any_of(bounds.begin(), bounds.end(),
                                           [&](const Bound &b) { return mentions(b.lhs); });
  }

  void addVariable(const OffsetSymbol &variable, const Expr &count) {
    if (equal(count, 1))
      offset.coefficients.erase(variable);
    else
      counts[variable] = count;
  }

  bool readLoop(scf::ForOp loop) {
    auto lower = linearOfValue(loop.getLowerBound()), upper = linearOfValue(loop.getUpperBound());
    auto step = valueOf(loop.getStep());
    if (!lower || !upper || !step)
      return false;
    OffsetSymbol counter = OffsetSymbol::ofValue(loop.getInductionVar());
    // `for i in range(program_id, n, num_programs)`: all programs together count from 0 to n.
    for (unsigned axis = 0; axis < 3; ++axis) {
      OffsetSymbol id = OffsetSymbol::programId(axis);
      if (lower->coefficients.size() == 1 && equal(lower->of(id), 1) && equal(lower->uniform, 0) &&
          equal(*step, launch.grid[axis]) && upper->coefficients.empty() &&
          atMost(1, launch.grid[axis])) {
        Linear self;
        self.coefficients[counter] = 1;
        counters[counter] = self;
        joinedIds.insert(axis);
        addVariable(counter, upper->uniform);
        return true;
      }
    }
    Linear length = *upper;
    length.add(*lower, -1);
    for (const auto &[variable, coefficient] : length.coefficients)
      if (!equal(coefficient, 0))
        return false;
    if (!atMost(1, *step))
      return false;
    Linear self = *lower;
    self.coefficients[counter] = *step;
    counters[counter] = self;
    addVariable(counter, symbolic::ceilDiv(length.uniform, *step));
    return true;
  }

  std::optional<Linear> linearOfValue(Value value) {
    auto form = tt::offsetForm(value);
    return form ? linearOf(*form) : std::nullopt;
  }

  std::optional<Linear> linearOf(const OffsetForm &form) {
    Linear result;
    for (const auto &[monomial, coefficient] : form.terms()) {
      Expr factor = coefficient;
      std::optional<Linear> variable;
      for (const OffsetSymbol &symbol : monomial) {
        if (auto counted = variableOf(symbol)) {
          if (variable)
            return std::nullopt;
          variable = counted;
          continue;
        }
        auto value = symbol.kind == OffsetSymbol::NumPrograms
                         ? std::optional(launch.grid[symbol.dim])
                         : valueOf(symbol.value());
        if (!value)
          return std::nullopt;
        factor = factor * *value;
      }
      if (variable)
        result.add(*variable, factor);
      else
        result.uniform = result.uniform + factor;
    }
    return result;
  }

  /// Lanes, program ids and loop counters.
  std::optional<Linear> variableOf(const OffsetSymbol &symbol) const {
    Linear self;
    if (symbol.kind == OffsetSymbol::Lane || symbol.kind == OffsetSymbol::ProgramId) {
      self.coefficients[symbol] = 1;
      return self;
    }
    if (auto counter = counters.find(symbol); counter != counters.end())
      return counter->second;
    return std::nullopt;
  }

  /// The value of a scalar that is the same in all programs.
  std::optional<Expr> valueOf(Value value) const {
    IntegerAttr number;
    if (matchPattern(value, m_Constant(&number)))
      return Expr(number.getValue().getSExtValue());
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      bool ofKernel = isa<tt::FuncOp>(argument.getOwner()->getParentOp());
      return ofKernel && argument.getArgNumber() < launch.arguments.size()
                 ? launch.arguments[argument.getArgNumber()]
                 : std::nullopt;
    }
    Operation *op = value.getDefiningOp();
    if (auto programs = dyn_cast<tt::GetNumProgramsOp>(op))
      return launch.grid[programs.getAxisAsInt()];
    if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
      return valueOf(op->getOperand(0));
    if (op->getNumOperands() != 2)
      return std::nullopt;
    auto a = valueOf(op->getOperand(0)), b = valueOf(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return *a + *b;
    if (isa<arith::SubIOp>(op))
      return *a - *b;
    if (isa<arith::MulIOp>(op))
      return *a * *b;
    if (isa<arith::MinSIOp>(op))
      return symbolic::min(*a, *b);
    if (isa<arith::MaxSIOp>(op))
      return symbolic::max(*a, *b);
    // The kernel's division rounds to zero, which is Python's where nothing is negative.
    if (isa<arith::DivSIOp, arith::CeilDivSIOp>(op) && atMost(0, *a) && atMost(1, *b))
      return isa<arith::DivSIOp>(op) ? symbolic::floorDiv(*a, *b) : symbolic::ceilDiv(*a, *b);
    return std::nullopt;
  }

  /// `bound` speaks of exactly the digits in `members`, in units of `unit`.
  bool isOver(const Bound &bound, const std::set<OffsetSymbol> &members, const Expr &unit) const {
    for (const auto &[variable, count] : counts) {
      Expr expected = members.count(variable) ? offset.of(variable) : Expr(0);
      if (!equal(bound.lhs.of(variable) * unit, expected))
        return false;
    }
    return true;
  }

  /// True for every value of the variables.
  bool holdsAlways(const Bound &bound) const {
    Expr highest = 0;
    for (const auto &[variable, coefficient] : bound.lhs.coefficients) {
      auto count = counts.find(variable);
      if (count == counts.end())
        continue;
      if (atMost(0, coefficient))
        highest = highest + coefficient * (count->second - 1);
      else if (!atMost(coefficient, 0))
        return false;
    }
    return atMost(highest + 1, bound.bound);
  }

  const LaunchValues &launch;
  const symbolic::SymbolTable &symbols;
  Linear offset;
  std::vector<Bound> bounds;
  std::map<OffsetSymbol, Expr> counts;
  std::map<OffsetSymbol, Linear> counters;
  std::set<unsigned> joinedIds;
};

std::optional<std::string> Extent::refuseCover(const Expr &elements) {
  if (mixesJoinedIds())
    return "its offsets are not known";
  if (!equal(offset.uniform, 0))
    return "it does not start at the first element";
  std::map<OffsetSymbol, Expr> left;
  for (const auto &[variable, count] : counts) {
    if (equal(offset.of(variable), 0))
      return variable.kind == OffsetSymbol::ProgramId
                 ? "several programs touch the same elements"
                 : "the same elements are touched more than once";
    left[variable] = count;
  }
  // The digit at hand: its variables in order, with the number of offsets that all before each one
  // reach.
  std::vector<std::pair<OffsetSymbol, Expr>> digit;
  Expr reached = 1;
  std::set<const Bound *> used;
  auto takeNext = [&] {
    for (const auto &[variable, count] : left)
      if (equal(offset.of(variable), reached)) {
        digit.emplace_back(variable, reached);
        reached = reached * count;
        left.erase(variable);
        return true;
      }
    return false;
  };
  // The last variables of the digit that `bound` speaks of exactly: the offset where they begin.
  auto beginOf = [&](const Bound &bound) -> std::optional<std::pair<Expr, Expr>> {
    std::set<OffsetSymbol> members;
    Expr count = 1;
    for (size_t i = digit.size(); i-- > 0;) {
      members.insert(digit[i].first);
      count = count * counts.at(digit[i].first);
      if (isOver(bound, members, digit[i].second))
        return std::pair(digit[i].second, count);
    }
    return std::nullopt;
  };
  auto endDigit = [&](bool last) {
    for (const Bound &bound : bounds) {
      auto begin = used.count(&bound) ? std::nullopt : beginOf(bound);
      if (!begin || !atMost(0, bound.bound) || !atMost(bound.bound, begin->second))
        continue;
      if (last && !equal(begin->first * bound.bound, elements))
        continue;
      reached = begin->first * bound.bound;
      digit.clear();
      used.insert(&bound);
      return true;
    }
    return false;
  };
  while (!left.empty())
    if (!takeNext() && !endDigit(false))
      return "the elements that the programs touch do not follow one another";
  (void)endDigit(true);
  if (!atMost(elements, reached))
    return "the grid is not known to reach all elements";
  for (const Bound &bound : bounds) {
    if (used.count(&bound) || holdsAlways(bound))
      continue;
    auto begin = beginOf(bound);
    if (!begin || !atMost(elements, begin->first * bound.bound))
      return "the mask is not known to let all elements through";
  }
  return std::nullopt;
}

bool Extent::skipsPrograms() const {
  for (const auto &[variable, count] : counts)
    if (variable.kind == OffsetSymbol::ProgramId && equal(offset.of(variable), 0))
      return true;
  return false;
}

} // namespace

static std::optional<std::string> refusePartialAccess(Operation *access, Value pointer, Value mask,
                                                      const LaunchValues &launch,
                                                      const Expr &elements) {
  Extent extent(launch);
  std::vector<tt::OffsetComparison> conditions;
  if (!extent.readSurroundings(access, conditions))
    return "it is on a condition, or in a loop whose bounds are not known";
  if (!extent.readPointer(pointer))
    return "its offsets are not known";
  if (mask) {
    auto form = tt::maskForm(mask);
    if (!form)
      return "its mask does not bound the offsets";
    conditions.insert(conditions.end(), form->begin(), form->end());
  }
  for (const tt::OffsetComparison &comparison : conditions)
    if (!extent.readComparison(comparison))
      return "its mask does not bound the offsets";
  return extent.refuseCover(elements);
}

std::optional<std::string> refusePartialStore(tt::StoreOp store, const LaunchValues &launch,
                                              const Expr &elements) {
  return refusePartialAccess(store, store.getPtr(), store.getMask(), launch, elements);
}

std::optional<std::string> refusePartialLoad(tt::LoadOp load, const LaunchValues &launch,
                                             const Expr &elements) {
  return refusePartialAccess(load, load.getPtr(), load.getMask(), launch, elements);
}

bool isLoadedByManyPrograms(tt::LoadOp load, const LaunchValues &launch) {
  Extent extent(launch);
  std::vector<tt::OffsetComparison> conditions;
  return extent.readSurroundings(load, conditions) && extent.readPointer(load.getPtr()) &&
         extent.skipsPrograms();
}

} // namespace pellucid::fusion
