// SPDX-License-Identifier: Apache-2.0
#include "tt/AxisInfo.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;

namespace pellucid::tt {

int64_t axisUnit(Type type) {
  auto pointer = dyn_cast<PointerType>(getElementTypeOrSelf(type));
  if (!pointer)
    return 1;
  Type pointee = pointer.getPointeeType();
  if (pointee.isIntOrFloat())
    return std::max<int64_t>(1, pointee.getIntOrFloatBitWidth() / 8);
  return isa<PointerType>(pointee) ? 8 : 1;
}

static int64_t lowestBit(int64_t number) { return number & -number; }

//===--- the facts ----------------------------------------------------------------------------===//

std::optional<unsigned> AxisInfo::contiguousDim() const {
  std::optional<unsigned> best;
  for (unsigned d = rank(); d-- > 0;)
    if (contiguity[d] > (best ? contiguity[*best] : 1))
      best = d;
  return best;
}

int64_t AxisInfo::divisibilityAt(unsigned dim, int64_t step, int64_t unit) const {
  return step >= contiguity[dim] ? divisibility[dim]
                                 : std::min(divisibility[dim], step * lowestBit(unit));
}

int64_t AxisInfo::divisibilityOfAll(int64_t unit) const {
  int64_t all = 1;
  for (unsigned dim = 0; dim < rank(); ++dim)
    all = std::max(all, divisibilityAt(dim, 1, unit));
  return all;
}

AxisInfo AxisInfo::unknown(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  size_t rank = tile ? tile.getRank() : 1;
  AxisInfo info;
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  return info;
}

static AxisInfo::PerDim smaller(const AxisInfo::PerDim &a, const AxisInfo::PerDim &b) {
  AxisInfo::PerDim both;
  for (auto [left, right] : llvm::zip_equal(a, b))
    both.push_back(std::min(left, right));
  return both;
}

AxisInfo AxisInfo::join(const AxisInfo &a, const AxisInfo &b) {
  if (!a.isKnown() || !b.isKnown())
    return a.isKnown() ? a : b;
  AxisInfo both;
  both.contiguity = smaller(a.contiguity, b.contiguity);
  both.constancy = smaller(a.constancy, b.constancy);
  // Shorter groups begin at more places. A unit of 1 is the worst case for pointers as well.
  for (unsigned dim = 0; dim < a.rank(); ++dim)
    both.divisibility.push_back(std::min(a.divisibilityAt(dim, both.contiguity[dim]),
                                         b.divisibilityAt(dim, both.contiguity[dim])));
  both.nonNegative = a.nonNegative && b.nonNegative;
  both.fallsBelowZero = a.fallsBelowZero || b.fallsBelowZero;
  return both;
}

std::string AxisInfo::text() const {
  auto list = [](const PerDim &numbers) {
    std::string text = "[";
    for (auto [i, number] : llvm::enumerate(numbers))
      text += (i ? ", " : "") + std::to_string(number);
    return text + "]";
  };
  return "contiguity = " + list(contiguity) + ", divisibility = " + list(divisibility) +
         ", constancy = " + list(constancy) +
         (nonNegative      ? ", nonnegative"
          : fallsBelowZero ? ", falls below zero"
                           : "");
}

//===--- what the program says beside its operations ------------------------------------------===//

namespace {

/// One number, or one per dim.
void raiseTo(AxisInfo::PerDim &known, Attribute promised) {
  for (auto [dim, number] : llvm::enumerate(known)) {
    int64_t value = 0;
    if (auto one = dyn_cast_or_null<IntegerAttr>(promised))
      value = one.getInt();
    else if (auto list = dyn_cast_or_null<DenseIntElementsAttr>(promised);
             list && list.getNumElements() == static_cast<int64_t>(known.size()))
      value = (*(list.begin() + dim)).getSExtValue();
    number = std::max(number, std::min(lowestBit(value), AxisInfo::mostDivisibility));
  }
}

void takeHints(AxisInfo &info, llvm::function_ref<Attribute(StringRef)> attribute) {
  raiseTo(info.contiguity, attribute("tt.contiguity"));
  raiseTo(info.divisibility, attribute("tt.divisibility"));
  raiseTo(info.constancy, attribute("tt.constancy"));
  info.nonNegative |= attribute("pellucid.nonnegative") != nullptr;
  info.fallsBelowZero &= !info.nonNegative;
}

/// An argument of the function: its attributes, and that elements are aligned.
AxisInfo ofArgument(FuncOp function, BlockArgument argument) {
  AxisInfo info = AxisInfo::unknown(argument.getType());
  if (isScalarPointer(argument.getType()))
    info.divisibility[0] = lowestBit(axisUnit(argument.getType()));
  takeHints(info,
            [&](StringRef name) { return function.getArgAttr(argument.getArgNumber(), name); });
  return info;
}

/// What `llvm.intr.assume` says of a scalar.
struct Assumption {
  int64_t divisibility = 1;
  bool nonNegative = false;
};
using Assumptions = llvm::DenseMap<Value, Assumption>;

void assume(Value condition, Assumptions &assumptions) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    assume(both.getLhs(), assumptions);
    assume(both.getRhs(), assumptions);
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  APInt bound;
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&bound)))
    return;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sge:
    assumptions[compare.getLhs()].nonNegative |= bound.sge(0);
    break;
  case arith::CmpIPredicate::sgt:
    assumptions[compare.getLhs()].nonNegative |= bound.sge(-1);
    break;
  case arith::CmpIPredicate::eq: {
    APInt divisor;
    auto rest = compare.getLhs().getDefiningOp<arith::RemSIOp>();
    if (!rest || !bound.isZero() || !matchPattern(rest.getRhs(), m_ConstantInt(&divisor)) ||
        divisor.sle(0))
      break;
    int64_t &known = assumptions[rest.getLhs()].divisibility;
    known = std::max(known, lowestBit(divisor.getSExtValue()));
    break;
  }
  default:
    break;
  }
}

