// SPDX-License-Identifier: Apache-2.0
// The f32 functions. Those that kernels use all the time are computed in f32; the rare ones go
// through the f64 version, which leaves one rounding.
#include "codegen/common/VectorMath.h"

#include "codegen/common/VectorMathDouble.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <bit>
#include <cmath>

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

Value *emitPolynomial(CodeBuilder &b, Value *x, llvm::ArrayRef<double> coefficients) {
  Value *sum = floatLike(x, coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = emitFma(b, sum, x, floatLike(x, coefficient));
  return sum;
}

Value *emitFma(CodeBuilder &b, Value *x, Value *y, Value *z) {
  return b.CreateIntrinsic(I::fma, {x->getType()}, {x, y, z});
}

namespace {

bool isDouble(Value *x) { return x->getType()->getScalarType()->isDoubleTy(); }
Value *fma(CodeBuilder &b, Value *x, Value *y, Value *z) { return emitFma(b, x, y, z); }
Value *number(Value *like, double value) { return floatLike(like, value); }
Value *bits(CodeBuilder &b, Value *x) { return b.CreateBitCast(x, typeLike(x, b.i32())); }
Value *fromBits(CodeBuilder &b, Value *x) {
  return b.CreateBitCast(x, typeLike(x, b.getFloatTy()));
}
Value *absolute(CodeBuilder &b, Value *x) { return b.CreateUnaryIntrinsic(I::fabs, x); }
Value *withSignOf(CodeBuilder &b, Value *magnitude, Value *sign) {
  return b.CreateBinaryIntrinsic(I::copysign, magnitude, sign);
}

/// The f32 result of an f64 function.
template <UnaryMath wide> Value *throughDouble(CodeBuilder &b, Value *x) {
  if (isDouble(x))
    return wide(b, x);
  Value *result = wide(b, b.CreateFPExt(x, typeLike(x, b.getDoubleTy())));
  return b.CreateFPTrunc(result, x->getType());
}

/// x rounded to an integer, as float and as i32; |x| below 2^22.
struct Rounded {
  Value *number, *integer;
};
Rounded roundSmall(CodeBuilder &b, Value *product, Value *factor) {
  Value *magic = number(product, 0x1.8p23);
  Value *shifted = fma(b, product, factor, magic);
  return {b.CreateFSub(shifted, magic),
          b.CreateSub(bits(b, shifted),
                      integerLike(bits(b, shifted), std::bit_cast<int32_t>(0x1.8p23f)))};
}

/// value * 2^n, halves of 16 lanes each by one instruction.
Value *scaleByInstruction(CodeBuilder &b, Value *value, Value *n) {
  unsigned lanes = laneCount(value);
  if (lanes > 16) {
    llvm::SmallVector<int> first, second, both;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      (lane < lanes / 2 ? first : second).push_back(lane);
      both.push_back(lane);
    }
    auto half = [&](llvm::ArrayRef<int> picked) {
      return scaleByInstruction(b, b.CreateShuffleVector(value, picked),
                                b.CreateShuffleVector(n, picked));
    };
    Value *low = half(first);
    return b.CreateShuffleVector(low, half(second), both);
  }
  constexpr int currentRounding = 4;
  return b.CreateIntrinsic(I::x86_avx512_mask_scalef_ps_512, {},
                           {value, n, llvm::Constant::getNullValue(value->getType()),
                            b.getInt16(-1), b.getInt32(currentRounding)});
}

/// value * 2^n for n in [-252, 254]: two factors, so that subnormal results are rounded once.
Value *scaleByPower(CodeBuilder &b, Value *value, const Rounded &power) {
  if (b.hasScale16 && laneCount(value) % 16 == 0)
    return scaleByInstruction(b, value, power.number);
  Value *n = power.integer;
  Value *half = b.CreateAShr(n, integerLike(n, 1));
  auto factor = [&](Value *k) {
    return fromBits(b, b.CreateShl(b.CreateAdd(k, integerLike(k, 127)), integerLike(k, 23)));
  };
  return b.CreateFMul(b.CreateFMul(value, factor(half)), factor(b.CreateSub(n, half)));
}

/// What `power` is multiplied with where `x` is at least `low`; below, where 2^n of it rounds to
/// zero, nothing: a result that underflows takes an Intel processor 150 cycles, and softmax asks
/// for many with -inf.
Value *unlessVanishing(CodeBuilder &b, Value *x, double low, Value *value) {
  return b.CreateSelect(b.CreateFCmpOLT(x, number(x, low)), number(x, 0.0), value);
}

Value *clampKeepingNan(CodeBuilder &b, Value *x, double low, double high) {
  Value *below = b.CreateFCmpOLT(x, number(x, low));
  x = b.CreateSelect(below, number(x, low), x);
  return b.CreateSelect(b.CreateFCmpOGT(x, number(x, high)), number(x, high), x);
}

Value *exp32(CodeBuilder &b, Value *given) {
  constexpr double low = -104.0;
  Value *x = clampKeepingNan(b, given, low, 89.0);
  Rounded power = roundSmall(b, x, number(x, 0x1.715476p+0));
  Value *n = power.number;
  Value *high = fma(b, n, number(x, -0x1.62e400p-1), x);
  Value *lower = b.CreateFMul(n, number(x, -0x1.7f7d1cp-20));
  Value *r = b.CreateFAdd(high, lower);
  Value *q =
      emitPolynomial(b, r, {0x1.0p-1, 0x1.55548ep-3, 0x1.55545ep-5, 0x1.123bdep-7, 0x1.6db4dep-10});
  // `lower` joins the small term first, so that it is not lost in the larger one's rounding.
  Value *tail = b.CreateFAdd(fma(b, b.CreateFMul(r, r), q, lower), high);
  Value *whole = b.CreateFAdd(tail, number(x, 1.0));
  return scaleByPower(b, unlessVanishing(b, given, low, whole), power);
}

Value *exp2_32(CodeBuilder &b, Value *given) {
  constexpr double low = -151.0;
  Value *x = clampKeepingNan(b, given, low, 129.0);
  Rounded power = roundSmall(b, x, number(x, 1.0));
  Value *r = b.CreateFSub(x, power.number);
  Value *q = emitPolynomial(
      b, r,
      {0x1.62e43p-1, 0x1.ebfbep-3, 0x1.c6af6cp-5, 0x1.3b29e2p-7, 0x1.5f095cp-10, 0x1.446d38p-13});
  Value *whole = fma(b, r, q, number(x, 1.0));
  return scaleByPower(b, unlessVanishing(b, given, low, whole), power);
}

/// x = 2^exponent * (1 + fraction) with 1 + fraction between sqrt(1/2) and sqrt(2).
struct LogParts {
  Value *exponent, *fraction;
};
LogParts splitForLog(CodeBuilder &b, Value *x) {
  Value *isSubnormal = b.CreateFCmpOLT(x, number(x, 0x1p-126));
  Value *normal = b.CreateSelect(isSubnormal, b.CreateFMul(x, number(x, 0x1p25)), x);
  Value *raw = bits(b, normal);
  Value *shifted = b.CreateSub(raw, integerLike(raw, 0x3f3504f3));
  Value *exponent = b.CreateAShr(shifted, integerLike(raw, 23));
  Value *mantissa = fromBits(b, b.CreateSub(raw, b.CreateShl(exponent, integerLike(raw, 23))));
  Value *corrected = b.CreateSIToFP(exponent, x->getType());
  corrected = b.CreateSelect(isSubnormal, b.CreateFSub(corrected, number(x, 25.0)), corrected);
  return {corrected, b.CreateFSub(mantissa, number(x, 1.0))};
}

/// Values of every logarithm at 0, infinity, NaN and below 0.
Value *logSpecials(CodeBuilder &b, Value *x, Value *result) {
  Value *infinity = number(x, INFINITY);
  result = b.CreateSelect(b.CreateFCmpOLT(x, infinity), result, x);
  result = b.CreateSelect(b.CreateFCmpOLT(x, number(x, 0.0)), number(x, NAN), result);
  return b.CreateSelect(b.CreateFCmpOEQ(x, number(x, 0.0)), number(x, -INFINITY), result);
}

/// k log(2) + log(1 + f)
Value *logOfParts(CodeBuilder &b, Value *k, Value *f) {
  Value *square = b.CreateFMul(f, f);
  Value *p =
      emitPolynomial(b, f,
                     {0x1.555546p-2, -0x1.000006p-2, 0x1.99a4f6p-3, -0x1.555cccp-3, 0x1.23322ep-3,
                      -0x1.fc07c2p-4, 0x1.e7288p-4, -0x1.defffep-4, 0x1.14ca48p-4});
  Value *tail = b.CreateFMul(b.CreateFMul(square, f), p);
  tail = fma(b, k, number(f, -0x1.05c610p-29), tail);
  tail = fma(b, square, number(f, -0.5), tail);
  return fma(b, k, number(f, 0x1.62e430p-1), b.CreateFAdd(f, tail));
}

Value *log32(CodeBuilder &b, Value *x) {
  auto [k, f] = splitForLog(b, x);
  return logSpecials(b, x, logOfParts(b, k, f));
}

/// Of 1 + x, with what its rounding loses put back into the fraction.
Value *log1p32(CodeBuilder &b, Value *x) {
  Value *one = number(x, 1.0), *sum = b.CreateFAdd(x, one);
  Value *raw = bits(b, sum);
  Value *k = b.CreateAShr(b.CreateSub(raw, integerLike(raw, 0x3f3504f3)), integerLike(raw, 23));
  Value *mantissa = fromBits(b, b.CreateSub(raw, b.CreateShl(k, integerLike(raw, 23))));
  Value *lost = b.CreateFSub(x, b.CreateFSub(sum, one));
  // Beyond 2^30 nothing is lost that shows.
  Value *power = b.CreateBinaryIntrinsic(I::smin, k, integerLike(raw, 30));
  Value *scale = b.CreateShl(b.CreateSub(integerLike(raw, 127), power), integerLike(raw, 23));
  Value *f = fma(b, lost, fromBits(b, scale), b.CreateFSub(mantissa, one));
  Value *result = logOfParts(b, b.CreateSIToFP(k, x->getType()), f);
  result = logSpecials(b, sum, result);
  return b.CreateSelect(b.CreateFCmpOEQ(x, number(x, 0.0)), x, result); // keeps -0
}

Value *log2_32(CodeBuilder &b, Value *x) {
  auto [k, f] = splitForLog(b, x);
  Value *square = b.CreateFMul(f, f);
  Value *p =
      emitPolynomial(b, f,
                     {0x1.555546p-2, -0x1.000006p-2, 0x1.99a4f6p-3, -0x1.555cccp-3, 0x1.23322ep-3,
                      -0x1.fc07c2p-4, 0x1.e7288p-4, -0x1.defffep-4, 0x1.14ca48p-4});
  Value *tail = fma(b, square, number(x, -0.5), b.CreateFMul(b.CreateFMul(square, f), p));
  // log2(1 + f) = (f + tail) * log2(e), with f's product kept in two parts.
  Value *high = b.CreateFMul(f, number(x, 0x1.715476p+0));
  Value *low = fma(b, f, number(x, 0x1.715476p+0), b.CreateFNeg(high));
  low = fma(b, f, number(x, 0x1.4ae0c0p-26), low);
  low = fma(b, tail, number(x, 0x1.715476p+0), low);
  Value *sum = b.CreateFAdd(k, high);
  Value *lost = b.CreateFAdd(b.CreateFSub(k, sum), high);
  Value *result = b.CreateFAdd(sum, b.CreateFAdd(lost, low));
  return logSpecials(b, x, result);
}

/// Reduced by quarter turns in f64.
Value *sineByDouble(CodeBuilder &b, Value *x, int odd) {
  Value *wide = b.CreateFPExt(x, typeLike(x, b.getDoubleTy()));
  QuarterTurns turns = reduceByQuarterTurns(b, wide, /*needLow=*/false);
  Value *r = b.CreateFPTrunc(turns.remainder, x->getType());
  Value *quadrant = b.CreateAdd(b.CreateTrunc(turns.quadrant, typeLike(x, b.i32())),
                                integerLike(bits(b, x), odd));
  return sineOfTurned(b, r, quadrant);
}

/// sin (odd = 0) or cos (odd = 1). Angles below `most` are reduced in f32 by pi/2 in three parts:
/// what the first one leaves has no error, and each of the others rounds a remainder once, however
/// small it has become. Angles beyond, infinities and NaN go through f64.
Value *sine32(CodeBuilder &b, Value *x, int odd) {
  constexpr double most = 0x1p15, shift = 0x1.8p23;
  // The sum's last bits are the number of quarter turns.
  Value *shifted = fma(b, x, number(x, 0x1.45f306p-1), number(x, shift));
  Value *turns = b.CreateFSub(shifted, number(x, shift));
  Value *r = x;
  for (double part : {-0x1.921fb6p+0, 0x1.777a5cp-25, 0x1.ee59dap-50})
    r = fma(b, turns, number(x, part), r);
  Value *quadrant = b.CreateAdd(bits(b, shifted), integerLike(bits(b, x), odd));
  Value *result = sineOfTurned(b, r, quadrant);

  Value *isLarge = b.CreateFCmpUGE(absolute(b, x), number(x, most));
  llvm::Function *function = b.GetInsertBlock()->getParent();
  llvm::BasicBlock *before = b.GetInsertBlock(),
                   *large = llvm::BasicBlock::Create(b.getContext(), "large", function),
                   *after = llvm::BasicBlock::Create(b.getContext(), "after", function);
  b.CreateCondBr(laneCount(x) > 1 ? b.CreateOrReduce(isLarge) : isLarge, large, after);
  b.SetInsertPoint(large);
  // An angle's result is the same whatever its neighbours are.
  Value *exact = b.CreateSelect(isLarge, sineByDouble(b, x, odd), result);
  llvm::BasicBlock *end = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode *chosen = b.CreatePHI(x->getType(), 2);
  chosen->addIncoming(result, before);
  chosen->addIncoming(exact, end);
  return chosen;
}
Value *sin32(CodeBuilder &b, Value *x) {
  Value *result = sine32(b, x, 0);
  return b.CreateSelect(b.CreateFCmpOEQ(x, number(x, 0.0)), x, result); // keeps -0
}
Value *cos32(CodeBuilder &b, Value *x) { return sine32(b, x, 1); }

/// `function` on 16 lanes at a time.
Value *bySixteens(CodeBuilder &b, Value *x, UnaryMath function) {
  unsigned lanes = laneCount(x);
  if (lanes == 16)
    return function(b, x);
  llvm::SmallVector<int> first, second, both;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    (lane < lanes / 2 ? first : second).push_back(lane);
    both.push_back(lane);
  }
  Value *low = bySixteens(b, b.CreateShuffleVector(x, first), function);
  return b.CreateShuffleVector(low, bySixteens(b, b.CreateShuffleVector(x, second), function),
                               both);
}

