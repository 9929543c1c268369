// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/LaneValue.h"

namespace pellucid::codegen {

using llvm::Value;

bool LaneValue::isAlwaysTrue() const {
  auto *constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(value);
  return isUniform() && constant && constant->getType()->isIntegerTy(1) && constant->isOne();
}

bool LaneValue::hasConstantStride(int64_t &units) const {
  auto *constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(stride);
  if (!isRamp() || !constant)
    return false;
  units = constant->getSExtValue();
  return true;
}

Value *LaneValue::countOr(CodeBuilder &b, int64_t otherwise) const {
  return sure ? b.CreateSelect(sure, value, b.getInt64(otherwise)) : value;
}

Value *clampCount(CodeBuilder &b, Value *count, unsigned lanes) {
  Value *low = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b.getInt64(0));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, low, b.getInt64(lanes));
}

static Value *prefixToVector(CodeBuilder &b, Value *count, unsigned lanes) {
  if (lanes == 1)
    return b.CreateICmpSGT(count, b.getInt64(0));
  Value *clamped = b.CreateTrunc(clampCount(b, count, lanes), b.i32());
  return b.CreateICmpSLT(iota(b.i32(), lanes), b.CreateVectorSplat(lanes, clamped));
}

static Value *rampToVector(CodeBuilder &b, const LaneValue &ramp, unsigned lanes) {
  if (lanes == 1)
    return ramp.value;
  Value *steps = iota(ramp.stride->getType(), lanes);
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(ramp.stride);
  if (!constant || !constant->isOne())
    steps = b.CreateMul(steps, b.CreateVectorSplat(lanes, ramp.stride));
  if (ramp.value->getType()->isPointerTy())
    return b.CreateGEP(b.i8(), ramp.value, steps);
  return b.CreateAdd(b.CreateVectorSplat(lanes, ramp.value), steps);
}

Value *toVector(CodeBuilder &b, const LaneValue &value, unsigned lanes) {
  switch (value.kind) {
  case LaneValue::Kind::Uniform:
    return splatTo(b, value.value, lanes);
  case LaneValue::Kind::Ramp:
    return rampToVector(b, value, lanes);
  case LaneValue::Kind::Prefix:
    return prefixToVector(b, value.value, lanes);
  case LaneValue::Kind::Vector:
    return value.value;
  case LaneValue::Kind::Opaque:
    break;
  }
  llvm_unreachable("an opaque value has no lanes");
}

} // namespace pellucid::codegen
