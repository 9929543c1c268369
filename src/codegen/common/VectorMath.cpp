// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/VectorMath.h"

#include "llvm/IR/Intrinsics.h"

#include <cmath>
#include <limits>

namespace pellucid::codegen {

using namespace llvm;

namespace {
constexpr double ln2 = 0.693147180559945309417;
constexpr double log2e = 1.44269504088896340736;
// ln 2 in two parts: the first has enough trailing zeros for n * high to be exact.
constexpr double ln2HighF = 0.693359375, ln2LowF = -2.12194440054690583e-4;
constexpr double ln2HighD = 6.93147180369123816490e-01, ln2LowD = 1.90821492927058770002e-10;
} // namespace

Value *VectorMath::constant(Value *like, double value) { return ConstantFP::get(like->getType(), value); }

Type *VectorMath::intTypeOf(Value *x) const {
  Type *scalar = isDouble(x) ? b.getInt64Ty() : b.getInt32Ty();
  if (auto *vector = dyn_cast<FixedVectorType>(x->getType()))
    return FixedVectorType::get(scalar, vector->getNumElements());
  return scalar;
}

Value *VectorMath::horner(Value *x, ArrayRef<double> highestFirst) {
  Value *sum = constant(x, highestFirst.front());
  for (double coefficient : highestFirst.drop_front())
    sum = fma(sum, x, constant(x, coefficient));
  return sum;
}

Value *VectorMath::sqrt(Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::sqrt, x); }
Value *VectorMath::rsqrt(Value *x) { return b.CreateFDiv(constant(x, 1.0), sqrt(x)); }
Value *VectorMath::floor(Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::floor, x); }
Value *VectorMath::ceil(Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::ceil, x); }
Value *VectorMath::trunc(Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::trunc, x); }
Value *VectorMath::roundeven(Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::roundeven, x); }
Value *VectorMath::abs(Value *x) { return b.CreateUnaryIntrinsic(Intrinsic::fabs, x); }
Value *VectorMath::copysign(Value *magnitude, Value *sign) {
  return b.CreateBinaryIntrinsic(Intrinsic::copysign, magnitude, sign);
}
Value *VectorMath::fma(Value *x, Value *y, Value *z) {
  return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {x, y, z});
}

Value *VectorMath::maximum(Value *x, Value *y) {
  Value *larger = b.CreateSelect(b.CreateFCmpOGT(x, y), x, y);
  // Equal values differ only as zeros; adding picks +0 unless both are -0.
  larger = b.CreateSelect(b.CreateFCmpOEQ(x, y), b.CreateSelect(b.CreateFCmpOEQ(x, constant(x, 0)), b.CreateFAdd(x, y), x), larger);
  return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), larger);
}

Value *VectorMath::minimum(Value *x, Value *y) { return b.CreateFNeg(maximum(b.CreateFNeg(x), b.CreateFNeg(y))); }

Value *VectorMath::maxnum(Value *x, Value *y) {
  // maxps gives its second operand when either is NaN, so one select mends the case of y being NaN.
  Value *larger = b.CreateSelect(b.CreateFCmpOGT(x, y), x, y);
  return b.CreateSelect(isNaN(y), x, larger);
}

Value *VectorMath::minnum(Value *x, Value *y) {
  Value *smaller = b.CreateSelect(b.CreateFCmpOLT(x, y), x, y);
  return b.CreateSelect(isNaN(y), x, smaller);
}

Value *VectorMath::scaleByPowerOfTwo(Value *value, Value *n) {
  // Two factors: 2^n alone may be out of range where value * 2^n is not.
  unsigned mantissa = isDouble(value) ? 52 : 23;
  int64_t bias = isDouble(value) ? 1023 : 127;
  Type *integer = intTypeOf(value);
  Value *whole = b.CreateFPToSI(n, integer);
  Value *half = b.CreateAShr(whole, ConstantInt::get(integer, 1));
  Value *rest = b.CreateSub(whole, half);
  auto power = [&](Value *k) {
    Value *bits = b.CreateShl(b.CreateAdd(k, ConstantInt::get(integer, static_cast<uint64_t>(bias))), ConstantInt::get(integer, mantissa));
    return b.CreateBitCast(bits, value->getType());
  };
  return b.CreateFMul(b.CreateFMul(value, power(half)), power(rest));
}