Value *tanh32(CodeBuilder &b, Value *x) {
  if (b.hasScale16 && laneCount(x) % 16 == 0)
    return bySixteens(b, x, tanhOfSixteen);
  Value *a = absolute(b, x);
  Value *square = b.CreateFMul(x, x);
  Value *p = emitPolynomial(b, square,
                            {-0x1.555554p-2, 0x1.11105ep-3, -0x1.b9ecf2p-5, 0x1.6377eap-6,
                             -0x1.0b8d48p-7, 0x1.174d4cp-9});
  Value *small = fma(b, b.CreateFMul(square, x), p, x);
  Value *e = exp32(b, b.CreateFMul(a, number(x, 2.0)));
  Value *large =
      b.CreateFSub(number(x, 1.0), b.CreateFDiv(number(x, 2.0), b.CreateFAdd(e, number(x, 1.0))));
  Value *isSmall = b.CreateFCmpOLT(a, number(x, 0.625));
  // The small one has the sign of x already, but for -0.
  return withSignOf(b, b.CreateSelect(isSmall, small, large), x);
}

Value *erf32(CodeBuilder &b, Value *x) {
  if (b.hasScale16 && laneCount(x) % 16 == 0)
    return bySixteens(b, x, erfOfSixteen);
  Value *a = absolute(b, x);
  Value *square = b.CreateFMul(x, x);
  // erf(x) / x - 1: small beside 1, so its rounding hardly counts.
  Value *p = emitPolynomial(b, square,
                            {0x1.06eba8214db69p-3, -0x1.812746p-2, 0x1.ce2f0ap-4, -0x1.b829d8p-6,
                             0x1.562b1ap-8, -0x1.bcd7dep-11, 0x1.d8b88ep-14, -0x1.44cfc4p-17});
  Value *small = fma(b, x, p, x);
  // Above 1: erf = 1 - exp(-g) with a polynomial g; from 4 on it is 1.
  Value *capped = b.CreateSelect(b.CreateFCmpOGT(a, number(x, 4.0)), number(x, 4.0), a);
  Value *g =
      emitPolynomial(b, capped,
                     {-0x1.9c6ec2p-13, 0x1.212eeap+0, 0x1.4428f6p-1, 0x1.bc8e7cp-4, -0x1.9e6e5ep-6,
                      0x1.163776p-8, -0x1.db0eb4p-12, 0x1.8b8958p-16, -0x1.1878a2p-23});
  Value *large = b.CreateFSub(number(x, 1.0), exp32(b, b.CreateFNeg(g)));
  Value *isSmall = b.CreateFCmpOLT(a, number(x, 1.0));
  return b.CreateSelect(isSmall, small, withSignOf(b, large, x));
}