/// Those that every run meets, and of values those that stand in the block that computes them.
Assumptions assumptionsOf(FuncOp function) {
  Assumptions assumptions;
  function.walk([&](AssumeOp op) {
    Assumptions inBlock;
    assume(op->getOperand(0), inBlock);
    for (auto [value, known] : inBlock)
      if (value.getParentBlock() == op->getBlock() ||
          op->getBlock() == &function.getBody().front()) {
        Assumption &all = assumptions[value];
        all.nonNegative |= known.nonNegative;
        all.divisibility = std::max(all.divisibility, known.divisibility);
      }
  });
  return assumptions;
}

//===--- the data flow ------------------------------------------------------------------------===//

using AxisLattice = dataflow::Lattice<AxisInfo>;

class AxisDataFlow : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  AxisDataFlow(DataFlowSolver &solver, FuncOp function)
      : SparseForwardDataFlowAnalysis(solver), function(function),
        assumptions(assumptionsOf(function)) {}

  void setToEntryState(AxisLattice *lattice) override {
    Value value = lattice->getAnchor();
    auto argument = dyn_cast<BlockArgument>(value);
    bool isOfKernel = argument && argument.getOwner()->getParentOp() == function;
    set(lattice, isOfKernel ? ofArgument(function, argument) : AxisInfo::unknown(value.getType()));
  }

  LogicalResult visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                               ArrayRef<AxisLattice *> results) override {
    SmallVector<AxisInfo> known;
    for (const AxisLattice *operand : operands) {
      if (!operand->getValue().isKnown())
        return success(); // comes again
      known.push_back(operand->getValue());
    }
    auto made = axisTransfer(op, known);
    // A hint on an operation is of its one result.
    if (op->getNumResults() == 1)
      takeHints(made[0], [&](StringRef name) { return op->getDiscardableAttr(name); });
    for (auto [lattice, info] : llvm::zip_equal(results, made))
      set(lattice, std::move(info));
    return success();
  }

  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<AxisLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || arguments.empty())
      return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                                         firstIndex);
    ProgramPoint *start = getProgramPointBefore(loop.getBody());
    const AxisInfo &lower = getLatticeElementFor(start, loop.getLowerBound())->getValue();
    const AxisInfo &step = getLatticeElementFor(start, loop.getStep())->getValue();
    if (!lower.isKnown() || !step.isKnown())
      return;
    AxisInfo index = AxisInfo::unknown(loop.getInductionVar().getType());
    index.divisibility[0] = std::min(lower.divisibility[0], step.divisibility[0]);
    index.nonNegative = lower.nonNegative && !loop.getUnsignedCmp();
    set(arguments[0], std::move(index));
  }

private:
  void set(AxisLattice *lattice, AxisInfo info) {
    if (auto found = assumptions.find(lattice->getAnchor()); found != assumptions.end()) {
      info.nonNegative |= found->second.nonNegative;
      info.fallsBelowZero &= !info.nonNegative;
      for (int64_t &divisor : info.divisibility)
        divisor = std::max(divisor, found->second.divisibility);
    }
    propagateIfChanged(lattice, lattice->join(info));
  }

  FuncOp function;
  Assumptions assumptions;
};

} // namespace

struct AxisAnalysis::Implementation {
  DataFlowSolver solver;
};

AxisAnalysis::AxisAnalysis(FuncOp function) : implementation(new Implementation) {
  DataFlowSolver &solver = implementation->solver;
  // Which regions run is asked of these two.
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<AxisDataFlow>(function);
  (void)solver.initializeAndRun(function);
}
AxisAnalysis::~AxisAnalysis() = default;

AxisInfo AxisAnalysis::of(Value value) const {
  const auto *lattice = implementation->solver.lookupState<AxisLattice>(value);
  return lattice && lattice->getValue().isKnown() ? lattice->getValue()
                                                  : AxisInfo::unknown(value.getType());
}

} // namespace pellucid::tt
