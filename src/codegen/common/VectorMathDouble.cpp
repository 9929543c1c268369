// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/VectorMathDouble.h"

#include "llvm/IR/Intrinsics.h"

#include <cmath>

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

namespace {

Value *number(Value *like, double value) { return floatLike(like, value); }
Value *bits(CodeBuilder &b, Value *x) { return b.CreateBitCast(x, typeLike(x, b.i64())); }
Value *fromBits(CodeBuilder &b, Value *x) {
  return b.CreateBitCast(x, typeLike(x, b.getDoubleTy()));
}
Value *absolute(CodeBuilder &b, Value *x) { return b.CreateUnaryIntrinsic(I::fabs, x); }
Value *squareRoot(CodeBuilder &b, Value *x) { return b.CreateUnaryIntrinsic(I::sqrt, x); }
Value *withSignOf(CodeBuilder &b, Value *magnitude, Value *sign) {
  return b.CreateBinaryIntrinsic(I::copysign, magnitude, sign);
}
Value *fma(CodeBuilder &b, Value *x, Value *y, Value *z) { return emitFma(b, x, y, z); }
Value *fma(CodeBuilder &b, Value *x, double y, Value *z) { return emitFma(b, x, number(x, y), z); }
Value *times(CodeBuilder &b, Value *x, double y) { return b.CreateFMul(x, number(x, y)); }
Value *plus(CodeBuilder &b, Value *x, double y) { return b.CreateFAdd(x, number(x, y)); }
Value *reciprocal(CodeBuilder &b, Value *x) { return b.CreateFDiv(number(x, 1.0), x); }
Value *choose(CodeBuilder &b, Value *condition, Value *yes, Value *no) {
  return b.CreateSelect(condition, yes, no);
}
/// Keeps the sign of a zero.
Value *zeroStays(CodeBuilder &b, Value *x, Value *result) {
  return choose(b, b.CreateFCmpOEQ(x, number(x, 0.0)), x, result);
}

constexpr double log2E = 0x1.71547652b82fep+0, log2ELow = 0x1.777d0ffda0d24p-56;
constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;
constexpr double piHalf = 0x1.921fb54442d18p+0, piHalfLow = 0x1.1a62633145c07p-54;

/// x rounded to an integer, as double and as i64; |x| below 2^51.
struct Rounded {
  Value *number, *integer;
};
Rounded roundSmall(CodeBuilder &b, Value *product) {
  Value *magic = number(product, 0x1.8p52);
  Value *shifted = b.CreateFAdd(product, magic);
  return {b.CreateFSub(shifted, magic), b.CreateSub(bits(b, shifted), bits(b, magic))};
}

Value *powerOfTwo(CodeBuilder &b, Value *k) {
  return fromBits(b, b.CreateShl(b.CreateAdd(k, integerLike(k, 1023)), integerLike(k, 52)));
}
/// value * 2^n for n in [-2044, 2046]: two factors, so that subnormal results are rounded once.
Value *scaleByPower(CodeBuilder &b, Value *value, Value *n) {
  Value *half = b.CreateAShr(n, integerLike(n, 1));
  return b.CreateFMul(b.CreateFMul(value, powerOfTwo(b, half)),
                      powerOfTwo(b, b.CreateSub(n, half)));
}

Value *clampKeepingNan(CodeBuilder &b, Value *x, double low, double high) {
  x = choose(b, b.CreateFCmpOLT(x, number(x, low)), number(x, low), x);
  return choose(b, b.CreateFCmpOGT(x, number(x, high)), number(x, high), x);
}

/// As for f32 (VectorMath.cpp): no multiplication underflows where the result is zero.
Value *unlessVanishing(CodeBuilder &b, Value *x, double low, Value *value) {
  return choose(b, b.CreateFCmpOLT(x, number(x, low)), number(x, 0.0), value);
}

/// x = n ln2 + r.
struct ExpParts {
  Value *power, *r, *low;
};
ExpParts splitForExp(CodeBuilder &b, Value *x) {
  auto [n, power] = roundSmall(b, times(b, x, log2E));
  Value *high = fma(b, n, -ln2, x);
  Value *r = fma(b, n, -ln2Low, high);
  return {power, r, fma(b, n, -ln2Low, b.CreateFSub(high, r))};
}
/// exp(r) - 1 for small r.
Value *expTail(CodeBuilder &b, const ExpParts &parts) {
  Value *q = emitPolynomial(b, parts.r,
                            {0x1.000000000000cp-1, 0x1.5555555555561p-3, 0x1.555555554ff92p-5,
                             0x1.111111110d5d6p-7, 0x1.6c16c185cadccp-10, 0x1.a01a01bb0494ep-13,
                             0x1.a0199630aa6eap-16, 0x1.71dddf7dcbdc9p-19, 0x1.28b0a716ec81fp-22,
                             0x1.af860595d8bbfp-26});
  return b.CreateFAdd(fma(b, b.CreateFMul(parts.r, parts.r), q, parts.low), parts.r);
}

/// x = 2^exponent * (1 + fraction) with 1 + fraction between sqrt(1/2) and sqrt(2).
struct LogParts {
  Value *exponent, *fraction;
};
LogParts splitForLog(CodeBuilder &b, Value *x) {
  Value *isSubnormal = b.CreateFCmpOLT(x, number(x, 0x1p-1022));
  Value *normal = choose(b, isSubnormal, times(b, x, 0x1p54), x);
  Value *raw = bits(b, normal);
  Value *shifted = b.CreateSub(raw, integerLike(raw, 0x3fe6a09e667f3bcd));
  Value *exponent = b.CreateAShr(shifted, integerLike(raw, 52));
  Value *mantissa = fromBits(b, b.CreateSub(raw, b.CreateShl(exponent, integerLike(raw, 52))));
  // Exponents are small; 32 bits convert without a scalar detour everywhere.
  Value *k = b.CreateSIToFP(b.CreateTrunc(exponent, typeLike(x, b.i32())), x->getType());
  k = choose(b, isSubnormal, plus(b, k, -54.0), k);
  return {k, plus(b, mantissa, -1.0)};
}

/// log(1 + fraction) = high + low, to about 2^-60.
struct Pair {
  Value *high, *low;
};
Pair logOfFraction(CodeBuilder &b, Value *f) {
  Value *d = plus(b, f, 2.0);
  Value *dLow = b.CreateFSub(f, plus(b, d, -2.0));
  Value *s = b.CreateFDiv(f, d);
  Value *rest = fma(b, b.CreateFNeg(s), d, f);
  rest = fma(b, b.CreateFNeg(s), dLow, rest);
  Value *sLow = b.CreateFDiv(rest, d);
  Value *square = b.CreateFMul(s, s);
  Value *r = emitPolynomial(b, square,
                            {0x1.555555555559cp-1, 0x1.999999997c86fp-2, 0x1.2492494515f84p-2,
                             0x1.c71c4f55a3f74p-3, 0x1.7466d3f7d6b96p-3, 0x1.3992096253228p-3,
                             0x1.2fa9cb2968d37p-3});
  Value *low = fma(b, b.CreateFMul(square, s), r, times(b, sLow, 2.0));
  Value *high = times(b, s, 2.0);
  Value *sum = b.CreateFAdd(high, low);
  return {sum, b.CreateFAdd(b.CreateFSub(high, sum), low)};
}
/// p * (scale + scaleLow) + k * (unit + unitLow).
Pair scaledLog(CodeBuilder &b, const Pair &p, double scale, double scaleLow, Value *k, double unit,
               double unitLow) {
  Value *high = times(b, p.high, scale);
  Value *low = fma(b, p.high, scale, b.CreateFNeg(high));
  low = fma(b, p.high, scaleLow, low);
  low = fma(b, p.low, scale, low);
  Value *whole = times(b, k, unit);
  Value *wholeLow = fma(b, k, unit, b.CreateFNeg(whole));
  wholeLow = fma(b, k, unitLow, wholeLow);
  Value *sum = b.CreateFAdd(whole, high);
  Value *back = b.CreateFSub(sum, whole);
  Value *lost =
      b.CreateFAdd(b.CreateFSub(whole, b.CreateFSub(sum, back)), b.CreateFSub(high, back));
  return {sum, b.CreateFAdd(lost, b.CreateFAdd(low, wholeLow))};
}
Value *logSpecials(CodeBuilder &b, Value *x, Value *result) {
  result = choose(b, b.CreateFCmpOLT(x, number(x, INFINITY)), result, x);
  result = choose(b, b.CreateFCmpOLT(x, number(x, 0.0)), number(x, NAN), result);
  return choose(b, b.CreateFCmpOEQ(x, number(x, 0.0)), number(x, -INFINITY), result);
}
Value *logarithm(CodeBuilder &b, Value *x, double scale, double scaleLow, double unit,
                 double unitLow) {
  auto [k, f] = splitForLog(b, x);
  Pair result = scaledLog(b, logOfFraction(b, f), scale, scaleLow, k, unit, unitLow);
  return logSpecials(b, x, b.CreateFAdd(result.high, result.low));
}

Value *sineOf(CodeBuilder &b, Value *r, Value *low) {
  Value *square = b.CreateFMul(r, r);
  Value *cube = b.CreateFMul(square, r);
  Value *p = emitPolynomial(b, square,
                            {-0x1.5555555555549p-3, 0x1.111111110f841p-7, -0x1.a01a019c0a269p-13,
                             0x1.71de3570fbe37p-19, -0x1.ae5e60c3919c4p-26, 0x1.5d915dd2913e5p-33});
  return b.CreateFAdd(r, fma(b, cube, p, low));
}
Value *cosineOf(CodeBuilder &b, Value *r, Value *low) {
  Value *square = b.CreateFMul(r, r);
  Value *p =
      emitPolynomial(b, square,
                     {0x1.555555555554cp-5, -0x1.6c16c16c1514p-10, 0x1.a01a019cab752p-16,
                      -0x1.27e4f805346fap-22, 0x1.1ee9e891303adp-29, -0x1.8facd19388811p-37});
  Value *half = times(b, square, 0.5);
  Value *w = b.CreateFSub(number(r, 1.0), half);
  Value *lost = b.CreateFSub(b.CreateFSub(number(r, 1.0), w), half);
  Value *tail = fma(b, b.CreateFMul(square, square), p, lost);
  return b.CreateFAdd(w, fma(b, b.CreateFNeg(r), low, tail));
}
Value *hasBit(CodeBuilder &b, Value *x, int64_t bit) {
  return b.CreateICmpNE(b.CreateAnd(x, integerLike(x, bit)), integerLike(x, 0));
}
Value *sine(CodeBuilder &b, Value *x, int64_t quarter) {
  QuarterTurns turns = reduceByQuarterTurns(b, x, true);
  Value *quadrant = b.CreateAdd(turns.quadrant, integerLike(turns.quadrant, quarter));
  Value *result = choose(b, hasBit(b, quadrant, 1), cosineOf(b, turns.remainder, turns.low),
                         sineOf(b, turns.remainder, turns.low));
  return choose(b, hasBit(b, quadrant, 2), b.CreateFNeg(result), result);
}

/// asin(r) for |r| <= 1/2 is r + r * asinTail(r^2).
Value *asinTail(CodeBuilder &b, Value *square) {
  return b.CreateFMul(
      square, emitPolynomial(b, square,
                             {0x1.5555555555578p-3, 0x1.333333332df03p-4, 0x1.6db6db722c0fep-5,
                              0x1.f1c71a8b679afp-6, 0x1.6e8bdfeb99d99p-6, 0x1.1c49ddb2c0b9ep-6,
                              0x1.ca214ad8a5e11p-7, 0x1.75775d19087eap-7, 0x1.618bad6edcfbap-7,
                              0x1.e14e4405a31e7p-9, 0x1.65059a37287c6p-6, -0x1.59fb29e8a46fep-6,
                              0x1.0be5bb6f5805dp-5}));
}
/// erfc(x) for x in [0.9, 28].
Value *erfcTail(CodeBuilder &b, Value *x) {
  Value *square = b.CreateFMul(x, x);
  Value *lost = fma(b, x, x, b.CreateFNeg(square));
  Value *e = expDouble(b, b.CreateFNeg(square));
  e = fma(b, b.CreateFNeg(lost), e, e);
  Value *t = b.CreateFDiv(plus(b, x, -4.0), plus(b, x, 4.0));
  Value *h =
      emitPolynomial(b, t, {0x1.3ba5916e9fd7fp+0,  -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fda7bp-7,
                            0x1.16ecefcfa52cbp-4,  -0x1.9ddb23c3eaba8p-4,  0x1.7fee004e14f72p-4,
                            -0x1.0fb06dfe16924p-4, 0x1.3079edf5fb1fep-5,   -0x1.096238913c393p-6,
                            0x1.49c672c3b2334p-8,  -0x1.8d4a8c82dfe15p-11, -0x1.a1df69610da4fp-13,
                            0x1.3bdf1ed3b3917p-13, -0x1.994d779890efap-16, -0x1.7849e72acfb52p-17,
                            0x1.7e8301e1d9a8bp-18, 0x1.2b4baf2d77bd1p-22,  -0x1.afe53bf77576dp-21,
                            0x1.83190622e08c6p-24, 0x1.6ba27e7acab7dp-24,  -0x1.8e6dd0bf023a9p-26});
  return b.CreateFDiv(b.CreateFMul(e, h), fma(b, x, 2.0, number(x, 1.0)));
}
/// erf(x) / x - 1 for |x| <= 1.
Value *erfRatio(CodeBuilder &b, Value *x) {
  return emitPolynomial(b, b.CreateFMul(x, x),
                        {0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042be2p-4,
                         -0x1.b82ce31288b47p-6, 0x1.565bcd0e6a2f8p-8, -0x1.c02db40036187p-11,
                         0x1.f9a326f7b297bp-14, -0x1.f4d25bfa5e4e8p-17, 0x1.b9e6c39bc5d68p-20,
                         -0x1.5f73c4780c55p-23, 0x1.fcbb3f27583a5p-27, -0x1.517d3d1d2ea47p-30,
                         0x1.9a12f2fcf63abp-34, -0x1.b41e9f8ebbc13p-38, 0x1.3c26defb494a7p-42});
}

} // namespace

