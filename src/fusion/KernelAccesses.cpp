// SPDX-License-Identifier: Apache-2.0
#include "fusion/KernelAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"

namespace pellucid::fusion {

using namespace mlir;

static std::string opName(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

std::string atLine(Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return " at line " + std::to_string(place.getLine());
  return {};
}

bool isBoolPointerCast(Operation *op) {
  auto pointee = [](Value value) {
    auto pointer = dyn_cast<tt::PointerType>(getElementTypeOrSelf(value.getType()));
    return pointer ? pointer.getPointeeType() : Type();
  };
  auto cast = dyn_cast<tt::BitcastOp>(op);
  return cast && pointee(cast.getSrc()) && pointee(cast.getSrc()).isInteger(1) &&
         pointee(cast.getResult()).isInteger(8);
}

Accesses collectAccesses(BlockArgument pointer) {
  Accesses found;
  SmallVector<Value> pending{pointer};
  while (!pending.empty() && !found.refusal) {
    Value value = pending.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto load = dyn_cast<tt::LoadOp>(user)) {
        found.loads.push_back(load);
      } else if (auto store = dyn_cast<tt::StoreOp>(user); store && store.getPtr() == value) {
        found.stores.push_back(store);
      } else if (isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp>(user) ||
                 isBoolPointerCast(user) ||
                 (isa<tt::AddPtrOp>(user) && use.getOperandNumber() == 0)) {
        pending.push_back(user->getResult(0));
      } else if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(user)) {
        found.refusal = "atomic: an atomic access goes through it" + atLine(user->getLoc());
      } else {
        found.refusal = "its address goes through " + opName(user) + atLine(user->getLoc());
      }
      if (found.refusal)
        break;
    }
  }
  return found;
}

bool hidesMaskedOff(tt::LoadOp load) {
  Value mask = load.getMask();
  if (!mask)
    return true;
  SmallVector<Value> pending{load.getResult()};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value current = pending.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    for (OpOperand &use : current.getUses()) {
      Operation *user = use.getOwner();
      if (auto store = dyn_cast<tt::StoreOp>(user)) {
        if (store.getMask() != mask || use.get() != store.getValue())
          return false;
        continue;
      }
      if (auto select = dyn_cast<arith::SelectOp>(user))
        if (select.getCondition() == mask && use.getOperandNumber() == 1)
          continue;
      if (!user->hasTrait<OpTrait::Elementwise>() || user->getNumResults() != 1)
        return false;
      pending.push_back(user->getResult(0));
    }
  }
  return true;
}

} // namespace pellucid::fusion
