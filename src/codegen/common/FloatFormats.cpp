// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/FloatFormats.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <bit>
#include <cmath>
#include <optional>

namespace pellucid::codegen {

using llvm::Value;

namespace {

/// An 8-bit format: sign, exponent, `mantissa` bits of fraction.
struct Float8 {
  int mantissa, bias;
  uint8_t largest;  ///< code of the largest finite magnitude
  bool unsignedNan; ///< 0x80 is the only NaN, and there is no negative zero
};

std::optional<Float8> float8Format(mlir::Type type) {
  if (mlir::isa<mlir::Float8E4M3FNType>(type))
    return Float8{3, 7, 0x7e, false};
  if (mlir::isa<mlir::Float8E5M2Type>(type))
    return Float8{2, 15, 0x7b, false};
  if (mlir::isa<mlir::Float8E4M3FNUZType>(type))
    return Float8{3, 8, 0x7f, true};
  if (mlir::isa<mlir::Float8E5M2FNUZType>(type))
    return Float8{2, 16, 0x7f, true};
  if (mlir::isa<mlir::Float8E4M3B11FNUZType>(type))
    return Float8{3, 11, 0x7f, true};
  return std::nullopt;
}

Value *bitsOf(CodeBuilder &b, Value *f32) { return b.CreateBitCast(f32, typeLike(f32, b.i32())); }
Value *floatOf(CodeBuilder &b, Value *bits) {
  return b.CreateBitCast(bits, typeLike(bits, b.getFloatTy()));
}

Value *widenFloat8(CodeBuilder &b, Value *code, const Float8 &format) {
  Value *wide = b.CreateZExt(code, typeLike(code, b.i32()));
  Value *magnitude = b.CreateAnd(wide, integerLike(wide, 0x7f));
  Value *sign = b.CreateShl(b.CreateAnd(wide, integerLike(wide, 0x80)), integerLike(wide, 24));
  // Exponent and fraction in place, then one exact product corrects the bias; subnormals too.
  Value *scaled = floatOf(b, b.CreateShl(magnitude, integerLike(wide, 23 - format.mantissa)));
  Value *value = b.CreateFMul(scaled, floatLike(scaled, std::ldexp(1.0, 127 - format.bias)));
  Value *bits = bitsOf(b, value);
  Value *nan = integerLike(wide, 0x7fc00000);
  if (format.unsignedNan) {
    bits = b.CreateOr(bits, sign);
    return floatOf(b, b.CreateSelect(b.CreateICmpEQ(wide, integerLike(wide, 0x80)), nan, bits));
  }
  Value *special = b.CreateICmpUGT(magnitude, integerLike(wide, format.largest));
  Value *beyond = nan;
  if (format.mantissa == 2) // e5m2 has infinities, one code above the largest
    beyond = b.CreateSelect(b.CreateICmpEQ(magnitude, integerLike(wide, 0x7c)),
                            integerLike(wide, 0x7f800000), nan);
  return floatOf(b, b.CreateOr(b.CreateSelect(special, beyond, bits), sign));
}

Value *narrowToFloat8(CodeBuilder &b, Value *value, const Float8 &format) {
  Value *bits = bitsOf(b, value);
  Value *magnitude = b.CreateAnd(bits, integerLike(bits, 0x7fffffff));
  Value *sign = b.CreateLShr(b.CreateAnd(bits, integerLike(bits, int32_t(0x80000000))),
                             integerLike(bits, 24));
  int shift = 23 - format.mantissa;
  Value *odd = b.CreateAnd(b.CreateLShr(magnitude, integerLike(bits, shift)), integerLike(bits, 1));
  Value *rounded =
      b.CreateAdd(b.CreateAdd(magnitude, integerLike(bits, (1 << (shift - 1)) - 1)), odd);
  Value *normal = b.CreateSub(b.CreateLShr(rounded, integerLike(bits, shift)),
                              integerLike(bits, int64_t(127 - format.bias) << format.mantissa));
  // Below the smallest normal number one addition rounds to a multiple of the smallest subnormal.
  float magic = std::ldexp(1.0f, 1 - format.bias - format.mantissa + 23);
  Value *absolute = floatOf(b, magnitude);
  Value *subnormal = b.CreateSub(bitsOf(b, b.CreateFAdd(absolute, floatLike(absolute, magic))),
                                 integerLike(bits, std::bit_cast<int32_t>(magic)));
  Value *isSubnormal =
      b.CreateFCmpOLT(absolute, floatLike(absolute, std::ldexp(1.0, 1 - format.bias)));
  Value *code = b.CreateSelect(isSubnormal, subnormal, normal);
  Value *limit = integerLike(bits, format.largest);
  code = b.CreateSelect(b.CreateICmpSGT(code, limit), limit, code);
  code = b.CreateOr(code, sign);
  Value *isNan = b.CreateICmpUGT(magnitude, integerLike(bits, 0x7f800000));
  if (format.unsignedNan) {
    code =
        b.CreateSelect(b.CreateICmpEQ(code, integerLike(bits, 0x80)), integerLike(bits, 0), code);
    code = b.CreateSelect(isNan, integerLike(bits, 0x80), code);
  } else {
    code = b.CreateSelect(isNan, b.CreateOr(sign, integerLike(bits, 0x7f)), code);
  }
  return b.CreateTrunc(code, typeLike(value, b.i8()));
}

/// The upper halves of 32-bit lanes. One permutation takes them from two 512-bit registers.
Value *upperHalves(CodeBuilder &b, Value *bits) {
  unsigned lanes = laneCount(bits);
  llvm::Type *half = b.getInt16Ty();
  if (!b.hasScale16 || lanes != 32)
    return b.CreateTrunc(b.CreateLShr(bits, integerLike(bits, 16)), typeLike(bits, half));
  llvm::SmallVector<int> odd;
  for (unsigned lane = 0; lane < lanes; ++lane)
    odd.push_back(2 * lane + 1);
  return b.CreateShuffleVector(b.CreateBitCast(bits, lanesOf(half, 2 * lanes)), odd);
}

Value *narrowToBFloat16(CodeBuilder &b, Value *value, bool towardZero, bool shortNan) {
  Value *bits = bitsOf(b, value);
  Value *rounded = bits;
  if (!towardZero) {
    Value *odd = b.CreateAnd(b.CreateLShr(bits, integerLike(bits, 16)), integerLike(bits, 1));
    rounded = b.CreateAdd(b.CreateAdd(bits, integerLike(bits, 0x7fff)), odd);
  }
  if (shortNan)
    return upperHalves(b, rounded);
  Value *nan = b.CreateOr(bits, integerLike(bits, 0x400000));
  return upperHalves(b, b.CreateSelect(b.CreateFCmpUNO(value, value), nan, rounded));
}

/// f64 -> f32 such that a second rounding to a format with at least two bits less gives what one
/// rounding would: truncated, with the last bit set when anything was lost.
Value *roundToOdd(CodeBuilder &b, Value *value) {
  Value *nearest = b.CreateFPTrunc(value, typeLike(value, b.getFloatTy()));
  Value *back = b.CreateFPExt(nearest, value->getType());
  Value *inexact = b.CreateFCmpONE(back, value);
  Value *tooLarge = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                    b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  Value *bits = bitsOf(b, nearest);
  bits = b.CreateSub(bits, b.CreateZExt(tooLarge, bits->getType()));
  return floatOf(b, b.CreateOr(bits, b.CreateZExt(inexact, bits->getType())));
}

} // namespace

bool isNarrowFloat(mlir::Type element) {
  return mlir::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

llvm::IntrinsicInst *packedRounding(Value *half) {
  using namespace llvm::PatternMatch;
  Value *pair = nullptr;
  if (!match(half, m_Trunc(m_LShr(m_BitCast(m_Value(pair)), m_SpecificInt(16)))))
    return nullptr;
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(pair);
  bool rounds = call && (call->getIntrinsicID() == llvm::Intrinsic::nvvm_ff2bf16x2_rn ||
                         call->getIntrinsicID() == llvm::Intrinsic::nvvm_ff2f16x2_rn);
  return rounds && match(call->getArgOperand(1), m_AnyZeroFP()) ? call : nullptr;
}

Value *widenFloat(CodeBuilder &b, Value *value, mlir::Type format) {
  if (!isNarrowFloat(format))
    return value;
  if (format.isBF16()) {
    llvm::IntrinsicInst *rounding = b.hasPackedRounding ? packedRounding(value) : nullptr;
    if (rounding && rounding->getIntrinsicID() == llvm::Intrinsic::nvvm_ff2bf16x2_rn)
      return b.CreateBitCast(rounding, b.getFloatTy());
    Value *wide = b.CreateZExt(value, typeLike(value, b.i32()));
    return floatOf(b, b.CreateShl(wide, integerLike(wide, 16)));
  }
  if (format.isF16())
    return b.CreateFPExt(b.CreateBitCast(value, typeLike(value, b.getHalfTy())),
                         typeLike(value, b.getFloatTy()));
  return widenFloat8(b, value, *float8Format(format));
}

/// Drops the fraction bits that f16 lacks, so that the rounding that follows changes nothing.
static Value *truncateForHalf(CodeBuilder &b, Value *value) {
  Value *bits = bitsOf(b, value);
  Value *absolute = floatOf(b, b.CreateAnd(bits, integerLike(bits, 0x7fffffff)));
  Value *cut = floatOf(b, b.CreateAnd(bits, integerLike(bits, ~0x1fff)));
  // Subnormal halves are multiples of 2^-24: truncated by an integer conversion.
  Value *scaled = b.CreateFMul(value, floatLike(value, 0x1p24));
  Value *whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, scaled);
  Value *tiny = b.CreateFMul(whole, floatLike(value, 0x1p-24));
  Value *truncated =
      b.CreateSelect(b.CreateFCmpOLT(absolute, floatLike(value, 0x1p-14)), tiny, cut);
  Value *limit =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, floatLike(value, 65504.0), value);
  Value *tooLarge = b.CreateAnd(b.CreateFCmpOGE(absolute, floatLike(value, 65520.0)),
                                b.CreateFCmpONE(absolute, floatLike(value, INFINITY)));
  Value *keep = b.CreateFCmpUNO(value, value);
  return b.CreateSelect(keep, value, b.CreateSelect(tooLarge, limit, truncated));
}