Value *expDouble(CodeBuilder &b, Value *given) {
  constexpr double low = -746.0;
  Value *x = clampKeepingNan(b, given, low, 710.0);
  ExpParts parts = splitForExp(b, x);
  Value *whole = plus(b, expTail(b, parts), 1.0);
  return scaleByPower(b, unlessVanishing(b, given, low, whole), parts.power);
}

/// 2^r for |r| <= 1/2.
static Value *exp2OfPart(CodeBuilder &b, Value *r) {
  Value *q = emitPolynomial(b, r,
                            {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0c6p-5,
                             0x1.3b2ab6fba4e7dp-7, 0x1.5d87fe78a3f49p-10, 0x1.430912f86a08cp-13,
                             0x1.ffcbfc6dc7ef4p-17, 0x1.62c0224961aa8p-20, 0x1.b524eb7c9271ap-24,
                             0x1.e4cef638c2fa7p-28, 0x1.e9ecb5f25e2d4p-32, 0x1.c4c957cc8dc8dp-36});
  return fma(b, r, q, number(r, 1.0));
}

Value *exp2Double(CodeBuilder &b, Value *given) {
  constexpr double low = -1076.0;
  Value *x = clampKeepingNan(b, given, low, 1025.0);
  auto [n, power] = roundSmall(b, x);
  Value *whole = exp2OfPart(b, b.CreateFSub(x, n));
  return scaleByPower(b, unlessVanishing(b, given, low, whole), power);
}