Value *VectorMath::expReduced(Value *r, Value *n) {
  static constexpr double single[] = {0.0013950551962780588, 0.0083720830219577436, 0.041666197563602389,
                                      0.166664870874281, 0.50000001038119979};
  static constexpr double wide[] = {
      -5.7656111333876524e-10, 2.4582666711945044e-08, 2.7647711085011614e-07, 2.7558819590988496e-06,
      2.480147293475708e-05,   0.00019841268235119047, 0.0013888888955240911,  0.0083333333340275886,
      0.041666666666484997,    0.16666666666665667,    0.50000000000000266};
  Value *p = isDouble(r) ? horner(r, wide) : horner(r, single);
  Value *sum = b.CreateFAdd(fma(p, b.CreateFMul(r, r), r), constant(r, 1.0));
  return scaleByPowerOfTwo(sum, n);
}

Value *VectorMath::exp(Value *x) {
  bool wide = isDouble(x);
  double top = wide ? 709.782712893384 : 88.7228394, bottom = wide ? -745.14 : -103.98;
  // The clamp keeps the exponent in range; NaN passes the selects unchanged and meets fptosi only through the clamp.
  Value *tooLow = b.CreateFCmpOLT(x, constant(x, bottom)), *tooHigh = b.CreateFCmpOGT(x, constant(x, top));
  Value *nan = isNaN(x);
  Value *safe = b.CreateSelect(b.CreateOr(b.CreateOr(tooLow, tooHigh), nan), constant(x, 0), x);
  Value *n = roundeven(b.CreateFMul(safe, constant(x, log2e)));
  Value *r = fma(n, constant(x, -(wide ? ln2HighD : ln2HighF)), safe);
  r = fma(n, constant(x, -(wide ? ln2LowD : ln2LowF)), r);
  Value *result = expReduced(r, n);
  result = b.CreateSelect(tooHigh, constant(x, std::numeric_limits<double>::infinity()), result);
  result = b.CreateSelect(tooLow, constant(x, 0), result);
  return b.CreateSelect(nan, x, result);
}

Value *VectorMath::exp2(Value *x) {
  bool wide = isDouble(x);
  double top = wide ? 1024 : 128, bottom = wide ? -1076 : -151;
  Value *tooLow = b.CreateFCmpOLT(x, constant(x, bottom)), *tooHigh = b.CreateFCmpOGE(x, constant(x, top));
  Value *nan = isNaN(x);
  Value *safe = b.CreateSelect(b.CreateOr(b.CreateOr(tooLow, tooHigh), nan), constant(x, 0), x);
  Value *n = roundeven(safe);
  Value *f = b.CreateFSub(safe, n);
  // f * ln 2 in two parts, so that the product's rounding does not cost half an ulp.
  double high = wide ? ln2 : static_cast<double>(static_cast<float>(ln2));
  Value *r = b.CreateFMul(f, constant(x, high));
  Value *low = fma(f, constant(x, high), b.CreateFNeg(r));
  r = b.CreateFAdd(r, wide ? low : fma(f, constant(x, ln2 - high), low));
  Value *result = expReduced(r, n);
  result = b.CreateSelect(tooHigh, constant(x, std::numeric_limits<double>::infinity()), result);
  result = b.CreateSelect(tooLow, constant(x, 0), result);
  return b.CreateSelect(nan, x, result);
}

