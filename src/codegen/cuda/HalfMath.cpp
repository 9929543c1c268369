// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/HalfMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

namespace {

enum class Half : uint8_t {
  None,
  Add,
  Subtract,
  Multiply,
  Maximum,
  Minimum,
  MaximumNan,
  MinimumNan,
  Negate,
  Absolute
};

Half kindOf(mlir::Operation *op) {
  return llvm::StringSwitch<Half>(op->getName().getStringRef())
      .Case("arith.addf", Half::Add)
      .Case("arith.subf", Half::Subtract)
      .Case("arith.mulf", Half::Multiply)
      .Case("arith.maxnumf", Half::Maximum)
      .Case("arith.minnumf", Half::Minimum)
      .Case("arith.maximumf", Half::MaximumNan)
      .Case("arith.minimumf", Half::MinimumNan)
      .Case("arith.negf", Half::Negate)
      .Case("math.absf", Half::Absolute)
      .Default(Half::None);
}

/// By f16 and bf16, one element and two. -0 is below +0.
struct Extremes {
  I::ID one[2], two[2];
};
Extremes extremesOf(Half kind) {
  switch (kind) {
  case Half::Maximum:
    return {{I::nvvm_fmax_f16, I::nvvm_fmax_bf16}, {I::nvvm_fmax_f16x2, I::nvvm_fmax_bf16x2}};
  case Half::Minimum:
    return {{I::nvvm_fmin_f16, I::nvvm_fmin_bf16}, {I::nvvm_fmin_f16x2, I::nvvm_fmin_bf16x2}};
  case Half::MaximumNan:
    return {{I::nvvm_fmax_nan_f16, I::nvvm_fmax_nan_bf16},
            {I::nvvm_fmax_nan_f16x2, I::nvvm_fmax_nan_bf16x2}};
  default:
    return {{I::nvvm_fmin_nan_f16, I::nvvm_fmin_nan_bf16},
            {I::nvvm_fmin_nan_f16x2, I::nvvm_fmin_nan_bf16x2}};
  }
}

/// x * y + z, rounded once: devices before sm_90 have no other arithmetic of bf16.
Value *fused(CodeBuilder &b, Value *x, Value *y, Value *z) {
  return b.CreateIntrinsic(I::fma, {x->getType()}, {x, y, z});
}

Value *emitArithmetic(CodeBuilder &b, Half kind, bool isBFloat, Value *x, Value *y) {
  switch (kind) {
  case Half::Add:
    return isBFloat ? fused(b, x, floatLike(x, 1), y) : b.CreateFAdd(x, y);
  case Half::Subtract:
    return isBFloat ? fused(b, y, floatLike(y, -1), x) : b.CreateFSub(x, y);
  case Half::Multiply:
    return isBFloat ? fused(b, x, y, floatLike(x, -0.0)) : b.CreateFMul(x, y);
  default: {
    Extremes ids = extremesOf(kind);
    return b.CreateIntrinsic((laneCount(x) == 2 ? ids.two : ids.one)[isBFloat], {}, {x, y});
  }
  }
}

} // namespace

bool hasHalfInstruction(mlir::Operation *op) {
  if (kindOf(op) == Half::None)
    return false;
  mlir::Type element = elementTypeOf(op->getResult(0).getType());
  return element.isF16() || element.isBF16();
}

Value *emitHalfInstruction(CodeBuilder &b, mlir::Operation *op, llvm::ArrayRef<Value *> operands) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  Half kind = kindOf(op);
  Value *bits = operands[0];
  if (kind == Half::Negate)
    return b.CreateXor(bits, integerLike(bits, -0x8000));
  if (kind == Half::Absolute)
    return b.CreateAnd(bits, integerLike(bits, 0x7fff));
  bool isBFloat = elementTypeOf(op->getResult(0).getType()).isBF16();
  llvm::Type *type = typeLike(bits, isBFloat ? b.getBFloatTy() : b.getHalfTy());
  Value *made = emitArithmetic(b, kind, isBFloat, b.CreateBitCast(operands[0], type),
                               b.CreateBitCast(operands[1], type));
  return b.CreateBitCast(made, bits->getType());
}

} // namespace pellucid::codegen