Value *exp10Double(CodeBuilder &b, Value *x) {
  x = clampKeepingNan(b, x, -325.0, 310.0);
  auto [n, power] = roundSmall(b, times(b, x, 0x1.a934f0979a371p+1));
  Value *r = fma(b, n, -0x1.34413509f79ffp-2, x);
  r = fma(b, n, 0x1.9dc1da994fd21p-59, r);
  Value *y = times(b, r, 0x1.26bb1bbb55516p+1);
  Value *low = fma(b, r, 0x1.26bb1bbb55516p+1, b.CreateFNeg(y));
  low = fma(b, r, -0x1.f48ad494ea3e9p-53, low);
  return scaleByPower(b, plus(b, expTail(b, {power, y, low}), 1.0), power);
}

Value *expm1Double(CodeBuilder &b, Value *x) {
  Value *small = clampKeepingNan(b, x, -45.0, 45.0);
  ExpParts parts = splitForExp(b, small);
  Value *scale = powerOfTwo(b, parts.power);
  Value *near = fma(b, expTail(b, parts), scale, plus(b, scale, -1.0));
  Value *far = expDouble(b, x);
  Value *result = choose(b, b.CreateFCmpOGT(x, number(x, 44.0)), far, near);
  return zeroStays(b, x, result);
}