Value *VectorMath::expm1(Value *x) {
  // Near 0 by its own series (that of exp without the 1), elsewhere exp(x) - 1 loses at most one bit.
  static constexpr double series[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                      1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2};
  Value *nearZero = fma(horner(x, series), b.CreateFMul(x, x), x);
  Value *far = b.CreateFSub(exp(x), constant(x, 1.0));
  return b.CreateSelect(b.CreateFCmpOLT(abs(x), constant(x, 0.5)), nearZero, far);
}

VectorMath::Split VectorMath::splitForLog(Value *x) {
  bool wide = isDouble(x);
  Type *integer = intTypeOf(x);
  unsigned mantissa = wide ? 52 : 23;
  // Denormals are scaled into the normal range first.
  Value *tiny = b.CreateFCmpOLT(x, constant(x, wide ? 2.2250738585072014e-308 : 1.17549435e-38));
  Value *scaled = b.CreateSelect(tiny, b.CreateFMul(x, constant(x, std::ldexp(1.0, wide ? 54 : 25))), x);
  Value *bits = b.CreateBitCast(scaled, integer);
  // Takes the exponent so that the mantissa lies in [sqrt(1/2), sqrt(2)).
  uint64_t pivot = wide ? 0x3fe6a09e00000000ull : 0x3f3504f3ull;
  Value *shifted = b.CreateSub(bits, ConstantInt::get(integer, pivot));
  Value *exponent = b.CreateAShr(shifted, ConstantInt::get(integer, mantissa));
  Value *m = b.CreateBitCast(b.CreateSub(bits, b.CreateShl(exponent, ConstantInt::get(integer, mantissa))), x->getType());
  Value *e = b.CreateSIToFP(exponent, x->getType());
  e = b.CreateSelect(tiny, b.CreateFSub(e, constant(x, wide ? 54 : 25)), e);
  Value *s = b.CreateFDiv(b.CreateFSub(m, constant(x, 1.0)), b.CreateFAdd(m, constant(x, 1.0)));
  return {s, b.CreateFMul(s, s), e};
}

static ArrayRef<double> logTail(bool wide) {
  static constexpr double single[] = {0.23612784057498173, 0.28535977608172963, 0.40000349038684618,
                                      0.66666665638579736};
  static constexpr double doubles[] = {0.1479819860511658589, 0.1531383769920937332,
                                       0.1818357216161805012, 0.2222219843214978396, 0.2857142874366239149,
                                       0.3999999999940941908, 0.6666666666666735130};
  return wide ? ArrayRef<double>(doubles) : ArrayRef<double>(single);
}

Value *VectorMath::fixLogEdges(Value *x, Value *result) {
  double infinity = std::numeric_limits<double>::infinity();
  result = b.CreateSelect(b.CreateFCmpOEQ(x, constant(x, infinity)), x, result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, constant(x, 0)), constant(x, -infinity), result);
  Value *bad = b.CreateFCmpULT(x, constant(x, 0));
  return b.CreateSelect(bad, constant(x, std::numeric_limits<double>::quiet_NaN()), result);
}

Value *VectorMath::log(Value *x) {
  bool wide = isDouble(x);
  Split split = splitForLog(x);
  Value *tail = b.CreateFMul(b.CreateFMul(split.s, split.z), horner(split.z, logTail(wide)));
  Value *low = fma(split.exponent, constant(x, wide ? ln2LowD : ln2LowF), tail);
  Value *middle = fma(split.s, constant(x, 2.0), low);
  Value *result = fma(split.exponent, constant(x, wide ? ln2HighD : ln2HighF), middle);
  return fixLogEdges(x, result);
}

Value *VectorMath::log2(Value *x) {
  bool wide = isDouble(x);
  Split split = splitForLog(x);
  Value *tail = b.CreateFMul(b.CreateFMul(split.s, split.z), horner(split.z, logTail(wide)));
  Value *natural = fma(split.s, constant(x, 2.0), tail);
  Value *result = fma(natural, constant(x, log2e), split.exponent);
  return fixLogEdges(x, result);
}

