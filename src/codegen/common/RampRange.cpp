// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/RampRange.h"

#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"

namespace pellucid::codegen {

namespace arith = mlir::arith;

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

llvm::Value *checkRange(CodeBuilder &b, const LaneValue &ramp, int64_t lanes, bool isSigned) {
  unsigned bits = ramp.value->getType()->getIntegerBitWidth();
  // Wide enough for the last lane whatever the stride.
  llvm::Type *type = b.getIntNTy(bits <= 32 ? 64 : 128);
  auto wide = [&](llvm::Value *v) {
    return isSigned ? b.CreateSExt(v, type) : b.CreateZExt(v, type);
  };
  llvm::Value *steps = b.CreateMul(b.CreateSExt(ramp.stride, type),
                                   llvm::ConstantInt::get(type, static_cast<uint64_t>(lanes - 1)));
  llvm::Value *last = b.CreateAdd(wide(ramp.value), steps);
  return b.CreateICmpEQ(last, wide(b.CreateTrunc(last, ramp.value->getType())));
}

bool isOffsetArithmetic(mlir::Value value) {
  return llvm::isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
                               arith::ExtSIOp, arith::ExtUIOp, arith::SelectOp, tt::BroadcastOp,
                               tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(value.getDefiningOp());
}

bool hasWidenedOffsets(mlir::Value value) {
  llvm::SmallVector<mlir::Value> next{value};
  llvm::DenseSet<mlir::Value> seen;
  while (!next.empty()) {
    mlir::Value current = next.pop_back_val();
    if (!isOffsetArithmetic(current) || !seen.insert(current).second)
      continue;
    mlir::Operation *op = current.getDefiningOp();
    if (llvm::isa<arith::ExtSIOp, arith::ExtUIOp>(op))
      return true;
    llvm::append_range(next, op->getOperands());
  }
  return false;
}

} // namespace pellucid::codegen