Value *logDouble(CodeBuilder &b, Value *x) { return logarithm(b, x, 1.0, 0.0, ln2, ln2Low); }
Value *log2Double(CodeBuilder &b, Value *x) { return logarithm(b, x, log2E, log2ELow, 1.0, 0.0); }
Value *log10Double(CodeBuilder &b, Value *x) {
  return logarithm(b, x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f79ffp-2,
                   -0x1.9dc1da994fd21p-59);
}

Value *log1pDouble(CodeBuilder &b, Value *x) {
  Value *u = plus(b, x, 1.0);
  // What 1 + x lost, relative to u.
  Value *isLarge = b.CreateFCmpOGE(x, number(x, 1.0));
  Value *lost = choose(b, isLarge, b.CreateFSub(number(x, 1.0), b.CreateFSub(u, x)),
                       b.CreateFSub(x, plus(b, u, -1.0)));
  auto [k, f] = splitForLog(b, u);
  Pair p = scaledLog(b, logOfFraction(b, f), 1.0, 0.0, k, ln2, ln2Low);
  Value *result = b.CreateFAdd(p.high, b.CreateFAdd(p.low, b.CreateFDiv(lost, u)));
  return zeroStays(b, x, logSpecials(b, u, result));
}

QuarterTurns reduceByQuarterTurns(CodeBuilder &b, Value *x, bool needLow) {
  // Beyond 2^30 the remainder comes from the bits of 2/pi; see LargeAngles.cpp.
  auto [n, quadrant] = roundSmall(b, times(b, x, 0x1.45f306dc9c883p-1));
  Value *high = fma(b, n, -piHalf, x);
  Value *w = times(b, n, piHalfLow);
  Value *r = b.CreateFSub(high, w);
  Value *low = nullptr;
  if (needLow) {
    Value *wLow = fma(b, n, piHalfLow, b.CreateFNeg(w));
    low = b.CreateFSub(b.CreateFSub(b.CreateFSub(high, r), w), wLow);
    low = fma(b, n, 0x1.f1976b7ed8fbcp-110, low);
  }
  return reduceLargeAngles(b, x, {quadrant, r, low});
}

