// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/LibdeviceFunctions.h"

#include "codegen/common/VectorMath.h"

#include "llvm/IR/Intrinsics.h"

#include <cmath>
#include <limits>

namespace pellucid::codegen {

using llvm::Value;
using Values = llvm::ArrayRef<Value *>;

namespace {

Value *call(CodeBuilder &b, const char *name, Value *x) { return unaryMath(name)(b, x); }
Value *fabs(CodeBuilder &b, Value *x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
Value *copysign(CodeBuilder &b, Value *size, Value *sign) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, sign);
}
Value *fma(CodeBuilder &b, Value *x, Value *y, Value *z) {
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
}
/// The polynomial with these coefficients, the highest first.
Value *polynomial(CodeBuilder &b, Value *x, llvm::ArrayRef<double> coefficients) {
  Value *sum = floatLike(x, coefficients[0]);
  for (double coefficient : coefficients.drop_front())
    sum = fma(b, sum, x, floatLike(x, coefficient));
  return sum;
}
llvm::Type *bitsOf(CodeBuilder &b, Value *x) {
  return typeLike(x, b.getIntNTy(x->getType()->getScalarSizeInBits()));
}
bool isSingle(Value *x) { return x->getType()->getScalarType()->isFloatTy(); }

/// `function` of f64, for f32 too.
template <Value *(*function)(CodeBuilder &, Values)> Value *inDouble(CodeBuilder &b, Values in) {
  llvm::Type *given = nullptr;
  llvm::SmallVector<Value *> wide(in);
  for (Value *&x : wide)
    if (isSingle(x)) {
      given = x->getType();
      x = b.CreateFPExt(x, typeLike(x, b.getDoubleTy()));
    }
  Value *result = function(b, wide);
  return given ? b.CreateFPTrunc(result, given) : result;
}

//===--- gamma --------------------------------------------------------------------------------===//

/// sin(pi x): x less its nearest half is exact.
Value *sinPi(CodeBuilder &b, Value *x, int64_t quarters) {
  Value *half = call(b, "rint", b.CreateFMul(x, floatLike(x, 2)));
  Value *rest =
      b.CreateFMul(b.CreateFSub(x, b.CreateFMul(half, floatLike(x, 0.5))), floatLike(x, M_PI));
  // Only which quarter of a turn matters, which a float of any size has exactly.
  Value *turns =
      b.CreateFMul(call(b, "floor", b.CreateFMul(half, floatLike(x, 0.25))), floatLike(x, 4));
  Value *quarter = b.CreateFPToSI(b.CreateFSub(half, turns), typeLike(x, b.i32()));
  quarter = b.CreateAdd(b.CreateFreeze(quarter), integerLike(quarter, quarters));
  auto isSet = [&](int64_t bit) {
    return b.CreateICmpNE(b.CreateAnd(quarter, integerLike(quarter, bit)), integerLike(quarter, 0));
  };
  Value *size = b.CreateSelect(isSet(1), call(b, "cos", rest), call(b, "sin", rest));
  Value *result = b.CreateSelect(isSet(2), b.CreateFNeg(size), size);
  // Infinity has no place in a turn.
  Value *isFinite = b.CreateFCmpOLT(fabs(b, x), llvm::ConstantFP::getInfinity(x->getType()));
  return b.CreateSelect(isFinite, result, floatLike(x, std::numeric_limits<double>::quiet_NaN()));
}
Value *sinPiOf(CodeBuilder &b, Values in) {
  // A whole number keeps its sign.
  Value *whole = b.CreateFCmpOEQ(call(b, "trunc", in[0]), in[0]);
  Value *isFinite =
      b.CreateFCmpOLT(fabs(b, in[0]), llvm::ConstantFP::getInfinity(in[0]->getType()));
  Value *zero = copysign(b, floatLike(in[0], 0), in[0]);
  return b.CreateSelect(b.CreateAnd(whole, isFinite), zero, sinPi(b, in[0], 0));
}
Value *cosPiOf(CodeBuilder &b, Values in) {
  // Between whole numbers it is plus zero.
  Value *result = sinPi(b, in[0], 1);
  return b.CreateSelect(b.CreateFCmpOEQ(result, floatLike(result, 0)), floatLike(result, 0),
                        result);
}

/// The logarithm of gamma of x >= 0: by Stirling's series from 8 on, where smaller ones are
/// shifted to.
Value *logGammaOfPositive(CodeBuilder &b, Value *x) {
  constexpr int from = 8;
  Value *product = floatLike(x, 1), *at = x;
  for (int step = 0; step < from; ++step) {
    Value *isSmall = b.CreateFCmpOLT(at, floatLike(x, from));
    product = b.CreateSelect(isSmall, b.CreateFMul(product, at), product);
    at = b.CreateSelect(isSmall, b.CreateFAdd(at, floatLike(x, 1)), at);
  }
  Value *inverse = b.CreateFDiv(floatLike(x, 1), at);
  Value *series =
      b.CreateFMul(inverse, polynomial(b, b.CreateFMul(inverse, inverse),
                                       {1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
                                        1.0 / 1260, -1.0 / 360, 1.0 / 12}));
  Value *main =
      b.CreateFSub(b.CreateFMul(b.CreateFSub(at, floatLike(x, 0.5)), call(b, "log", at)), at);
  Value *result = b.CreateFAdd(main, b.CreateFAdd(series, floatLike(x, 0.5 * std::log(2 * M_PI))));
  result = b.CreateFSub(result, call(b, "log", product));
  Value *infinity = llvm::ConstantFP::getInfinity(x->getType());
  return b.CreateSelect(b.CreateFCmpOEQ(x, infinity), infinity, result);
}

/// Of the size of gamma.
Value *logGamma(CodeBuilder &b, Values in) {
  Value *x = in[0], *size = fabs(b, x), *positive = logGammaOfPositive(b, size);
  Value *sine = fabs(b, sinPi(b, size, 0));
  Value *ratio = b.CreateFDiv(floatLike(x, M_PI), b.CreateFMul(size, sine));
  Value *mirrored = b.CreateFSub(call(b, "log", ratio), positive);
  Value *infinity = llvm::ConstantFP::getInfinity(x->getType());
  Value *isPole =
      b.CreateAnd(b.CreateFCmpOLE(x, floatLike(x, 0)), b.CreateFCmpOEQ(call(b, "trunc", x), x));
  mirrored = b.CreateSelect(b.CreateFCmpOLT(x, floatLike(x, 0)), mirrored, positive);
  return b.CreateSelect(isPole, infinity, mirrored);
}

Value *gamma(CodeBuilder &b, Values in) {
  Value *x = in[0], *zero = floatLike(x, 0);
  Value *size = call(b, "exp", logGamma(b, in));
  Value *floor = call(b, "floor", x);
  Value *half = b.CreateFMul(floor, floatLike(x, 0.5));
  Value *isOdd = b.CreateFCmpONE(call(b, "floor", half), half);
  Value *isNegative = b.CreateFCmpOLT(x, zero);
  Value *result = b.CreateSelect(b.CreateAnd(isNegative, isOdd), b.CreateFNeg(size), size);
  Value *isPole = b.CreateAnd(isNegative, b.CreateFCmpOEQ(floor, x));
  result = b.CreateSelect(isPole, floatLike(x, std::numeric_limits<double>::quiet_NaN()), result);
  return b.CreateSelect(b.CreateFCmpOEQ(x, zero),
                        copysign(b, llvm::ConstantFP::getInfinity(x->getType()), x), result);
}

//===--- the normal distribution --------------------------------------------------------------===//

/// erfinv(x) for |x| <= 0.9: a guess, and Newton's steps of erf.
Value *centralErfInverse(CodeBuilder &b, Value *x) {
  Value *w = b.CreateFNeg(call(
      b, "log", b.CreateFMul(b.CreateFSub(floatLike(x, 1), x), b.CreateFAdd(floatLike(x, 1), x))));
  // (sqrt((2/(pi a) + w'/2)^2 - w'/a) - ...)^(1/2) with w' = -w: within 0.002 of the value.
  constexpr double a = 0.147, first = 2 / (M_PI * a);
  Value *middle = b.CreateFSub(floatLike(x, first), b.CreateFMul(w, floatLike(x, 0.5)));
  Value *root = call(
      b, "sqrt", b.CreateFAdd(b.CreateFMul(middle, middle), b.CreateFMul(w, floatLike(x, 1 / a))));
  Value *guess = copysign(b, call(b, "sqrt", fabs(b, b.CreateFSub(root, middle))), x);
  for (int step = 0; step < 3; ++step) {
    Value *slope = b.CreateFMul(call(b, "exp", b.CreateFNeg(b.CreateFMul(guess, guess))),
                                floatLike(x, M_2_SQRTPI));
    guess = b.CreateFSub(guess, b.CreateFDiv(b.CreateFSub(call(b, "erf", guess), x), slope));
  }
  return guess;
}

/// erfcinv(t) for small t > 0: Newton's steps of the logarithm, which is nearly a parabola.
Value *tailErfInverse(CodeBuilder &b, Value *t) {
  Value *target = call(b, "log", t), *length = b.CreateFNeg(target);
  Value *guess = call(
      b, "sqrt",
      b.CreateFSub(length, b.CreateFMul(call(b, "log", b.CreateFMul(length, floatLike(t, M_PI))),
                                        floatLike(t, 0.5))));
  for (int step = 0; step < 4; ++step) {
    Value *left = call(b, "erfc", guess);
    Value *slope = b.CreateFMul(call(b, "exp", b.CreateFNeg(b.CreateFMul(guess, guess))),
                                floatLike(t, M_2_SQRTPI));
    Value *error = b.CreateFSub(call(b, "log", left), target);
    guess = b.CreateFAdd(guess, b.CreateFDiv(b.CreateFMul(error, left), slope));
  }
  return b.CreateSelect(b.CreateFCmpOEQ(t, floatLike(t, 0)),
                        llvm::ConstantFP::getInfinity(t->getType()), guess);
}

constexpr double central = 0.9;

Value *erfInverse(CodeBuilder &b, Values in) {
  Value *x = in[0], *size = fabs(b, x);
  Value *tail = copysign(b, tailErfInverse(b, b.CreateFSub(floatLike(x, 1), size)), x);
  Value *isCentral = b.CreateFCmpOLE(size, floatLike(x, central));
  Value *result = b.CreateSelect(isCentral, centralErfInverse(b, x), tail);
  Value *isOutside = b.CreateNot(b.CreateFCmpOLE(size, floatLike(x, 1)));
  result =
      b.CreateSelect(isOutside, floatLike(x, std::numeric_limits<double>::quiet_NaN()), result);
  return b.CreateSelect(b.CreateFCmpOEQ(x, floatLike(x, 0)), x, result);
}

Value *erfcInverse(CodeBuilder &b, Values in) {
  Value *x = in[0], *one = floatLike(x, 1);
  Value *isUpper = b.CreateFCmpOGT(x, one);
  Value *share = b.CreateSelect(isUpper, b.CreateFSub(floatLike(x, 2), x), x);
  Value *tail = tailErfInverse(b, share);
  tail = b.CreateSelect(isUpper, b.CreateFNeg(tail), tail);
  Value *rest = b.CreateFSub(one, x);
  Value *isCentral = b.CreateFCmpOLE(fabs(b, rest), floatLike(x, central));
  Value *result = b.CreateSelect(isCentral, centralErfInverse(b, rest), tail);
  Value *isInside =
      b.CreateAnd(b.CreateFCmpOGE(x, floatLike(x, 0)), b.CreateFCmpOLE(x, floatLike(x, 2)));
  result = b.CreateSelect(isInside, result, floatLike(x, std::numeric_limits<double>::quiet_NaN()));
  return b.CreateSelect(b.CreateFCmpOEQ(rest, floatLike(x, 0)), floatLike(x, 0), result);
}

Value *normalInverse(CodeBuilder &b, Values in) {
  Value *twice = b.CreateFMul(in[0], floatLike(in[0], 2));
  return b.CreateFMul(erfcInverse(b, {twice}), floatLike(in[0], -M_SQRT2));
}

Value *normalShare(CodeBuilder &b, Values in) {
  Value *scaled = b.CreateFMul(in[0], floatLike(in[0], -M_SQRT1_2));
  return b.CreateFMul(call(b, "erfc", scaled), floatLike(in[0], 0.5));
}

/// exp(x^2) erfc(x); beyond 20 by its asymptotic series, where the product would be inf times 0.
Value *scaledErfc(CodeBuilder &b, Values in) {
  Value *x = in[0], *inverse = b.CreateFDiv(floatLike(x, 1), x);
  Value *square = b.CreateFMul(inverse, inverse);
  Value *far =
      b.CreateFMul(b.CreateFMul(inverse, floatLike(x, M_2_SQRTPI / 2)),
                   polynomial(b, square, {-945.0 / 32, 105.0 / 16, -15.0 / 8, 0.75, -0.5, 1}));
  Value *near = b.CreateFMul(call(b, "exp", b.CreateFMul(x, x)), call(b, "erfc", x));
  return b.CreateSelect(b.CreateFCmpOGT(x, floatLike(x, 20)), far, near);
}

//===--- floats and their parts ---------------------------------------------------------------===//

/// Between 2^-1022 and 2^1023.
Value *powerOfTwo(CodeBuilder &b, Value *exponent, llvm::Type *type) {
  Value *wide = b.CreateSExt(exponent, typeLike(exponent, b.i64()));
  return b.CreateBitCast(b.CreateShl(b.CreateAdd(wide, integerLike(wide, 1023)), 52), type);
}

/// x * 2^n, rounded once: below the least power there is, 53 bits stay for the last factor.
Value *scale(CodeBuilder &b, Values in) {
  constexpr int64_t least = -1022, most = 1023, down = least + 53;
  Value *x = in[0], *n = in[1];
  n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, integerLike(n, 2 * down + least));
  n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, integerLike(n, 3 * most));
  for (int step = 0; step < 3; ++step) {
    Value *part = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, integerLike(n, most));
    part = b.CreateSelect(b.CreateICmpSLT(n, integerLike(n, least)), integerLike(n, down), part);
    x = b.CreateFMul(x, powerOfTwo(b, part, x->getType()));
    n = b.CreateSub(n, part);
  }
  return x;
}