Value *VectorMath::log1p(Value *x) {
  // log(u) * x / (u - 1) with u = 1 + x cancels the rounding of u.
  Value *u = b.CreateFAdd(x, constant(x, 1.0));
  Value *d = b.CreateFSub(u, constant(x, 1.0));
  Value *l = log(u);
  Value *corrected = b.CreateFMul(l, b.CreateFDiv(x, d));
  Value *isZero = b.CreateFCmpOEQ(d, constant(x, 0));
  Value *isInfinite = b.CreateFCmpOEQ(abs(u), constant(x, std::numeric_limits<double>::infinity()));
  Value *atMinusOne = b.CreateFCmpOEQ(u, constant(x, 0));
  return b.CreateSelect(isZero, x, b.CreateSelect(b.CreateOr(isInfinite, atMinusOne), l, corrected));
}

Value *VectorMath::tanh(Value *x) {
  static constexpr double single[] = {-0.0056688373404612741, 0.020613305315730884, -0.053734715137778014,
                                      0.13331434822405522, -0.33333284833964932};
  static constexpr double doubles[] = {
      1.5911421832820369e-06,  -2.0253431780114942e-05, 8.1906930919593851e-05,  -0.00023165545230750131,
      0.00058757965500717694,  -0.0014552975835578565,  0.0035920494341037954,   -0.0088632280306330559,
      0.021869488093979223,    -0.05396825395366462,    0.13333333333311018,     -0.33333333333333282};
  Value *z = b.CreateFMul(x, x);
  Value *p = isDouble(x) ? horner(z, doubles) : horner(z, single);
  Value *nearZero = fma(b.CreateFMul(p, z), x, x);
  Value *a = abs(x);
  Value *e = exp(b.CreateFAdd(a, a));
  Value *far = b.CreateFSub(constant(x, 1.0), b.CreateFDiv(constant(x, 2.0), b.CreateFAdd(e, constant(x, 1.0))));
  return b.CreateSelect(b.CreateFCmpOLT(a, constant(x, 0.625)), nearZero, copysign(far, x));
}

Value *VectorMath::erf(Value *x) {
  static constexpr double low32[] = {7.8861706411476856e-05, -0.00080233851967135184, 0.0051902936338085242,
                                     -0.026855150893958735,  0.11283626823094885,     -0.37612630796872071,
                                     1.1283791669238372};
  static constexpr double high32[] = {-2.0769573095164693e-06, 3.3542163585976828e-05, -0.0002138318566633625,
                                      0.00050262774812702827,  0.0018236503967776596,  -0.021287361744960563,
                                      0.10420045215507058,     0.63608026155805752,    1.1284682464095779};
  static constexpr double low64[] = {
      7.2908610312812784e-10, 5.2909692037551487e-10,  -2.1691109325888469e-08, 8.1277448967264924e-08,
      -1.4319831708330899e-07, 2.290492765059693e-08,  1.500497328719381e-06,   -1.4848406532140539e-05,
      0.00012052552806190149, -0.00085482604667989068, 0.0052239766115777459,   -0.026866170554297717,
      0.1128379167053891,     -0.37612638903176276,    1.128379167095513};
  static constexpr double high64[] = {
      -5.802625628063977e-15,  2.5120186594950804e-13, -4.9400705597333138e-12, 5.8096380884833656e-11,
      -4.5119485755182416e-10, 2.3974839411806858e-09, -8.6231415697142519e-09, 1.927891006825067e-08,
      -1.7675424359877979e-08, -3.1273081555333257e-08, 1.4311560677549635e-07, -5.9104760206159732e-07,
      3.4565651767673805e-06,  -1.2615292473263494e-05, 1.103610135455334e-05,  0.00012549257975508343,
      -0.00072111769031589273, 0.0018229366427479582,  -0.00029960139844360247, -0.019081966927812926,
      0.10275626441294351,     0.63662329317544841,    1.1283788159899093};
  bool wide = isDouble(x);
  Value *a = abs(x);
  Value *nearZero = b.CreateFMul(x, wide ? horner(b.CreateFMul(x, x), low64) : horner(b.CreateFMul(x, x), low32));
  // Beyond the fitted interval the result is 1 to the last bit, so the argument may be clamped.
  double end = wide ? 6.0 : 4.0;
  Value *clamped = b.CreateSelect(b.CreateFCmpOLT(a, constant(x, end)), a, constant(x, end));
  Value *q = b.CreateFMul(clamped, wide ? horner(clamped, high64) : horner(clamped, high32));
  Value *far = b.CreateFSub(constant(x, 1.0), exp(b.CreateFNeg(q)));
  Value *result = b.CreateSelect(b.CreateFCmpOLT(a, constant(x, 1.0)), nearZero, copysign(far, x));
  return b.CreateSelect(isNaN(x), x, result);
}