/// The upper of two halves, so that the pair of a bf16 is its f32; the lower one is zero. With them
/// the other way round ptxas joins roundings of a product's sums across the wait for it, and then
/// runs all products one after the other (C7514).
static Value *roundPacked(CodeBuilder &b, Value *value, mlir::Type format) {
  llvm::Intrinsic::ID id =
      format.isBF16() ? llvm::Intrinsic::nvvm_ff2bf16x2_rn : llvm::Intrinsic::nvvm_ff2f16x2_rn;
  Value *pair = b.CreateIntrinsic(id, {}, {value, llvm::ConstantFP::get(value->getType(), 0)});
  return b.CreateTrunc(b.CreateLShr(b.CreateBitCast(pair, b.i32()), 16), b.getInt16Ty());
}

Value *narrowFloat(CodeBuilder &b, Value *value, mlir::Type format, bool towardZero,
                   bool shortNan) {
  bool fromDouble = value->getType()->getScalarType()->isDoubleTy();
  if (format.isF64())
    return fromDouble ? value : b.CreateFPExt(value, typeLike(value, b.getDoubleTy()));
  if (format.isF32())
    return fromDouble ? b.CreateFPTrunc(value, typeLike(value, b.getFloatTy())) : value;
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  if (fromDouble)
    value = roundToOdd(b, value);
  if (b.hasPackedRounding && !towardZero && laneCount(value) == 1 &&
      (format.isBF16() || format.isF16()))
    return roundPacked(b, value, format);
  if (format.isBF16())
    return narrowToBFloat16(b, value, towardZero, shortNan);
  if (format.isF16()) {
    if (towardZero)
      value = truncateForHalf(b, value);
    Value *half = b.CreateFPTrunc(value, typeLike(value, b.getHalfTy()));
    return b.CreateBitCast(half, typeLike(value, b.getInt16Ty()));
  }
  return narrowToFloat8(b, value, *float8Format(format));
}

} // namespace pellucid::codegen