/// The exponent of a positive finite number, of a small one too.
Value *exponentOf(CodeBuilder &b, Value *size) {
  constexpr int64_t shift = 64;
  Value *isSmall = b.CreateFCmpOLT(size, floatLike(size, 0x1p-1022));
  Value *scaled = b.CreateSelect(isSmall, b.CreateFMul(size, floatLike(size, 0x1p64)), size);
  Value *bits = b.CreateLShr(b.CreateBitCast(scaled, bitsOf(b, size)), 52);
  bits = b.CreateSub(
      bits, b.CreateSelect(isSmall, integerLike(bits, 1023 + shift), integerLike(bits, 1023)));
  return b.CreateTrunc(bits, typeLike(bits, b.i32()));
}
Value *logOfExponent(CodeBuilder &b, Values in) {
  Value *size = fabs(b, in[0]), *infinity = llvm::ConstantFP::getInfinity(size->getType());
  Value *result = b.CreateSIToFP(exponentOf(b, size), size->getType());
  result =
      b.CreateSelect(b.CreateFCmpOEQ(size, floatLike(size, 0)), b.CreateFNeg(infinity), result);
  return b.CreateSelect(b.CreateFCmpOLT(size, infinity), result, size);
}
Value *exponent(CodeBuilder &b, Values in) {
  Value *x = isSingle(in[0]) ? b.CreateFPExt(in[0], typeLike(in[0], b.getDoubleTy())) : in[0];
  Value *size = fabs(b, x), *result = exponentOf(b, size);
  Value *least = integerLike(result, std::numeric_limits<int32_t>::min());
  Value *most = integerLike(result, std::numeric_limits<int32_t>::max());
  Value *infinity = llvm::ConstantFP::getInfinity(size->getType());
  result = b.CreateSelect(b.CreateFCmpOEQ(size, infinity), most, result);
  return b.CreateSelect(b.CreateFCmpUEQ(size, floatLike(size, 0)), least, result);
}