template <UnaryMath single, UnaryMath wide> Value *bySize(CodeBuilder &b, Value *x) {
  return isDouble(x) ? wide(b, x) : single(b, x);
}
template <I::ID id> Value *intrinsic(CodeBuilder &b, Value *x) {
  return b.CreateUnaryIntrinsic(id, x);
}
template <I::ID id> Value *intrinsic2(CodeBuilder &b, Value *x, Value *y) {
  return b.CreateBinaryIntrinsic(id, x, y);
}

Value *rsqrt(CodeBuilder &b, Value *x) {
  return b.CreateFDiv(number(x, 1.0), b.CreateUnaryIntrinsic(I::sqrt, x));
}
// Away from zero at ties; 0.49999997 must stay below one half.
Value *roundAway(CodeBuilder &b, Value *x) {
  Value *whole = b.CreateUnaryIntrinsic(I::trunc, x);
  Value *rest = absolute(b, b.CreateFSub(x, whole));
  Value *up = b.CreateSelect(b.CreateFCmpOGE(rest, number(x, 0.5)), number(x, 1.0), number(x, 0.0));
  return withSignOf(b, b.CreateFAdd(absolute(b, whole), up), x);
}
Value *isNan(CodeBuilder &b, Value *x) { return b.CreateFCmpUNO(x, x); }
Value *isInfinite(CodeBuilder &b, Value *x) {
  return b.CreateFCmpOEQ(absolute(b, x), number(x, INFINITY));
}
Value *isFinite(CodeBuilder &b, Value *x) {
  return b.CreateFCmpONE(absolute(b, x), number(x, INFINITY));
}
Value *sigmoid(CodeBuilder &b, Value *x) {
  Value *e = emitExp(b, b.CreateFNeg(x));
  return b.CreateFDiv(number(x, 1.0), b.CreateFAdd(e, number(x, 1.0)));
}

