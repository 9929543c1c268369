// SPDX-License-Identifier: Apache-2.0
// Loops, conditions, calls. Branches between blocks are followed by Machine::runRegion.
#include "reference/tt/Machine.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace pellucid::reference {

static SmallVector<TilePtr> valuesOf(Machine &machine, ValueRange values) {
  SmallVector<TilePtr> tiles;
  for (Value value : values)
    tiles.push_back(machine.get(value));
  return tiles;
}

static void setResults(Machine &machine, Operation &op, ArrayRef<TilePtr> values) {
  for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
    machine.set(result, value);
}

/// The number of iterations is fixed before the first, so that an induction variable cannot wrap.
static uint64_t tripCount(Machine &machine, scf::ForOp loop, Type type) {
  unsigned width = widthOf(type);
  auto bound = [&](Value value) -> __int128 {
    uint64_t bits = machine.get(value)->elements[0].bits;
    return loop.getUnsignedCmp() ? static_cast<__int128>(bits) : signExtended(bits, width);
  };
  __int128 lower = bound(loop.getLowerBound()), upper = bound(loop.getUpperBound());
  __int128 step = bound(loop.getStep());
  if (step <= 0)
    machine.fail(*loop, "expects a positive step, got " +
                            std::to_string(static_cast<int64_t>(step)) + ", in " +
                            machine.programText());
  return upper <= lower ? 0 : static_cast<uint64_t>((upper - lower + step - 1) / step);
}

static void evaluateFor(Machine &machine, Operation &op) {
  auto loop = cast<scf::ForOp>(op);
  Type type = loop.getInductionVar().getType();
  uint64_t count = tripCount(machine, loop, type);
  uint64_t lower = machine.get(loop.getLowerBound())->elements[0].bits;
  uint64_t step = machine.get(loop.getStep())->elements[0].bits;
  SmallVector<TilePtr> carried = valuesOf(machine, loop.getInitArgs());
  for (uint64_t i = 0; i < count; ++i) {
    SmallVector<TilePtr> arguments{
        std::make_shared<const TileValue>(scalarOf(type, wrap(lower + i * step, widthOf(type))))};
    arguments.append(carried);
    carried = machine.runRegion(loop.getRegion(), arguments).operands;
  }
  setResults(machine, op, carried);
}

/// Whether nothing follows from `op`: it writes nothing, and what uses its results does neither.
static bool isWithoutEffect(Operation &op) {
  return wouldOpBeTriviallyDead(&op) &&
         llvm::all_of(op.getUsers(), [](Operation *user) { return isWithoutEffect(*user); });
}

static bool isNumber(Type type) { return getElementTypeOrSelf(type).isIntOrFloat(); }

static void evaluateWhile(Machine &machine, Operation &op) {
  auto loop = cast<scf::WhileOp>(op);
  // Compilers remove such a loop, Triton's too, whether or not it would end.
  if (llvm::all_of(op.getResultTypes(), isNumber) && isWithoutEffect(op)) {
    for (Value result : op.getResults())
      machine.set(result, std::make_shared<const TileValue>(zerosOf(result.getType())));
    return;
  }
  SmallVector<TilePtr> carried = valuesOf(machine, loop.getInits());
  while (true) {
    SmallVector<TilePtr> condition = machine.runRegion(loop.getBefore(), carried).operands;
    ArrayRef<TilePtr> passed = ArrayRef(condition).drop_front();
    if (!condition[0]->elements[0].bits)
      return setResults(machine, op, passed);
    carried = machine.runRegion(loop.getAfter(), passed).operands;
  }
}

static void evaluateIf(Machine &machine, Operation &op) {
  auto branch = cast<scf::IfOp>(op);
  bool taken = machine.get(branch.getCondition())->elements[0].bits;
  Region &region = taken ? branch.getThenRegion() : branch.getElseRegion();
  if (!region.empty())
    setResults(machine, op, machine.runRegion(region, {}).operands);
}

static void evaluateIndexSwitch(Machine &machine, Operation &op) {
  auto branch = cast<scf::IndexSwitchOp>(op);
  auto value = static_cast<int64_t>(machine.get(branch.getArg())->elements[0].bits);
  Region *region = &branch.getDefaultRegion();
  for (auto [index, candidate] : llvm::enumerate(branch.getCases()))
    if (candidate == value)
      region = &branch.getCaseRegions()[index];
  setResults(machine, op, machine.runRegion(*region, {}).operands);
}

static void evaluateExecuteRegion(Machine &machine, Operation &op) {
  setResults(machine, op, machine.runRegion(op.getRegion(0), {}).operands);
}

static void evaluateCall(Machine &machine, Operation &op) {
  StringRef callee = cast<tt::CallOp>(op).getCallee();
  setResults(machine, op, machine.call(op, callee, valuesOf(machine, op.getOperands())));
}

/// Programs run one after the other and in order: nothing to wait for.
static void evaluateBarrier(Machine &, Operation &) {}

static void evaluateAssume(Machine &machine, Operation &op) {
  if (!machine.operand(op, 0).elements[0].bits)
    machine.report(op, "assume", "tl.assume does not hold");
}

void addControlHandlers(HandlerTable &table) {
  table["scf.for"] = evaluateFor;
  table["scf.while"] = evaluateWhile;
  table["scf.if"] = evaluateIf;
  table["scf.index_switch"] = evaluateIndexSwitch;
  table["scf.execute_region"] = evaluateExecuteRegion;
  table["tt.call"] = evaluateCall;
  table["gpu.barrier"] = evaluateBarrier;
  table["ttg.barrier"] = evaluateBarrier;
  table["llvm.intr.assume"] = evaluateAssume;
}

} // namespace pellucid::reference
