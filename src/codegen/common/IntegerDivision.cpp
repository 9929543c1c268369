// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/IntegerDivision.h"

#include "llvm/IR/Constants.h"

namespace pellucid::codegen {

using llvm::Value;

static bool isNonZeroConstant(Value *divisor) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(divisor);
  if (!constant)
    return false;
  if (auto *splat = divisor->getType()->isVectorTy() ? constant->getSplatValue() : constant)
    if (auto *integer = llvm::dyn_cast<llvm::ConstantInt>(splat))
      return !integer->isZero() && !integer->isMinusOne();
  return false;
}

static Value *safeDivisor(CodeBuilder &b, Value *dividend, Value *divisor, bool isSigned) {
  unsigned width = divisor->getType()->getScalarSizeInBits();
  Value *bad = b.CreateICmpEQ(divisor, integerLike(divisor, 0));
  if (isSigned) {
    Value *smallest =
        llvm::ConstantInt::get(dividend->getType(), llvm::APInt::getSignedMinValue(width));
    bad = b.CreateOr(
        bad,
        b.CreateAnd(b.CreateICmpEQ(dividend, smallest),
                    b.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(divisor->getType()))));
  }
  return b.CreateSelect(bad, integerLike(divisor, 1), divisor);
}

// Quotients of 32-bit integers are exact in f64 after truncation; vectors of 32-bit integers have
// no division of their own.
static Value *divideThroughDouble(CodeBuilder &b, Value *dividend, Value *divisor, bool isSigned) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  llvm::Type *wide = typeLike(dividend, b.getDoubleTy());
  auto convert = [&](Value *v) {
    return isSigned ? b.CreateSIToFP(v, wide) : b.CreateUIToFP(v, wide);
  };
  Value *quotient = b.CreateFDiv(convert(dividend), convert(divisor));
  return isSigned ? b.CreateFPToSI(quotient, dividend->getType())
                  : b.CreateFPToUI(quotient, dividend->getType());
}

QuotientRemainder emitDivision(CodeBuilder &b, Value *dividend, Value *divisor, bool isSigned) {
  unsigned width = dividend->getType()->getScalarSizeInBits();
  if (width < 32) {
    llvm::Type *wide = typeLike(dividend, b.i32());
    auto extend = [&](Value *v) {
      return isSigned ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide);
    };
    QuotientRemainder result = emitDivision(b, extend(dividend), extend(divisor), isSigned);
    return {b.CreateTrunc(result.quotient, dividend->getType()),
            b.CreateTrunc(result.remainder, dividend->getType())};
  }
  bool constant = isNonZeroConstant(divisor);
  Value *safe = constant ? divisor : safeDivisor(b, dividend, divisor, isSigned);
  Value *quotient;
  if (width == 32 && laneCount(dividend) > 1 && !constant)
    quotient = divideThroughDouble(b, dividend, safe, isSigned);
  else
    quotient = isSigned ? b.CreateSDiv(dividend, safe) : b.CreateUDiv(dividend, safe);
  if (!constant)
    quotient = b.CreateSelect(b.CreateICmpEQ(divisor, integerLike(divisor, 0)),
                              llvm::Constant::getAllOnesValue(divisor->getType()), quotient);
  return {quotient, b.CreateSub(dividend, b.CreateMul(quotient, divisor))};
}

Value *emitFloorDivision(CodeBuilder &b, Value *dividend, Value *divisor) {
  QuotientRemainder parts = emitDivision(b, dividend, divisor, true);
  Value *zero = integerLike(dividend, 0);
  Value *inexact =
      b.CreateAnd(b.CreateICmpNE(parts.remainder, zero), b.CreateICmpNE(divisor, zero));
  Value *negative = b.CreateICmpSLT(b.CreateXor(dividend, divisor), zero);
  return b.CreateSub(parts.quotient,
                     b.CreateZExt(b.CreateAnd(inexact, negative), dividend->getType()));
}

Value *emitCeilDivision(CodeBuilder &b, Value *dividend, Value *divisor, bool isSigned) {
  QuotientRemainder parts = emitDivision(b, dividend, divisor, isSigned);
  Value *zero = integerLike(dividend, 0);
  Value *up = b.CreateAnd(b.CreateICmpNE(parts.remainder, zero), b.CreateICmpNE(divisor, zero));
  if (isSigned)
    up = b.CreateAnd(up, b.CreateICmpSGE(b.CreateXor(dividend, divisor), zero));
  return b.CreateAdd(parts.quotient, b.CreateZExt(up, dividend->getType()));
}

Value *emitShift(CodeBuilder &b, llvm::Instruction::BinaryOps kind, Value *value, Value *amount) {
  unsigned width = value->getType()->getScalarSizeInBits();
  Value *inside = b.CreateICmpULT(amount, integerLike(amount, width));
  bool arithmetic = kind == llvm::Instruction::AShr;
  Value *limit = integerLike(amount, arithmetic ? width - 1 : 0);
  Value *shifted = b.CreateBinOp(kind, value, b.CreateSelect(inside, amount, limit));
  return arithmetic ? shifted : b.CreateSelect(inside, shifted, integerLike(value, 0));
}

} // namespace pellucid::codegen
