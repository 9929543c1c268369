// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/FloatExtremes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;

std::optional<FloatExtreme> FloatExtreme::of(tt::ReduceOp op) {
  mlir::Block &combine = op.getCombineOp().front();
  auto type = mlir::dyn_cast<mlir::FloatType>(combine.getArgument(0).getType());
  if (op.getNumOperands() != 1 || !type || type.getWidth() < 16 ||
      std::distance(combine.begin(), combine.end()) != 2)
    return std::nullopt;
  FloatExtreme extreme;
  extreme.type = type;
  extreme.width = type.getWidth();
  extreme.infinity = llvm::APFloat::getInf(type.getFloatSemantics()).bitcastToAPInt();
  mlir::Operation &step = combine.front();
  extreme.isMaximum = mlir::isa<arith::MaxNumFOp, arith::MaximumFOp>(step);
  extreme.nanWins = mlir::isa<arith::MaximumFOp, arith::MinimumFOp>(step);
  if (!extreme.isMaximum && !mlir::isa<arith::MinNumFOp, arith::MinimumFOp>(step))
    return std::nullopt;
  bool ofBoth = step.getOperand(0) != step.getOperand(1) &&
                mlir::isa<mlir::BlockArgument>(step.getOperand(0)) &&
                mlir::isa<mlir::BlockArgument>(step.getOperand(1));
  bool returned = combine.getTerminator()->getOperand(0) == step.getResult(0);
  return ofBoth && returned ? std::optional(extreme) : std::nullopt;
}

/// Turns the numbers below zero around, or back.
static Value *reorder(CodeBuilder &b, Value *bits) {
  unsigned width = bits->getType()->getScalarSizeInBits();
  llvm::APInt magnitude = llvm::APInt::getSignedMaxValue(width);
  Value *negative = b.CreateAShr(bits, integerLike(bits, width - 1));
  return b.CreateXor(bits,
                     b.CreateAnd(negative, llvm::ConstantInt::get(bits->getType(), magnitude)));
}

// A NaN becomes an integer beyond the infinity that loses, or the one that wins: that of the quiet
// NaN without further bits, which rounding to bf16 does not ask for.
Value *FloatExtreme::key(CodeBuilder &b, Value *value) const {
  Value *bits = b.CreateBitCast(value, typeLike(value, b.getIntNTy(width)));
  Value *magnitude = b.CreateAnd(
      bits, llvm::ConstantInt::get(bits->getType(), llvm::APInt::getSignedMaxValue(width)));
  Value *isNan =
      value->getType()->isFPOrFPVectorTy()
          ? b.CreateFCmpUNO(value, value)
          : b.CreateICmpSGT(magnitude, llvm::ConstantInt::get(bits->getType(), infinity));
  llvm::APInt quiet = llvm::APFloat::getQNaN(mlir::cast<mlir::FloatType>(type).getFloatSemantics())
                          .bitcastToAPInt();
  llvm::APInt end = isMaximum == nanWins ? quiet : ~quiet;
  return b.CreateSelect(isNan, llvm::ConstantInt::get(bits->getType(), end), reorder(b, bits));
}

Value *FloatExtreme::combine(CodeBuilder &b, Value *x, Value *y) const {
  return b.CreateBinaryIntrinsic(isMaximum ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, x, y);
}

Value *FloatExtreme::value(CodeBuilder &b, Value *key) const {
  return b.CreateBitCast(reorder(b, key), typeLike(key, registerType(b.getContext(), type)));
}

} // namespace pellucid::codegen
