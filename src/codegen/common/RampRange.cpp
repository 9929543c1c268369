// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/RampRange.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace pellucid::codegen {

namespace arith = mlir::arith;
namespace scf = mlir::scf;

bool staysInRange(const LaneValue &ramp, int64_t lanes, bool isSigned) {
  auto *base = llvm::dyn_cast<llvm::ConstantInt>(ramp.value);
  int64_t stride;
  if (!base || base->getBitWidth() > 64 || !ramp.hasConstantStride(stride))
    return false;
  unsigned bits = base->getBitWidth();
  // In 128 bits nothing overflows.
  llvm::APInt first = isSigned ? base->getValue().sext(128) : base->getValue().zext(128);
  llvm::APInt last = first + llvm::APInt(128, static_cast<uint64_t>(stride), true) *
                                 llvm::APInt(128, static_cast<uint64_t>(lanes - 1), true);
  return isSigned ? last.isSignedIntN(bits) : last.isIntN(bits);
}

/// Where the value goes when `use` hands it on unchanged: the carried values of loops and branches.
static void addCarried(mlir::OpOperand &use, llvm::SmallVectorImpl<mlir::Value> &next) {
  mlir::Operation *user = use.getOwner();
  if (auto loop = llvm::dyn_cast<scf::ForOp>(user)) {
    next.push_back(loop.getTiedLoopRegionIterArg(&use));
    next.push_back(loop.getTiedLoopResult(&use));
    return;
  }
  unsigned number = use.getOperandNumber();
  mlir::Operation *parent = user->getParentOp();
  if (auto loop = llvm::dyn_cast<scf::ForOp>(parent))
    next.push_back(loop.getRegionIterArg(number));
  next.push_back(parent->getResult(number));
}

bool onlyAddresses(mlir::Value value) {
  llvm::SmallVector<mlir::Value> next{value};
  llvm::DenseSet<mlir::Value> seen;
  while (!next.empty()) {
    mlir::Value current = next.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    for (mlir::OpOperand &use : current.getUses()) {
      mlir::Operation *user = use.getOwner();
      if (llvm::isa<tt::AddPtrOp, arith::CmpIOp>(user))
        continue;
      bool loopValue = llvm::isa<scf::ForOp>(user) && use.getOperandNumber() >= 3;
      bool yields =
          llvm::isa<scf::YieldOp>(user) && llvm::isa<scf::ForOp, scf::IfOp>(user->getParentOp());
      if (loopValue || yields)
        addCarried(use, next);
      else if (llvm::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp,
                         arith::ExtUIOp, arith::SelectOp, tt::SplatOp, tt::BroadcastOp,
                         tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(user))
        next.push_back(user->getResult(0));
      else
        return false;
    }
  }
  return true;
}

} // namespace pellucid::codegen