template <BinaryMath wide> Value *throughDouble2(CodeBuilder &b, Value *x, Value *y) {
  if (isDouble(x))
    return wide(b, x, y);
  llvm::Type *type = typeLike(x, b.getDoubleTy());
  return b.CreateFPTrunc(wide(b, b.CreateFPExt(x, type), b.CreateFPExt(y, type)), x->getType());
}

Value *reciprocal(CodeBuilder &b, Value *x) {
  return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0), x);
}
Value *divide(CodeBuilder &b, Value *x, Value *y) { return b.CreateFDiv(x, y); }
Value *add(CodeBuilder &b, Value *x, Value *y) { return b.CreateFAdd(x, y); }
Value *multiply(CodeBuilder &b, Value *x, Value *y) { return b.CreateFMul(x, y); }

} // namespace

Value *sineOfTurned(CodeBuilder &b, Value *r, Value *quadrant) {
  Value *square = b.CreateFMul(r, r);
  Value *sine = fma(
      b, b.CreateFMul(square, r),
      emitPolynomial(b, square, {-0x1.555556p-3, 0x1.111108p-7, -0x1.a00f94p-13, 0x1.6cd5ecp-19}),
      r);
  Value *cosine = fma(b, square, number(r, -0.5), number(r, 1.0));
  cosine = fma(
      b, b.CreateFMul(square, square),
      emitPolynomial(b, square, {0x1.555556p-5, -0x1.6c16b8p-10, 0x1.a01118p-16, -0x1.24290ap-22}),
      cosine);
  Value *useCosine =
      b.CreateICmpNE(b.CreateAnd(quadrant, integerLike(quadrant, 1)), integerLike(quadrant, 0));
  Value *sign =
      b.CreateShl(b.CreateAnd(quadrant, integerLike(quadrant, 2)), integerLike(quadrant, 30));
  Value *result = b.CreateSelect(useCosine, cosine, sine);
  return fromBits(b, b.CreateXor(bits(b, result), sign));
}