Value *VectorMath::sinOrCos(Value *x, bool cosine) {
  static constexpr double sin32[] = {-0.00019506063327432989, 0.0083321036691027667, -0.16666654120459995};
  static constexpr double cos32[] = {2.4423375306547057e-05, -0.0013887233103198162, 0.041666644087792054};
  static constexpr double sin64[] = {1.5896230157221844e-10,  -2.5050747762850355e-08, 2.7557313621385722e-06,
                                     -0.00019841269829589539, 0.0083333333333221182,   -0.16666666666666630};
  static constexpr double cos64[] = {-1.1358536521387682e-11, 2.0875700842950373e-09, -2.7557314151079131e-07,
                                     2.4801587288851705e-05,  -0.0013888888888873056, 0.041666666666666595};
  bool wide = isDouble(x);
  // Reduction modulo pi/2 in double also for float, where it is exact enough for every quadrant up to 2^27.
  Type *narrow = x->getType();
  Type *doubles = b.getDoubleTy();
  if (auto *vector = dyn_cast<FixedVectorType>(narrow))
    doubles = FixedVectorType::get(doubles, vector->getNumElements());
  Value *w = wide ? x : b.CreateFPExt(x, doubles);
  double infinity = std::numeric_limits<double>::infinity();
  Value *finite = b.CreateFCmpOLT(abs(w), constant(w, infinity));
  Value *safe = b.CreateSelect(finite, w, constant(w, 0));
  Value *n = roundeven(b.CreateFMul(safe, constant(w, 0.636619772367581343076)));
  Value *r = fma(n, constant(w, -1.57079632679489655800), safe);
  r = fma(n, constant(w, -6.12323399573676603587e-17), r);
  // n mod 4 by subtraction, since n may be beyond the integers.
  Value *quarter = b.CreateFSub(n, b.CreateFMul(constant(w, 4.0), floor(b.CreateFMul(n, constant(w, 0.25)))));
  if (!wide)
    r = b.CreateFPTrunc(r, narrow);
  Value *z = b.CreateFMul(r, r);
  Value *s = fma(b.CreateFMul(wide ? horner(z, sin64) : horner(z, sin32), z), r, r);
  Value *c = wide ? horner(z, cos64) : horner(z, cos32);
  c = fma(c, b.CreateFMul(z, z), fma(z, constant(r, -0.5), constant(r, 1.0)));
  Value *q = cosine ? b.CreateFAdd(quarter, constant(w, 1.0)) : quarter;
  Value *odd = b.CreateOr(b.CreateFCmpOEQ(q, constant(w, 1.0)), b.CreateFCmpOEQ(q, constant(w, 3.0)));
  Value *negative = b.CreateOr(b.CreateFCmpOEQ(q, constant(w, 2.0)), b.CreateFCmpOEQ(q, constant(w, 3.0)));
  Value *result = b.CreateSelect(odd, c, s);
  result = b.CreateSelect(negative, b.CreateFNeg(result), result);
  return b.CreateSelect(wide ? finite : b.CreateFCmpOLT(abs(x), constant(x, infinity)), result,
                        constant(x, std::numeric_limits<double>::quiet_NaN()));
}