Value *neighbour(CodeBuilder &b, Values in) {
  Value *x = in[0], *y = in[1], *zero = floatLike(x, 0);
  Value *bits = b.CreateBitCast(x, bitsOf(b, x)), *one = integerLike(bits, 1);
  Value *grows = b.CreateICmpEQ(b.CreateFCmpOLT(x, y), b.CreateFCmpOGT(x, zero));
  Value *next = b.CreateSelect(grows, b.CreateAdd(bits, one), b.CreateSub(bits, one));
  Value *result = b.CreateBitCast(next, x->getType());
  Value *smallest = copysign(b, b.CreateBitCast(one, x->getType()), y);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, zero), smallest, result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, y), y, result);
  return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), result);
}

/// What is left of x by the nearest multiple of y, the even one of two.
Value *remainder(CodeBuilder &b, Values in) {
  Value *x = fabs(b, in[0]), *y = fabs(b, in[1]), *zero = floatLike(x, 0);
  // Of twice y, where that is a number, so that the quotient's last bit is known.
  double most = isSingle(x) ? 0x1p126 : 0x1p1022;
  Value *rest = binaryMath("fmod")(b, x, b.CreateFAdd(y, y));
  rest = b.CreateSelect(b.CreateFCmpOLE(y, floatLike(y, most)), rest, x);
  // rest > y/2 without halving what has no half: rest > y - rest.
  auto isBeyond = [&](bool orEqual) {
    Value *left = b.CreateFSub(y, rest);
    return orEqual ? b.CreateFCmpOGE(rest, left) : b.CreateFCmpOGT(rest, left);
  };
  Value *first = isBeyond(false);
  rest = b.CreateSelect(first, b.CreateFSub(rest, y), rest);
  rest = b.CreateSelect(b.CreateAnd(first, isBeyond(true)), b.CreateFSub(rest, y), rest);
  Value *isNegative = b.CreateICmpSLT(b.CreateBitCast(in[0], bitsOf(b, x)),
                                      llvm::Constant::getNullValue(bitsOf(b, x)));
  Value *result = b.CreateSelect(isNegative, b.CreateFNeg(rest), rest);
  Value *infinity = llvm::ConstantFP::getInfinity(x->getType());
  Value *isNumber = b.CreateAnd(b.CreateFCmpOLT(x, infinity), b.CreateFCmpOGT(y, zero));
  Value *isFar = b.CreateAnd(isNumber, b.CreateFCmpOEQ(y, infinity));
  result = b.CreateSelect(isNumber, result, floatLike(x, std::numeric_limits<double>::quiet_NaN()));
  return b.CreateSelect(isFar, in[0], result);
}

