// SPDX-License-Identifier: Apache-2.0
// Loops and branches on scalars, which all threads of a block take alike. Values that cross a
// region border are phi nodes, one per register for a tile.
#include "codegen/common/ControlFlow.h"
#include "codegen/cuda/CudaEmitter.h"

namespace pellucid::codegen {

using llvm::Value;
namespace scf = mlir::scf;

/// The accesses of a loop's body precede its next round.
static void addAccessesOf(mlir::Operation *op, UnorderedAccesses &accesses) {
  op->walk([&](tt::LoadOp load) { accesses.push_back({load.getPtr(), false, true}); });
  op->walk([&](ttgpu::AsyncCopyOp copy) { accesses.push_back({copy.getPtr(), false, true}); });
  op->walk([&](tt::StoreOp store) { accesses.push_back({store.getPtr(), true, true}); });
}

static void append(UnorderedAccesses &to, const UnorderedAccesses &more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::optional<Layout> CudaEmitter::layoutToCarry(mlir::Value value) {
  if (!mlir::isa<mlir::RankedTensorType>(value.getType()))
    return std::nullopt;
  checkedTile(value.getParentBlock()->getParentOp(), value);
  return wantedLayout(value);
}

CudaEmitter::Carried CudaEmitter::makePhis(mlir::Type type, const std::optional<Layout> &layout) {
  Carried carried{layout, {}};
  for (unsigned r = 0; r < (layout ? layout->registerCount() : 1); ++r)
    carried.phis.push_back(b.CreatePHI(registerType(b.getContext(), elementTypeOf(type)), 2));
  return carried;
}

void CudaEmitter::bindPhis(const Carried &carried, mlir::Value as) {
  Registers registers(carried.phis.begin(), carried.phis.end());
  if (carried.layout)
    homes[as] = {*carried.layout, registers};
  else
    define(as, registers[0]);
}

Registers CudaEmitter::registersOf(mlir::Value value, const std::optional<Layout> &layout) {
  return layout ? evaluate(value, *layout) : Registers{scalar(value)};
}

void CudaEmitter::addIncoming(const Carried &carried, const Registers &values,
                              llvm::BasicBlock *from) {
  for (auto [phi, value] : llvm::zip(carried.phis, values))
    phi->addIncoming(value, from);
}

void CudaEmitter::emitFor(scf::ForOp op) {
  std::vector<std::optional<Layout>> layouts;
  std::vector<Registers> inits, yields;
  for (auto [argument, init] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs())) {
    layouts.push_back(layoutToCarry(argument));
    inits.push_back(registersOf(init, layouts.back()));
  }
  UnorderedAccesses accessesBefore = unordered;
  addAccessesOf(op, unordered);
  auto loop = CountedLoop::begin(b, scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                                 scalar(op.getStep()), op.getUnsignedCmp());
  std::vector<Carried> carried;
  for (size_t i = 0; i < inits.size(); ++i) {
    carried.push_back(makePhis(op.getRegionIterArgs()[i].getType(), layouts[i]));
    addIncoming(carried[i], inits[i], loop.before);
  }
  {
    Scope scope(*this);
    forgetExchanges();
    define(op.getInductionVar(), loop.index);
    for (size_t i = 0; i < inits.size(); ++i)
      bindPhis(carried[i], op.getRegionIterArgs()[i]);
    emitBlock(*op.getBody());
    for (size_t i = 0; i < inits.size(); ++i)
      yields.push_back(registersOf(op.getYieldedValues()[i], layouts[i]));
  }
  loop.end();
  forgetExchanges();
  for (size_t i = 0; i < inits.size(); ++i)
    addIncoming(carried[i], yields[i], loop.last);
  append(unordered, accessesBefore);
  for (size_t i = 0; i < inits.size(); ++i) {
    Carried results = makePhis(op.getResult(i).getType(), layouts[i]);
    addIncoming(results, inits[i], loop.before);
    addIncoming(results, yields[i], loop.last);
    bindPhis(results, op.getResult(i));
  }
}

void CudaEmitter::emitIf(scf::IfOp op) {
  std::vector<std::optional<Layout>> layouts;
  for (mlir::Value made : op.getResults())
    layouts.push_back(layoutToCarry(made));
  std::vector<Registers> yields[2];
  UnorderedAccesses before = unordered, ofSides[2];
  BranchEnds ends = emitBranches(b, scalar(op.getCondition()), [&](unsigned which) {
    unordered = before;
    forgetExchanges();
    Scope scope(*this);
    mlir::Region &region = op->getRegion(which);
    if (!region.empty()) {
      emitBlock(region.front());
      for (auto [i, value] : llvm::enumerate(region.front().getTerminator()->getOperands()))
        yields[which].push_back(registersOf(value, layouts[i]));
    }
    ofSides[which] = unordered;
  });
  forgetExchanges();
  unordered = ofSides[0];
  append(unordered, ofSides[1]);
  for (auto [i, made] : llvm::enumerate(op.getResults())) {
    Carried result = makePhis(made.getType(), layouts[i]);
    for (unsigned which : {0, 1})
      addIncoming(result, yields[which][i], ends[which]);
    bindPhis(result, made);
  }
}

void CudaEmitter::emitWhile(scf::WhileOp op) {
  std::vector<std::optional<Layout>> layouts;
  std::vector<Registers> inits;
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), op.getInits())) {
    layouts.push_back(layoutToCarry(argument));
    inits.push_back(registersOf(init, layouts.back()));
  }
  UnorderedAccesses accessesBefore = unordered;
  addAccessesOf(op, unordered);
  auto loop = TestedLoop::begin(b);
  std::vector<Carried> carried;
  for (size_t i = 0; i < inits.size(); ++i) {
    carried.push_back(makePhis(op.getBeforeArguments()[i].getType(), layouts[i]));
    addIncoming(carried[i], inits[i], loop.before);
    bindPhis(carried[i], op.getBeforeArguments()[i]);
  }
  forgetExchanges();
  // The test runs before the body and before what follows the loop, so its values serve both.
  Scope scope(*this);
  emitBlock(*op.getBeforeBody());
  auto condition = op.getConditionOp();
  for (auto [i, value] : llvm::enumerate(condition.getArgs())) {
    auto layout = layoutToCarry(op.getAfterArguments()[i]);
    Registers registers = registersOf(value, layout);
    for (mlir::Value as : {mlir::Value(op.getAfterArguments()[i]), mlir::Value(op.getResult(i))})
      if (layout)
        homes[as] = {*layout, registers};
      else
        define(as, registers[0]);
  }
  loop.enterBody(scalar(condition.getCondition()));
  std::vector<Registers> yields;
  emitBlock(*op.getAfterBody());
  for (auto [i, value] : llvm::enumerate(op.getYieldOp().getOperands()))
    yields.push_back(registersOf(value, layouts[i]));
  loop.end();
  forgetExchanges();
  for (size_t i = 0; i < inits.size(); ++i)
    addIncoming(carried[i], yields[i], loop.last);
  append(unordered, accessesBefore);
}

} // namespace pellucid::codegen
