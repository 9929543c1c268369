// SPDX-License-Identifier: Apache-2.0
// f32 functions with a relative error below 2^-16: an eighth of what a rounding to bf16 loses.
#include "codegen/common/VectorMath.h"
#include "codegen/common/VectorMathDouble.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <bit>

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

namespace {

using Steps = llvm::function_ref<Value *(Value *)>;

/// 2^f for f in [0, 1], without error at 0.
Value *exp2OfFraction(CodeBuilder &b, Value *f) {
  return emitPolynomial(b, f, {1.0, 0x1.62d6c6p-1, 0x1.ee245p-3, 0x1.abf86ap-5, 0x1.b7f73p-7});
}

bool hasAvx512(CodeBuilder &b, Value *x) { return b.hasScale16 && laneCount(x) % 16 == 0; }

/// `steps` on 16 lanes at a time.
Value *halvesBySixteens(CodeBuilder &b, Value *x, Steps steps) {
  unsigned lanes = laneCount(x);
  if (lanes == 16)
    return steps(x);
  llvm::SmallVector<int> low, high, both;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    (lane < lanes / 2 ? low : high).push_back(lane);
    both.push_back(lane);
  }
  Value *first = halvesBySixteens(b, b.CreateShuffleVector(x, low), steps);
  return b.CreateShuffleVector(first, halvesBySixteens(b, b.CreateShuffleVector(x, high), steps),
                               both);
}

/// Where 2^x rounds to zero it is zero times that: a result that underflows takes an Intel
/// processor 150 cycles.
Value *unlessVanishing(CodeBuilder &b, Value *x, Value *value) {
  Value *vanishes = b.CreateFCmpOLT(x, floatLike(x, -151.0));
  return b.CreateSelect(vanishes, floatLike(x, 0.0), value);
}

/// vreduceps and vscalefps are right at infinities, NaN and subnormal results on their own.
Value *exp2Avx512(CodeBuilder &b, Value *x) {
  constexpr int currentRounding = 4, towardsMinusInfinity = 9;
  return halvesBySixteens(b, x, [&](Value *y) {
    Value *none = llvm::Constant::getNullValue(y->getType());
    Value *f = b.CreateIntrinsic(
        I::x86_avx512_mask_reduce_ps_512, {},
        {y, b.getInt32(towardsMinusInfinity), none, b.getInt16(-1), b.getInt32(currentRounding)});
    return b.CreateIntrinsic(I::x86_avx512_mask_scalef_ps_512, {},
                             {unlessVanishing(b, y, exp2OfFraction(b, f)), y, none, b.getInt16(-1),
                              b.getInt32(currentRounding)});
  });
}

/// Two factors, so that subnormal results are rounded once.
Value *exp2Generic(CodeBuilder &b, Value *x) {
  auto number = [&](double value) { return floatLike(x, value); };
  // The comparisons keep NaN.
  Value *given = x;
  x = b.CreateSelect(b.CreateFCmpOLT(x, number(-152.0)), number(-152.0), x);
  x = b.CreateSelect(b.CreateFCmpOGT(x, number(129.0)), number(129.0), x);
  Value *whole = b.CreateUnaryIntrinsic(I::floor, x);
  Value *power = unlessVanishing(b, given, exp2OfFraction(b, b.CreateFSub(x, whole)));
  Value *shifted = b.CreateBitCast(b.CreateFAdd(whole, number(0x1.8p23)), typeLike(x, b.i32()));
  Value *n = b.CreateSub(shifted, integerLike(shifted, std::bit_cast<int32_t>(0x1.8p23f)));
  Value *half = b.CreateAShr(n, integerLike(n, 1));
  auto factor = [&](Value *k) {
    Value *bits = b.CreateShl(b.CreateAdd(k, integerLike(k, 127)), integerLike(k, 23));
    return b.CreateBitCast(bits, x->getType());
  };
  return b.CreateFMul(b.CreateFMul(power, factor(half)), factor(b.CreateSub(n, half)));
}

Value *exp2(CodeBuilder &b, Value *x) {
  return hasAvx512(b, x) ? exp2Avx512(b, x) : exp2Generic(b, x);
}

Value *exp(CodeBuilder &b, Value *x) {
  return exp2(b, b.CreateFMul(x, floatLike(x, 0x1.715476p+0)));
}

} // namespace

UnaryMath bfloat16GradeMath(llvm::StringRef name) {
  static const llvm::StringMap<UnaryMath> table = {{"exp", exp}, {"exp2", exp2}};
  return table.lookup(name);
}

} // namespace pellucid::codegen