Value *emitExp(CodeBuilder &b, Value *x) { return bySize<exp32, expDouble>(b, x); }

UnaryMath unaryMath(llvm::StringRef name) {
  static const llvm::StringMap<UnaryMath> table = {
      {"exp", bySize<exp32, expDouble>},
      {"exp2", bySize<exp2_32, exp2Double>},
      {"exp10", throughDouble<exp10Double>},
      {"expm1", throughDouble<expm1Double>},
      {"log", bySize<log32, logDouble>},
      {"log2", bySize<log2_32, log2Double>},
      {"log10", throughDouble<log10Double>},
      {"log1p", bySize<log1p32, log1pDouble>},
      {"sin", bySize<sin32, sinDouble>},
      {"cos", bySize<cos32, cosDouble>},
      {"tan", throughDouble<tanDouble>},
      {"asin", throughDouble<asinDouble>},
      {"acos", throughDouble<acosDouble>},
      {"atan", throughDouble<atanDouble>},
      {"sinh", throughDouble<sinhDouble>},
      {"cosh", throughDouble<coshDouble>},
      {"tanh", bySize<tanh32, tanhDouble>},
      {"asinh", throughDouble<asinhDouble>},
      {"acosh", throughDouble<acoshDouble>},
      {"atanh", throughDouble<atanhDouble>},
      {"erf", bySize<erf32, erfDouble>},
      {"erfc", throughDouble<erfcDouble>},
      {"sqrt", intrinsic<I::sqrt>},
      {"fsqrt_rn", intrinsic<I::sqrt>},
      {"dsqrt_rn", intrinsic<I::sqrt>},
      {"frcp_rn", reciprocal},
      {"drcp_rn", reciprocal},
      {"rsqrt", rsqrt},
      {"cbrt", throughDouble<cbrtDouble>},
      {"fabs", intrinsic<I::fabs>},
      {"floor", intrinsic<I::floor>},
      {"ceil", intrinsic<I::ceil>},
      {"trunc", intrinsic<I::trunc>},
      {"rint", intrinsic<I::roundeven>},
      {"nearbyint", intrinsic<I::roundeven>},
      {"round", roundAway},
      {"isnan", isNan},
      {"isinf", isInfinite},
      {"isfinite", isFinite},
      {"sigmoid", sigmoid},
  };
  return table.lookup(name);
}

BinaryMath binaryMath(llvm::StringRef name) {
  static const llvm::StringMap<BinaryMath> table = {
      {"pow", throughDouble2<powDouble>},
      {"fmod", throughDouble2<fmodDouble>},
      {"atan2", throughDouble2<atan2Double>},
      {"hypot", throughDouble2<hypotDouble>},
      {"copysign", intrinsic2<I::copysign>},
      {"fmin", intrinsic2<I::minimumnum>},
      {"fmax", intrinsic2<I::maximumnum>},
      {"div_rn", divide},
      {"fdiv_rn", divide},
      {"ddiv_rn", divide},
      {"fdivide", divide},
      {"add_rn", add},
      {"fadd_rn", add},
      {"dadd_rn", add},
      {"mul_rn", multiply},
      {"fmul_rn", multiply},
      {"dmul_rn", multiply},
  };
  return table.lookup(name);
}

} // namespace pellucid::codegen