Value *sinDouble(CodeBuilder &b, Value *x) { return zeroStays(b, x, sine(b, x, 0)); }
Value *cosDouble(CodeBuilder &b, Value *x) { return sine(b, x, 1); }
Value *tanDouble(CodeBuilder &b, Value *x) {
  QuarterTurns turns = reduceByQuarterTurns(b, x, true);
  Value *s = sineOf(b, turns.remainder, turns.low), *c = cosineOf(b, turns.remainder, turns.low);
  Value *odd = hasBit(b, turns.quadrant, 1);
  Value *result = b.CreateFDiv(choose(b, odd, b.CreateFNeg(c), s), choose(b, odd, s, c));
  return zeroStays(b, x, result);
}

Value *asinDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *isSmall = b.CreateFCmpOLE(a, number(x, 0.5));
  Value *z = times(b, b.CreateFSub(number(x, 1.0), a), 0.5);
  Value *root = squareRoot(b, z);
  Value *square = choose(b, isSmall, b.CreateFMul(x, x), z);
  Value *base = choose(b, isSmall, a, root);
  Value *angle = fma(b, base, asinTail(b, square), base);
  Value *large = plus(b, fma(b, angle, -2.0, number(x, piHalfLow)), piHalf);
  return withSignOf(b, choose(b, isSmall, angle, large), x);
}

Value *acosDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *isSmall = b.CreateFCmpOLE(a, number(x, 0.5));
  Value *z = times(b, b.CreateFSub(number(x, 1.0), a), 0.5);
  Value *square = choose(b, isSmall, b.CreateFMul(x, x), z);
  Value *base = choose(b, isSmall, x, squareRoot(b, z));
  Value *angle = fma(b, base, asinTail(b, square), base);
  Value *small = b.CreateFSub(number(x, piHalf), b.CreateFSub(angle, number(x, piHalfLow)));
  Value *twice = times(b, angle, 2.0);
  Value *negative =
      b.CreateFSub(number(x, 2 * piHalf), b.CreateFSub(twice, number(x, 2 * piHalfLow)));
  Value *large = choose(b, b.CreateFCmpOLT(x, number(x, 0.0)), negative, twice);
  return choose(b, isSmall, small, large);
}

Value *atanDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *isLarge = b.CreateFCmpOGT(a, number(x, 2.414213562373095));
  Value *isMiddle =
      b.CreateAnd(b.CreateFCmpOGT(a, number(x, 0.4142135623730950)), b.CreateNot(isLarge));
  Value *top = choose(b, isLarge, number(x, -1.0), choose(b, isMiddle, plus(b, a, -1.0), a));
  Value *bottom = choose(b, isLarge, a, choose(b, isMiddle, plus(b, a, 1.0), number(x, 1.0)));
  Value *r = b.CreateFDiv(top, bottom);
  Value *zero = number(x, 0.0);
  Value *base =
      choose(b, isLarge, number(x, piHalf), choose(b, isMiddle, number(x, piHalf / 2), zero));
  Value *low =
      choose(b, isLarge, number(x, piHalfLow), choose(b, isMiddle, number(x, piHalfLow / 2), zero));
  Value *square = b.CreateFMul(r, r);
  Value *p = emitPolynomial(b, square,
                            {-0x1.5555555555554p-2, 0x1.999999999964ap-3, -0x1.249249247556ap-3,
                             0x1.c71c71b73ad2bp-4, -0x1.745d14b70c499p-4, 0x1.3b136de82faaep-4,
                             -0x1.110c6e5baa3ecp-4, 0x1.e171a1a61b362p-5, -0x1.ab7af8330a1b4p-5,
                             0x1.70e26b7d302fp-5, -0x1.121d4b3c5f1ebp-5, 0x1.f1790569cd2b7p-7});
  Value *tail = fma(b, b.CreateFMul(square, r), p, low);
  return withSignOf(b, b.CreateFAdd(base, b.CreateFAdd(tail, r)), x);
}

Value *atan2Double(CodeBuilder &b, Value *y, Value *x) {
  Value *ay = absolute(b, y), *ax = absolute(b, x);
  Value *steep = b.CreateFCmpOGT(ay, ax);
  Value *low = choose(b, steep, ax, ay), *high = choose(b, steep, ay, ax);
  Value *ratio = b.CreateFDiv(low, high);
  ratio = choose(b, b.CreateFCmpOEQ(high, number(x, 0.0)), number(x, 0.0), ratio);
  ratio = choose(b, b.CreateFCmpOEQ(low, number(x, INFINITY)), number(x, 1.0), ratio);
  Value *angle = atanDouble(b, ratio);
  auto mirror = [&](double whole, double wholeLow, Value *a) {
    return b.CreateFSub(number(x, whole), b.CreateFSub(a, number(x, wholeLow)));
  };
  angle = choose(b, steep, mirror(piHalf, piHalfLow, angle), angle);
  Value *left = b.CreateICmpSLT(bits(b, x), integerLike(bits(b, x), 0));
  angle = choose(b, left, mirror(2 * piHalf, 2 * piHalfLow, angle), angle);
  angle = choose(b, b.CreateFCmpUNO(x, y), number(x, NAN), angle);
  return withSignOf(b, angle, y);
}