Value *difference(CodeBuilder &b, Values in) {
  return b.CreateSelect(b.CreateFCmpOLE(in[0], in[1]), floatLike(in[0], 0),
                        b.CreateFSub(in[0], in[1]));
}
Value *saturate(CodeBuilder &b, Values in) {
  Value *zero = floatLike(in[0], 0), *one = floatLike(in[0], 1);
  Value *low = b.CreateSelect(b.CreateFCmpOGT(in[0], zero), in[0], zero);
  return b.CreateSelect(b.CreateFCmpOLT(low, one), low, one);
}

Value *length(CodeBuilder &b, Values in) {
  Value *result = in[0];
  for (Value *next : in.drop_front())
    result = binaryMath("hypot")(b, result, next);
  return result;
}
Value *inverse(CodeBuilder &b, Value *x) { return b.CreateFDiv(floatLike(x, 1), x); }
Value *inverseLength(CodeBuilder &b, Values in) { return inverse(b, length(b, in)); }
Value *inverseCubeRoot(CodeBuilder &b, Values in) { return inverse(b, call(b, "cbrt", in[0])); }
Value *inverseRoot(CodeBuilder &b, Values in) { return inverse(b, call(b, "sqrt", in[0])); }

template <llvm::Instruction::BinaryOps operation> Value *rounded(CodeBuilder &b, Values in) {
  return b.CreateBinOp(operation, in[0], in[1]);
}

