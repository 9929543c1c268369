// SPDX-License-Identifier: Apache-2.0
// Loops and branches on scalars, which all threads of a block take alike. Values that cross a
// region border are phi nodes, one per register for a tile.
#include "codegen/common/ControlFlow.h"
#include "codegen/cuda/CudaEmitter.h"

namespace pellucid::codegen {

using llvm::Value;
namespace scf = mlir::scf;

CudaEmitter::Carried CudaEmitter::makePhis(mlir::Value value) {
  bool isTile = mlir::isa<mlir::RankedTensorType>(value.getType());
  llvm::Type *type = registerType(b.getContext(), elementTypeOf(value.getType()));
  Carried carried;
  for (unsigned r = 0; r < (isTile ? layoutOf(value).registerCount() : 1); ++r)
    carried.push_back(b.CreatePHI(type, 2));
  return carried;
}

void CudaEmitter::addIncoming(const Carried &carried, const Registers &values,
                              llvm::BasicBlock *from) {
  for (auto [phi, value] : llvm::zip(carried, values))
    phi->addIncoming(value, from);
}

static Registers asRegisters(const std::vector<llvm::PHINode *> &phis) {
  return Registers(phis.begin(), phis.end());
}

void CudaEmitter::emitFor(scf::ForOp op) {
  std::vector<Registers> inits, yields;
  for (mlir::Value init : op.getInitArgs())
    inits.push_back(registersOf(init));
  auto loop = CountedLoop::begin(b, scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                                 scalar(op.getStep()), op.getUnsignedCmp());
  loop.isSpread = op->hasAttr(ttgpu::fewRoundsName);
  std::vector<Carried> carried;
  for (auto [argument, init] : llvm::zip(op.getRegionIterArgs(), inits)) {
    carried.push_back(makePhis(argument));
    addIncoming(carried.back(), init, loop.before);
    hold(argument, asRegisters(carried.back()));
  }
  define(op.getInductionVar(), loop.index);
  emitBlock(*op.getBody());
  for (mlir::Value yielded : op.getYieldedValues())
    yields.push_back(registersOf(yielded));
  loop.end();
  for (size_t i = 0; i < inits.size(); ++i)
    addIncoming(carried[i], yields[i], loop.last);
  for (size_t i = 0; i < inits.size(); ++i) {
    Carried results = makePhis(op.getResult(i));
    addIncoming(results, inits[i], loop.before);
    addIncoming(results, yields[i], loop.last);
    hold(op.getResult(i), asRegisters(results));
  }
}

void CudaEmitter::emitIf(scf::IfOp op) {
  std::vector<Registers> yields[2];
  BranchEnds ends = emitBranches(b, scalar(op.getCondition()), [&](unsigned which) {
    mlir::Region &region = op->getRegion(which);
    if (!region.empty()) {
      emitBlock(region.front());
      for (mlir::Value yielded : region.front().getTerminator()->getOperands())
        yields[which].push_back(registersOf(yielded));
    }
  });
  for (auto [i, made] : llvm::enumerate(op.getResults())) {
    Carried result = makePhis(made);
    for (unsigned which : {0, 1})
      addIncoming(result, yields[which][i], ends[which]);
    hold(made, asRegisters(result));
  }
}

void CudaEmitter::emitWhile(scf::WhileOp op) {
  std::vector<Registers> inits;
  for (mlir::Value init : op.getInits())
    inits.push_back(registersOf(init));
  auto loop = TestedLoop::begin(b);
  std::vector<Carried> carried;
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), inits)) {
    carried.push_back(makePhis(argument));
    addIncoming(carried.back(), init, loop.before);
    hold(argument, asRegisters(carried.back()));
  }
  emitBlock(*op.getBeforeBody());
  auto condition = op.getConditionOp();
  for (auto [i, value] : llvm::enumerate(condition.getArgs())) {
    Registers registers = registersOf(value);
    hold(op.getAfterArguments()[i], registers);
    hold(op.getResult(i), registers);
  }
  loop.enterBody(scalar(condition.getCondition()));
  std::vector<Registers> yields;
  emitBlock(*op.getAfterBody());
  for (mlir::Value yielded : op.getYieldOp().getOperands())
    yields.push_back(registersOf(yielded));
  loop.end();
  for (size_t i = 0; i < inits.size(); ++i)
    addIncoming(carried[i], yields[i], loop.last);
}

} // namespace pellucid::codegen