Value *tanhDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *t = expm1Double(b, times(b, a, -2.0));
  return withSignOf(b, b.CreateFDiv(b.CreateFNeg(t), plus(b, t, 2.0)), x);
}
Value *sinhDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *e = expm1Double(b, a);
  Value *near = times(b, b.CreateFAdd(e, b.CreateFDiv(e, plus(b, e, 1.0))), 0.5);
  Value *h = expDouble(b, times(b, a, 0.5));
  Value *far = b.CreateFMul(times(b, h, 0.5), h);
  return withSignOf(b, choose(b, b.CreateFCmpOGT(a, number(x, 700.0)), far, near), x);
}
Value *coshDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *e = expDouble(b, a);
  Value *near = times(b, b.CreateFAdd(e, reciprocal(b, e)), 0.5);
  Value *h = expDouble(b, times(b, a, 0.5));
  Value *far = b.CreateFMul(times(b, h, 0.5), h);
  return choose(b, b.CreateFCmpOGT(a, number(x, 700.0)), far, near);
}
Value *asinhDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *square = b.CreateFMul(a, a);
  Value *root = squareRoot(b, plus(b, square, 1.0));
  Value *near = log1pDouble(b, b.CreateFAdd(a, b.CreateFDiv(square, plus(b, root, 1.0))));
  Value *far = plus(b, logDouble(b, a), ln2);
  return withSignOf(b, choose(b, b.CreateFCmpOGT(a, number(x, 1e100)), far, near), x);
}
Value *acoshDouble(CodeBuilder &b, Value *x) {
  Value *t = plus(b, x, -1.0);
  Value *root = squareRoot(b, fma(b, t, t, times(b, t, 2.0)));
  Value *near = log1pDouble(b, b.CreateFAdd(t, root));
  Value *far = plus(b, logDouble(b, x), ln2);
  Value *result = choose(b, b.CreateFCmpOGT(x, number(x, 1e100)), far, near);
  return choose(b, b.CreateFCmpOLT(x, number(x, 1.0)), number(x, NAN), result);
}
Value *atanhDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *ratio = b.CreateFDiv(times(b, a, 2.0), b.CreateFSub(number(x, 1.0), a));
  return withSignOf(b, times(b, log1pDouble(b, ratio), 0.5), x);
}

Value *erfDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  Value *large = b.CreateFSub(number(x, 1.0), erfcTail(b, clampKeepingNan(b, a, 0.9, 6.5)));
  Value *isSmall = b.CreateFCmpOLT(a, number(x, 1.0));
  return choose(b, isSmall, fma(b, x, erfRatio(b, x), x), withSignOf(b, large, x));
}
Value *erfByExponential(CodeBuilder &b, Value *x, bool isBesideOne) {
  Value *a = absolute(b, x);
  // From 6 on it is 1.
  Value *capped = choose(b, b.CreateFCmpOGT(a, number(x, 6.0)), number(x, 6.0), a);
  Value *q =
      isBesideOne
          ? emitPolynomial(b, capped,
                           {0x1.a0be83d8d031ap+0,   0x1.d63ed7499654dp-1,   0x1.2fa7eecac9779p-3,
                            -0x1.c4242cd9800eep-6,  -0x1.3c775c31839b8p-12, 0x1.40bfa990fc8e5p-9,
                            -0x1.be62ac49c8b45p-11, 0x1.3a4644d8fb223p-15,  0x1.84f7e2566b497p-14,
                            -0x1.63165fdea1b73p-15, 0x1.1517e00efb104p-18,  0x1.4e1d05084b2a0p-18,
                            -0x1.bd21639710a55p-19, 0x1.1fae5decf04c7p-20,  -0x1.3dd53947f18c5p-23,
                            -0x1.52a9e94a81355p-25, 0x1.0c4630db73030p-25,  -0x1.6b620510a1f10p-27,
                            0x1.469ca16e8f250p-29,  -0x1.a22126ef2fadep-32, 0x1.7cab84ac261f6p-35,
                            -0x1.d78d4e50f842bp-39, 0x1.6588141b3c861p-43,  -0x1.f5c4aefff856fp-49})
          : emitPolynomial(b, capped,
                           {0x1.a0be8514ed052p+0,   0x1.d63ebb26a5628p-1,   0x1.2faa4b8fc393bp-3,
                            -0x1.c463e16698321p-6,  -0x1.16b04e1ba1698p-12, 0x1.385e913ac4f7ep-9,
                            -0x1.903af6d8ad20fp-11, -0x1.ed4b2d8f86093p-15, 0x1.7443617be14f8p-13,
                            -0x1.af52f722a6752p-14, 0x1.480e2308921c1p-15,  -0x1.78b2957279fc9p-17,
                            0x1.53bd46cf1005cp-19,  -0x1.e55acefcba65cp-22, 0x1.106936da36689p-24,
                            -0x1.d67a74b166d08p-28, 0x1.2d27a2ad3402bp-31,  -0x1.0c4a476414f3dp-35,
                            0x1.277c7ddeb3d81p-40,  -0x1.2cd3607c8c1d1p-46});
  Value *power = b.CreateFNeg(b.CreateFMul(capped, q));
  auto [n, whole] = roundSmall(b, power);
  Value *rest = b.CreateFMul(exp2OfPart(b, b.CreateFSub(power, n)), powerOfTwo(b, whole));
  Value *large = withSignOf(b, b.CreateFSub(number(x, 1.0), rest), x);
  if (isBesideOne)
    return large;
  Value *isSmall = b.CreateFCmpOLT(a, number(x, 1.0));
  return choose(b, isSmall, fma(b, x, erfRatio(b, x), x), large);
}
Value *erfcDouble(CodeBuilder &b, Value *x) {
  Value *a = absolute(b, x);
  // 1 - x is exact where it cancels most.
  Value *near = fma(b, b.CreateFNeg(x), erfRatio(b, x), b.CreateFSub(number(x, 1.0), x));
  Value *tail = erfcTail(b, clampKeepingNan(b, a, 0.9, 27.5));
  Value *negative = b.CreateFCmpOLT(x, number(x, 0.0));
  Value *far = choose(b, negative, b.CreateFSub(number(x, 2.0), tail), tail);
  return choose(b, b.CreateFCmpOLT(a, number(x, 0.9)), near, far);
}