//===--- integers -----------------------------------------------------------------------------===//

/// The upper half of the product.
template <bool isSigned> Value *upperProduct(CodeBuilder &b, Values in) {
  unsigned bits = in[0]->getType()->getScalarSizeInBits();
  llvm::Type *wide = typeLike(in[0], b.getIntNTy(2 * bits));
  auto widened = [&](Value *x) { return isSigned ? b.CreateSExt(x, wide) : b.CreateZExt(x, wide); };
  Value *product = b.CreateMul(widened(in[0]), widened(in[1]));
  return b.CreateTrunc(b.CreateLShr(product, bits), in[0]->getType());
}

/// The product of the lower 24 bits.
template <bool isSigned> Value *shortProduct(CodeBuilder &b, Values in) {
  auto lower = [&](Value *x) {
    Value *shifted = b.CreateShl(x, 8);
    return isSigned ? b.CreateAShr(shifted, 8) : b.CreateLShr(shifted, 8);
  };
  return b.CreateMul(lower(in[0]), lower(in[1]));
}

/// The mean, without a bit above.
template <bool isSigned, bool isUp> Value *mean(CodeBuilder &b, Values in) {
  Value *differing = b.CreateXor(in[0], in[1]);
  Value *half = isSigned ? b.CreateAShr(differing, 1) : b.CreateLShr(differing, 1);
  return isUp ? b.CreateSub(b.CreateOr(in[0], in[1]), half)
              : b.CreateAdd(b.CreateAnd(in[0], in[1]), half);
}

