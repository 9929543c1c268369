// SPDX-License-Identifier: Apache-2.0
// Reduction of large angles by the method of Payne and Hanek: the product with 2/pi, modulo 4, from
// the bits of 2/pi that matter for the angle's exponent.
#include "codegen/common/VectorMathDouble.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

#include <cmath>

namespace pellucid::codegen {

using llvm::Value;

// A zero word, then the first 1280 bits of 2/pi.
static constexpr uint64_t twoOverPi[21] = {0,
                                           0xa2f9836e4e441529,
                                           0xfc2757d1f534ddc0,
                                           0xdb6295993c439041,
                                           0xfe5163abdebbc561,
                                           0xb7246e3a424dd2e0,
                                           0x06492eea09d1921c,
                                           0xfe1deb1cb129a73e,
                                           0xe88235f52ebb4484,
                                           0xe99c7026b45f7e41,
                                           0x3991d639835339f4,
                                           0x9c845f8bbdf9283b,
                                           0x1ff897ffde05980f,
                                           0xef2f118b5a0a6d1f,
                                           0x6d367ecf27cb09b7,
                                           0x4f463f669e5fea2d,
                                           0x7527bac7ebe5f17b,
                                           0x3d0739f78a5292ea,
                                           0x6bfb5fb11f8d5d08,
                                           0x56033046fc7b6bab,
                                           0xf0cfbc209af4361d};

static llvm::GlobalVariable *bitTable(CodeBuilder &b) {
  llvm::Module &module = *b.GetInsertBlock()->getModule();
  constexpr const char *name = "two_over_pi";
  if (llvm::GlobalVariable *known = module.getNamedGlobal(name))
    return known;
  auto *bits = llvm::ConstantDataArray::get(b.getContext(), llvm::ArrayRef<uint64_t>(twoOverPi));
  return new llvm::GlobalVariable(module, bits->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::PrivateLinkage, bits, name);
}

/// One finite angle of at least 2^30, or an infinity or NaN.
static QuarterTurns reduceOne(CodeBuilder &b, Value *x) {
  auto constant = [&](uint64_t value) { return b.getInt64(value); };
  Value *bits = b.CreateBitCast(x, b.i64());
  Value *field = b.CreateAnd(b.CreateLShr(bits, 52), constant(0x7ff));
  Value *mantissa =
      b.CreateOr(b.CreateAnd(bits, constant((uint64_t(1) << 52) - 1)), constant(uint64_t(1) << 52));
  // |x| = mantissa * 2^(field - 1075). The window starts at the bit that weighs 2 in the product.
  Value *start = b.CreateAdd(field, b.getInt64(64 - 1075 - 2));
  start = b.CreateSelect(b.CreateICmpEQ(field, constant(0x7ff)), constant(64), start);
  Value *word = b.CreateLShr(start, 6), *shift = b.CreateAnd(start, constant(63));
  Value *words[4], *window[3];
  for (int i = 0; i < 4; ++i)
    words[i] =
        b.CreateLoad(b.i64(), b.CreateGEP(b.i64(), bitTable(b), b.CreateAdd(word, b.getInt64(i))));
  for (int i = 0; i < 3; ++i)
    window[i] =
        b.CreateIntrinsic(llvm::Intrinsic::fshl, {b.i64()}, {words[i], words[i + 1], shift});
  llvm::Type *i128 = b.getInt128Ty();
  auto product = [&](Value *part) {
    return b.CreateMul(b.CreateZExt(mantissa, i128), b.CreateZExt(part, i128));
  };
  Value *low = product(window[2]);
  Value *middle = b.CreateAdd(b.CreateLShr(low, 64), product(window[1]));
  Value *third = b.CreateTrunc(low, b.i64()), *second = b.CreateTrunc(middle, b.i64());
  Value *first = b.CreateAdd(b.CreateTrunc(b.CreateLShr(middle, 64), b.i64()),
                             b.CreateMul(mantissa, window[0]));
  Value *two = constant(2);
  Value *high = b.CreateIntrinsic(llvm::Intrinsic::fshl, {b.i64()}, {first, second, two});
  Value *next = b.CreateIntrinsic(llvm::Intrinsic::fshl, {b.i64()}, {second, third, two});
  // The fraction as a signed number; from one half on it counts back from the next quadrant.
  Value *quadrant = b.CreateAdd(b.CreateLShr(first, 62), b.CreateLShr(high, 63));
  Value *top =
      b.CreateFMul(b.CreateSIToFP(b.CreateAShr(high, 11), b.getDoubleTy()), floatLike(x, 0x1p-53));
  Value *below = b.CreateOr(b.CreateShl(high, 53), b.CreateLShr(next, 11));
  Value *bottom = b.CreateFMul(b.CreateUIToFP(below, b.getDoubleTy()), floatLike(x, 0x1p-117));
  Value *turns = b.CreateFAdd(top, bottom);
  Value *turnsLow = b.CreateFAdd(b.CreateFSub(top, turns), bottom);
  Value *piHalf = floatLike(x, 0x1.921fb54442d18p+0);
  Value *angle = b.CreateFMul(turns, piHalf);
  Value *angleLow = emitFma(b, turns, piHalf, b.CreateFNeg(angle));
  angleLow = emitFma(b, turns, floatLike(x, 0x1.1a62633145c07p-54), angleLow);
  angleLow = emitFma(b, turnsLow, piHalf, angleLow);
  Value *negative = b.CreateICmpSLT(bits, constant(0));
  Value *special = b.CreateICmpEQ(field, constant(0x7ff));
  angle = b.CreateSelect(negative, b.CreateFNeg(angle), angle);
  return {b.CreateSelect(negative, b.CreateNeg(quadrant), quadrant),
          b.CreateSelect(special, floatLike(x, NAN), angle),
          b.CreateSelect(negative, b.CreateFNeg(angleLow), angleLow)};
}

QuarterTurns reduceLargeAngles(CodeBuilder &b, Value *x, const QuarterTurns &small) {
  llvm::LLVMContext &context = b.getContext();
  llvm::Function *function = b.GetInsertBlock()->getParent();
  unsigned lanes = laneCount(x);
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *before = b.GetInsertBlock();
  llvm::BasicBlock *slow = block("large"), *lane = block("lane"), *one = block("angle"),
                   *next = block("next"), *end = block("reduced");
  Value *absolute = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value *isLarge = b.CreateFCmpUGT(absolute, floatLike(x, 0x1p30));
  b.CreateCondBr(lanes > 1 ? b.CreateOrReduce(isLarge) : isLarge, slow, end);

  llvm::BasicBlock &entry = function->getEntryBlock();
  llvm::Type *i64s = lanesOf(b.i64(), lanes);
  auto variable = [&](llvm::Type *type) {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    b.SetInsertPoint(&entry, entry.begin());
    return b.CreateAlloca(type);
  };
  Value *values[4] = {x, small.quadrant, small.remainder, small.low};
  llvm::AllocaInst *memory[4] = {variable(x->getType()), variable(i64s), variable(x->getType()),
                                 small.low ? variable(x->getType()) : nullptr};
  b.SetInsertPoint(slow);
  for (int i = 0; i < 4; ++i)
    if (memory[i])
      b.CreateStore(values[i], memory[i]);
  b.CreateBr(lane);
  b.SetInsertPoint(lane);
  llvm::PHINode *index = b.CreatePHI(b.i64(), 2);
  index->addIncoming(b.getInt64(0), slow);
  auto element = [&](int which, llvm::Type *type) {
    return b.CreateGEP(type, memory[which], index);
  };
  Value *angle = b.CreateLoad(b.getDoubleTy(), element(0, b.getDoubleTy()));
  Value *size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, angle);
  b.CreateCondBr(b.CreateFCmpUGT(size, floatLike(angle, 0x1p30)), one, next);
  b.SetInsertPoint(one);
  QuarterTurns exact = reduceOne(b, angle);
  b.CreateStore(exact.quadrant, element(1, b.i64()));
  b.CreateStore(exact.remainder, element(2, b.getDoubleTy()));
  if (small.low)
    b.CreateStore(exact.low, element(3, b.getDoubleTy()));
  b.CreateBr(next);
  b.SetInsertPoint(next);
  Value *following = b.CreateAdd(index, b.getInt64(1));
  index->addIncoming(following, next);
  llvm::BasicBlock *done = block("done");
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt64(lanes)), lane, done);
  b.SetInsertPoint(done);
  Value *loaded[4] = {};
  for (int i = 1; i < 4; ++i)
    if (memory[i])
      loaded[i] = b.CreateLoad(memory[i]->getAllocatedType(), memory[i]);
  b.CreateBr(end);
  b.SetInsertPoint(end);
  auto merge = [&](Value *fast, Value *exactValue) -> Value * {
    if (!fast)
      return nullptr;
    llvm::PHINode *phi = b.CreatePHI(fast->getType(), 2);
    phi->addIncoming(fast, before);
    phi->addIncoming(exactValue, done);
    return phi;
  };
  Value *quadrant = merge(small.quadrant, loaded[1]);
  Value *remainder = merge(small.remainder, loaded[2]);
  return {quadrant, remainder, merge(small.low, loaded[3])};
}

} // namespace pellucid::codegen