Value *cbrtDouble(CodeBuilder &b, Value *x) {
  // Subnormal numbers are raised by 2^60, and the result lowered by 2^20.
  Value *isTiny = b.CreateFCmpOLT(absolute(b, x), number(x, 0x1p-1000));
  Value *a = choose(b, isTiny, times(b, absolute(b, x), 0x1p60), absolute(b, x));
  Value *y = exp2Double(b, times(b, log2Double(b, a), 1.0 / 3));
  Value *square = b.CreateFMul(y, y);
  Value *rest = fma(b, square, b.CreateFNeg(y), a);
  Value *result = b.CreateFAdd(y, b.CreateFDiv(rest, times(b, square, 3.0)));
  result = choose(b, isTiny, times(b, result, 0x1p-20), result);
  Value *special = b.CreateOr(b.CreateFCmpOEQ(a, number(x, 0.0)),
                              b.CreateNot(b.CreateFCmpOLT(a, number(x, INFINITY))));
  return withSignOf(b, choose(b, special, a, result), x);
}

Value *hypotDouble(CodeBuilder &b, Value *x, Value *y) {
  Value *ax = absolute(b, x), *ay = absolute(b, y);
  Value *larger = b.CreateBinaryIntrinsic(I::maxnum, ax, ay);
  Value *smaller = b.CreateBinaryIntrinsic(I::minnum, ax, ay);
  Value *ratio = b.CreateFDiv(smaller, larger);
  Value *length = b.CreateFMul(larger, squareRoot(b, fma(b, ratio, ratio, number(x, 1.0))));
  Value *infinity = number(x, INFINITY);
  length = choose(b, b.CreateFCmpOEQ(larger, number(x, 0.0)), number(x, 0.0), length);
  length = choose(b, b.CreateFCmpUNO(x, y), number(x, NAN), length);
  return choose(b, b.CreateFCmpOEQ(larger, infinity), infinity, length);
}