Value *VectorMath::sin(Value *x) { return sinOrCos(x, false); }
Value *VectorMath::cos(Value *x) { return sinOrCos(x, true); }

Value *VectorMath::pow(Value *x, Value *y) {
  Type *narrow = x->getType();
  bool wide = isDouble(x);
  Type *doubles = b.getDoubleTy();
  if (auto *vector = dyn_cast<FixedVectorType>(narrow))
    doubles = FixedVectorType::get(doubles, vector->getNumElements());
  Value *base = wide ? x : b.CreateFPExt(x, doubles), *power = wide ? y : b.CreateFPExt(y, doubles);
  Value *magnitude = exp(b.CreateFMul(power, log(abs(base))));
  Value *isInteger = b.CreateFCmpOEQ(power, trunc(power));
  Value *halved = b.CreateFMul(power, constant(power, 0.5));
  Value *isOdd = b.CreateAnd(isInteger, b.CreateFCmpONE(halved, trunc(halved)));
  Value *zero = constant(base, 0), *one = constant(base, 1.0);
  Value *negativeBase = b.CreateFCmpOLT(copysign(one, base), zero);
  Value *result = b.CreateSelect(b.CreateAnd(negativeBase, isOdd), b.CreateFNeg(magnitude), magnitude);
  Value *undefined = b.CreateAnd(b.CreateFCmpOLT(base, zero), b.CreateNot(isInteger));
  Value *infiniteBase = b.CreateFCmpOEQ(abs(base), constant(base, std::numeric_limits<double>::infinity()));
  undefined = b.CreateAnd(undefined, b.CreateNot(infiniteBase));
  result = b.CreateSelect(undefined, constant(base, std::numeric_limits<double>::quiet_NaN()), result);
  result = b.CreateSelect(b.CreateFCmpUNO(base, power), b.CreateFAdd(base, power), result);
  Value *isOne = b.CreateOr(b.CreateFCmpOEQ(power, zero), b.CreateFCmpOEQ(base, one));
  Value *minusOneToInfinity = b.CreateAnd(b.CreateFCmpOEQ(abs(base), one),
                                          b.CreateFCmpOEQ(abs(power), constant(base, std::numeric_limits<double>::infinity())));
  result = b.CreateSelect(b.CreateOr(isOne, minusOneToInfinity), one, result);
  return wide ? result : b.CreateFPTrunc(result, narrow);
}

Value *VectorMath::fmod(Value *x, Value *y) { return b.CreateFRem(x, y); }

Value *VectorMath::roundToBFloat16(Value *x) {
  Type *integer = intTypeOf(x);
  auto constantInt = [&](uint64_t v) { return ConstantInt::get(integer, v); };
  Value *bits = b.CreateBitCast(x, integer);
  Value *odd = b.CreateAnd(b.CreateLShr(bits, constantInt(16)), constantInt(1));
  Value *rounded = b.CreateAdd(bits, b.CreateAdd(odd, constantInt(0x7fff)));
  Value *quiet = b.CreateOr(bits, constantInt(0x400000));
  Value *chosen = b.CreateSelect(isNaN(x), quiet, rounded);
  return b.CreateBitCast(b.CreateAnd(chosen, constantInt(0xffff0000u)), x->getType());
}

Value *VectorMath::roundToFloat16(Value *x) {
  Type *half = b.getHalfTy();
  if (auto *vector = dyn_cast<FixedVectorType>(x->getType()))
    half = FixedVectorType::get(half, vector->getNumElements());
  return b.CreateFPExt(b.CreateFPTrunc(x, half), x->getType());
}

} // namespace pellucid::codegen
