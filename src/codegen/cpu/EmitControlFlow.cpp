// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/KernelEmitter.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"

namespace pellucid::codegen {

using llvm::Value;
namespace scf = mlir::scf;

KernelEmitter::Carrier KernelEmitter::makeCarrier(mlir::Type type) {
  Carrier carrier;
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type))
    carrier.tile = allocate(tile.getElementType(), tile.getShape());
  else
    carrier.variable = emitVariable(b, registerType(b.getContext(), type));
  return carrier;
}

void KernelEmitter::readCarrier(const Carrier &carrier, mlir::Value as) {
  if (carrier.variable)
    define(as, b.CreateLoad(carrier.variable->getAllocatedType(), carrier.variable));
  else
    buffers[as] = carrier.tile;
}

// True when evaluating `value` reads, of all carried tiles, only `own`, and each element of it for
// the same element of the result.
bool KernelEmitter::readsOnlyInPlace(mlir::Value value, Value *own,
                                     llvm::ArrayRef<Carrier> carriers, bool inPlace,
                                     llvm::DenseSet<std::pair<mlir::Value, unsigned>> &seen) {
  if (!mlir::isa<mlir::RankedTensorType>(value.getType()) || !seen.insert({value, inPlace}).second)
    return true;
  if (auto known = buffers.find(value); known != buffers.end()) {
    Value *base = known->second.base;
    bool carried = llvm::any_of(carriers, [&](const Carrier &c) { return c.tile.base == base; });
    return !carried || (base == own && inPlace);
  }
  mlir::Operation *op = value.getDefiningOp();
  bool elementwise = isElementOp(op) || mlir::isa<tt::LoadOp, tt::MapElementwiseOp>(op);
  return llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
    return readsOnlyInPlace(operand, own, carriers, inPlace && elementwise, seen);
  });
}

void KernelEmitter::writeCarriers(llvm::ArrayRef<Carrier> carriers, mlir::ValueRange values) {
  llvm::SmallVector<std::pair<TileBuffer, TileBuffer>> copies;
  llvm::SmallVector<std::pair<mlir::Value, TileBuffer>> direct;
  for (auto [carrier, value] : llvm::zip(carriers, values)) {
    if (carrier.variable)
      continue;
    auto known = buffers.find(value);
    if (known != buffers.end() && known->second.base == carrier.tile.base)
      continue;
    llvm::DenseSet<std::pair<mlir::Value, unsigned>> seen;
    if (readsOnlyInPlace(value, carrier.tile.base, carriers, true, seen)) {
      direct.push_back({value, carrier.tile});
      continue;
    }
    TileBuffer temporary = allocateFor(value);
    storeTile(value, temporary);
    copies.push_back({temporary, carrier.tile});
  }
  for (auto &[value, tile] : direct)
    storeTile(value, tile);
  for (auto &[from, to] : copies)
    copyTile(from, to);
  llvm::SmallVector<Value *> registers;
  for (auto [carrier, value] : llvm::zip(carriers, values))
    if (carrier.variable)
      registers.push_back(scalar(value));
  auto next = registers.begin();
  for (const Carrier &carrier : carriers)
    if (carrier.variable)
      b.CreateStore(*next++, carrier.variable);
}

void KernelEmitter::emitFor(scf::ForOp op) {
  llvm::SmallVector<Carrier> carriers;
  for (mlir::Value init : op.getInitArgs())
    carriers.push_back(makeCarrier(init.getType()));
  writeCarriers(carriers, op.getInitArgs());
  auto loop = CountedLoop::begin(b, scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                                 scalar(op.getStep()), op.getUnsignedCmp());
  define(op.getInductionVar(), loop.index);
  for (auto [carrier, argument] : llvm::zip(carriers, op.getRegionIterArgs()))
    readCarrier(carrier, argument);
  emitBlock(*op.getBody());
  current = op.getBody()->getTerminator();
  writeCarriers(carriers, op.getYieldedValues());
  current = op;
  loop.end();
  for (auto [carrier, result] : llvm::zip(carriers, op.getResults()))
    readCarrier(carrier, result);
}

void KernelEmitter::emitBranch(mlir::Region &region, llvm::ArrayRef<Carrier> carriers) {
  if (region.empty())
    return;
  if (!region.hasOneBlock())
    refuse(region.getParentOp(), "of several blocks is not supported");
  emitBlock(region.front());
  current = region.front().getTerminator();
  writeCarriers(carriers, current->getOperands());
  current = region.getParentOp();
}

void KernelEmitter::emitWithResults(mlir::Operation *op,
                                    llvm::function_ref<void(llvm::ArrayRef<Carrier>)> emitRegions) {
  llvm::SmallVector<Carrier> carriers;
  for (mlir::Type type : op->getResultTypes())
    carriers.push_back(makeCarrier(type));
  emitRegions(carriers);
  for (auto [carrier, result] : llvm::zip(carriers, op->getResults()))
    readCarrier(carrier, result);
}

void KernelEmitter::emitIf(scf::IfOp op) {
  emitWithResults(op, [&](llvm::ArrayRef<Carrier> carriers) {
    emitBranches(b, scalar(op.getCondition()),
                 [&](unsigned which) { emitBranch(op->getRegion(which), carriers); });
  });
}

void KernelEmitter::emitExecuteRegion(scf::ExecuteRegionOp op) {
  emitWithResults(op,
                  [&](llvm::ArrayRef<Carrier> carriers) { emitBranch(op.getRegion(), carriers); });
}

void KernelEmitter::emitIndexSwitch(scf::IndexSwitchOp op) {
  Value *index = scalar(op.getArg());
  emitWithResults(op, [&](llvm::ArrayRef<Carrier> carriers) {
    std::function<void(unsigned)> emitFrom = [&](unsigned number) {
      if (number == op.getNumCases())
        return emitBranch(op.getDefaultRegion(), carriers);
      Value *taken = b.CreateICmpEQ(index, integerLike(index, op.getCases()[number]));
      emitBranches(b, taken, [&](unsigned which) {
        if (which == 0)
          return emitBranch(op.getCaseRegions()[number], carriers);
        emitFrom(number + 1);
      });
    };
    emitFrom(0);
  });
}

void KernelEmitter::emitWhile(scf::WhileOp op) {
  llvm::SmallVector<Carrier> entering, leaving;
  for (mlir::Value init : op.getInits())
    entering.push_back(makeCarrier(init.getType()));
  for (mlir::Type type : op.getResultTypes())
    leaving.push_back(makeCarrier(type));
  writeCarriers(entering, op.getInits());
  auto loop = TestedLoop::begin(b);
  for (auto [carrier, argument] : llvm::zip(entering, op.getBeforeArguments()))
    readCarrier(carrier, argument);
  emitBlock(*op.getBeforeBody());
  auto condition = op.getConditionOp();
  current = condition;
  writeCarriers(leaving, condition.getArgs());
  loop.enterBody(scalar(condition.getCondition()));
  current = op;
  for (auto [carrier, argument] : llvm::zip(leaving, op.getAfterArguments()))
    readCarrier(carrier, argument);
  emitBlock(*op.getAfterBody());
  current = op.getYieldOp();
  writeCarriers(entering, op.getYieldOp().getOperands());
  current = op;
  loop.end();
  for (auto [carrier, result] : llvm::zip(leaving, op.getResults()))
    readCarrier(carrier, result);
}

} // namespace pellucid::codegen