template <bool isSigned> Value *sumOfDistance(CodeBuilder &b, Values in) {
  auto most = isSigned ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
  auto least = isSigned ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
  Value *distance = b.CreateSub(b.CreateBinaryIntrinsic(most, in[0], in[1]),
                                b.CreateBinaryIntrinsic(least, in[0], in[1]));
  return b.CreateAdd(distance, in[2]);
}

/// Each of the four bytes is one of eight, by the lower three bits of its selector's nibble.
Value *permutedBytes(CodeBuilder &b, Values in) {
  llvm::Type *wide = typeLike(in[0], b.i64());
  Value *all = b.CreateOr(b.CreateZExt(in[0], wide), b.CreateShl(b.CreateZExt(in[1], wide), 32));
  Value *result = llvm::Constant::getNullValue(in[0]->getType());
  for (unsigned byte = 0; byte < 4; ++byte) {
    Value *which = b.CreateAnd(b.CreateLShr(in[2], 4 * byte), integerLike(in[2], 7));
    Value *shift = b.CreateZExt(b.CreateShl(which, 3), wide);
    Value *chosen = b.CreateAnd(b.CreateLShr(all, shift), integerLike(all, 255));
    chosen = b.CreateTrunc(chosen, in[0]->getType());
    result = b.CreateOr(result, b.CreateShl(chosen, 8 * byte));
  }
  return result;
}

//===--- conversions --------------------------------------------------------------------------===//

template <bool isSigned, bool isDouble> Value *toFloat(CodeBuilder &b, Values in) {
  llvm::Type *type = typeLike(in[0], isDouble ? b.getDoubleTy() : b.getFloatTy());
  return isSigned ? b.CreateSIToFP(in[0], type) : b.CreateUIToFP(in[0], type);
}
Value *narrowed(CodeBuilder &b, Values in) {
  return b.CreateFPTrunc(in[0], typeLike(in[0], b.getFloatTy()));
}
template <bool isFloat, unsigned bits> Value *sameBits(CodeBuilder &b, Values in) {
  llvm::Type *floats = bits == 64 ? b.getDoubleTy() : b.getFloatTy();
  return b.CreateBitCast(in[0], typeLike(in[0], isFloat ? floats : b.getIntNTy(bits)));
}
/// To an unsigned integer; what is beyond its range is the nearest one, NaN is 0.
template <unsigned bits> Value *toUnsigned(CodeBuilder &b, const char *rounding, Values in) {
  llvm::Type *type = typeLike(in[0], b.getIntNTy(bits));
  return b.CreateIntrinsic(llvm::Intrinsic::fptoui_sat, {type, in[0]->getType()},
                           {call(b, rounding, in[0])});
}
template <unsigned bits> Value *toUnsignedNearest(CodeBuilder &b, Values in) {
  return toUnsigned<bits>(b, "rint", in);
}
template <unsigned bits> Value *toUnsignedDown(CodeBuilder &b, Values in) {
  return toUnsigned<bits>(b, "floor", in);
}
template <unsigned bits> Value *toUnsignedUp(CodeBuilder &b, Values in) {
  return toUnsigned<bits>(b, "ceil", in);
}
template <unsigned bits> Value *toUnsignedShort(CodeBuilder &b, Values in) {
  return toUnsigned<bits>(b, "trunc", in);
}
template <unsigned shift> Value *halfOfDouble(CodeBuilder &b, Values in) {
  Value *bits = b.CreateBitCast(in[0], typeLike(in[0], b.i64()));
  return b.CreateTrunc(b.CreateLShr(bits, shift), typeLike(in[0], b.i32()));
}
Value *doubleOfHalves(CodeBuilder &b, Values in) {
  llvm::Type *wide = typeLike(in[0], b.i64());
  Value *bits = b.CreateOr(b.CreateShl(b.CreateZExt(in[0], wide), 32), b.CreateZExt(in[1], wide));
  return b.CreateBitCast(bits, typeLike(in[0], b.getDoubleTy()));
}

struct Row {
  llvm::StringLiteral name;
  LibdeviceFunction function;
};
using Op = llvm::Instruction::BinaryOps;