Value *powDouble(CodeBuilder &b, Value *x, Value *y) {
  Value *a = absolute(b, x), *one = number(x, 1.0), *zero = number(x, 0.0);
  Value *infinity = number(x, INFINITY);
  auto [k, f] = splitForLog(b, a);
  Pair logOfX = scaledLog(b, logOfFraction(b, f), log2E, log2ELow, k, 1.0, 0.0);
  Value *high = b.CreateFMul(y, logOfX.high);
  Value *low = fma(b, y, logOfX.high, b.CreateFNeg(high));
  low = fma(b, y, logOfX.low, low);
  high = clampKeepingNan(b, high, -1100.0, 1100.0);
  low = choose(b, b.CreateFCmpOLT(absolute(b, high), number(x, 1090.0)), low, zero);
  auto [n, power] = roundSmall(b, high);
  Value *r = b.CreateFAdd(b.CreateFSub(high, n), low);
  Value *q = emitPolynomial(b, r,
                            {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0c6p-5,
                             0x1.3b2ab6fba4e7dp-7, 0x1.5d87fe78a3f49p-10, 0x1.430912f86a08cp-13,
                             0x1.ffcbfc6dc7ef4p-17, 0x1.62c0224961aa8p-20, 0x1.b524eb7c9271ap-24,
                             0x1.e4cef638c2fa7p-28, 0x1.e9ecb5f25e2d4p-32, 0x1.c4c957cc8dc8dp-36});
  Value *result = scaleByPower(b, fma(b, r, q, one), power);
  // Zero, infinity: the result is 0, 1 or infinity by sign and size alone.
  Value *ySign = b.CreateFCmpOGT(y, zero);
  Value *aboveOne = b.CreateFCmpOGT(a, one);
  Value *extreme = choose(b, b.CreateICmpEQ(ySign, aboveOne), infinity, zero);
  Value *isExtreme = b.CreateOr(b.CreateFCmpOEQ(a, zero), b.CreateFCmpOEQ(a, infinity));
  isExtreme = b.CreateOr(isExtreme, b.CreateFCmpOEQ(absolute(b, y), infinity));
  result = choose(b, isExtreme, extreme, result);
  result = choose(b, b.CreateFCmpOEQ(a, one), one, result);
  // Below zero only whole exponents have a result, with the sign of their parity.
  Value *halfY = times(b, y, 0.5);
  Value *isWhole = b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(I::trunc, y), y);
  Value *isOdd =
      b.CreateAnd(isWhole, b.CreateFCmpONE(b.CreateUnaryIntrinsic(I::trunc, halfY), halfY));
  Value *signBit = b.CreateICmpSLT(bits(b, x), integerLike(bits(b, x), 0));
  result = choose(b, b.CreateAnd(signBit, isOdd), b.CreateFNeg(result), result);
  Value *isNegative =
      b.CreateAnd(b.CreateFCmpOLT(x, zero), b.CreateFCmpOGT(x, number(x, -INFINITY)));
  Value *noResult = b.CreateAnd(isNegative, b.CreateNot(isWhole));
  result = choose(b, noResult, number(x, NAN), result);
  result = choose(b, b.CreateFCmpUNO(x, y), number(x, NAN), result);
  Value *isOne = b.CreateOr(b.CreateFCmpOEQ(x, one), b.CreateFCmpOEQ(y, zero));
  return choose(b, isOne, one, result);
}

// Long division by chunks of at most 50 bits of quotient; every remainder is exact.
Value *fmodDouble(CodeBuilder &b, Value *x, Value *y) {
  Value *divisor = absolute(b, y), *start = absolute(b, x);
  Value *infinity = number(x, INFINITY), *zero = number(x, 0.0);
  Value *valid = b.CreateAnd(b.CreateFCmpOGT(divisor, zero), b.CreateFCmpOLT(start, infinity));
  Value *safeStart = choose(b, valid, start, zero),
        *safeDivisor = choose(b, valid, divisor, number(x, 1.0));
  llvm::Function *function = b.GetInsertBlock()->getParent();
  llvm::BasicBlock *before = b.GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "divide", function);
  auto *after = llvm::BasicBlock::Create(b.getContext(), "remainder", function);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode *rest = b.CreatePHI(x->getType(), 2);
  rest->addIncoming(safeStart, before);
  auto exponent = [&](Value *v) {
    Value *raised = times(b, v, 0x1p-40);
    Value *isTiny = b.CreateFCmpOLT(v, number(v, 0x1p-900));
    Value *used = choose(b, isTiny, times(b, v, 0x1p100), raised);
    Value *field = b.CreateLShr(bits(b, used), integerLike(bits(b, used), 52));
    return b.CreateSub(field, choose(b, isTiny, integerLike(field, 100), integerLike(field, -40)));
  };
  Value *distance = b.CreateSub(exponent(rest), exponent(safeDivisor));
  Value *raise = b.CreateBinaryIntrinsic(I::smax, b.CreateSub(distance, integerLike(distance, 50)),
                                         integerLike(distance, 0));
  Value *scaled = scaleByPower(b, safeDivisor, raise);
  Value *quotient = b.CreateUnaryIntrinsic(I::trunc, b.CreateFDiv(rest, scaled));
  Value *next = fma(b, b.CreateFNeg(quotient), scaled, rest);
  next = choose(b, b.CreateFCmpOLT(next, zero), b.CreateFAdd(next, scaled), next);
  Value *again = b.CreateFCmpOGE(next, safeDivisor);
  if (laneCount(x) > 1)
    again = b.CreateOrReduce(again);
  rest->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(again, loop, after);
  b.SetInsertPoint(after);
  Value *result = withSignOf(b, next, x);
  Value *undefined = b.CreateOr(b.CreateFCmpUNO(x, y), b.CreateOr(b.CreateFCmpOEQ(start, infinity),
                                                                  b.CreateFCmpOEQ(divisor, zero)));
  result = choose(b, b.CreateFCmpOEQ(divisor, infinity), x, result);
  return choose(b, undefined, number(x, NAN), result);
}

} // namespace pellucid::codegen