/// For f64, and for f32 with an f behind the name.
constexpr Row ofFloats[] = {
    {"sinpi", inDouble<sinPiOf>},
    {"cospi", inDouble<cosPiOf>},
    {"lgamma", inDouble<logGamma>},
    {"tgamma", inDouble<gamma>},
    {"erfinv", inDouble<erfInverse>},
    {"erfcinv", inDouble<erfcInverse>},
    {"erfcx", inDouble<scaledErfc>},
    {"normcdf", inDouble<normalShare>},
    {"normcdfinv", inDouble<normalInverse>},
    {"ldexp", inDouble<scale>},
    {"scalbn", inDouble<scale>},
    {"logb", inDouble<logOfExponent>},
    {"ilogb", exponent},
    {"nextafter", neighbour},
    {"remainder", remainder},
    {"fdim", difference},
    {"saturate", saturate},
    {"norm3d", inDouble<length>},
    {"norm4d", inDouble<length>},
    {"rnorm3d", inDouble<inverseLength>},
    {"rnorm4d", inDouble<inverseLength>},
    {"rhypot", inDouble<inverseLength>},
    {"rcbrt", inDouble<inverseCubeRoot>},
};

constexpr Row others[] = {
    {"frsqrt_rn", inDouble<inverseRoot>},
    {"fadd_rn", rounded<Op::FAdd>},
    {"dadd_rn", rounded<Op::FAdd>},
    {"fsub_rn", rounded<Op::FSub>},
    {"dsub_rn", rounded<Op::FSub>},
    {"fmul_rn", rounded<Op::FMul>},
    {"dmul_rn", rounded<Op::FMul>},
    {"mulhi", upperProduct<true>},
    {"umulhi", upperProduct<false>},
    {"mul64hi", upperProduct<true>},
    {"umul64hi", upperProduct<false>},
    {"mul24", shortProduct<true>},
    {"umul24", shortProduct<false>},
    {"hadd", mean<true, false>},
    {"uhadd", mean<false, false>},
    {"rhadd", mean<true, true>},
    {"urhadd", mean<false, true>},
    {"sad", sumOfDistance<true>},
    {"usad", sumOfDistance<false>},
    {"byte_perm", permutedBytes},
    {"int2float_rn", toFloat<true, false>},
    {"uint2float_rn", toFloat<false, false>},
    {"ll2float_rn", toFloat<true, false>},
    {"ull2float_rn", toFloat<false, false>},
    {"int2double_rn", toFloat<true, true>},
    {"uint2double_rn", toFloat<false, true>},
    {"ll2double_rn", toFloat<true, true>},
    {"ull2double_rn", toFloat<false, true>},
    {"double2float_rn", narrowed},
    {"int_as_float", sameBits<true, 32>},
    {"uint_as_float", sameBits<true, 32>},
    {"longlong_as_double", sameBits<true, 64>},
    {"float_as_int", sameBits<false, 32>},
    {"float_as_uint", sameBits<false, 32>},
    {"double_as_longlong", sameBits<false, 64>},
    {"double2loint", halfOfDouble<0>},
    {"double2hiint", halfOfDouble<32>},
    {"hiloint2double", doubleOfHalves},
};

LibdeviceFunction toUnsignedBy(llvm::StringRef symbol) {
  bool isLong = false;
  for (auto [from, wide] : {std::pair("float2uint_", false), std::pair("double2uint_", false),
                            std::pair("float2ull_", true), std::pair("double2ull_", true)})
    if (symbol.consume_front(from)) {
      isLong = wide;
      if (symbol == "rn")
        return isLong ? toUnsignedNearest<64> : toUnsignedNearest<32>;
      if (symbol == "rd")
        return isLong ? toUnsignedDown<64> : toUnsignedDown<32>;
      if (symbol == "ru")
        return isLong ? toUnsignedUp<64> : toUnsignedUp<32>;
      if (symbol == "rz")
        return isLong ? toUnsignedShort<64> : toUnsignedShort<32>;
    }
  return nullptr;
}

} // namespace

LibdeviceFunction libdeviceFunction(llvm::StringRef symbol) {
  for (const Row &row : others)
    if (row.name == symbol)
      return row.function;
  llvm::StringRef single = symbol.drop_back(symbol.ends_with("f") ? 1 : 0);
  for (const Row &row : ofFloats)
    if (row.name == symbol || row.name == single)
      return row.function;
  return toUnsignedBy(symbol);
}

} // namespace pellucid::codegen
