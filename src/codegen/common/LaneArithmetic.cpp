// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/LaneArithmetic.h"

#include "codegen/common/RampRange.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pellucid::codegen {

using llvm::Value;
using Lanes = llvm::ArrayRef<LaneValue>;
using Folded = std::optional<LaneValue>;
namespace arith = mlir::arith;

namespace {

bool isLinear(const LaneValue &v) { return v.isUniform() || v.isRamp(); }
Value *strideOr0(const LaneValue &v) {
  return v.isRamp() ? v.stride : llvm::ConstantInt::get(v.value->getType(), 0);
}

Folded subtract(CodeBuilder &b, const LaneValue &x, const LaneValue &y) {
  if (!isLinear(x) || !isLinear(y))
    return std::nullopt;
  return LaneValue::ramp(b.CreateSub(x.value, y.value), b.CreateSub(strideOr0(x), strideOr0(y)));
}

Folded multiplyLanes(CodeBuilder &b, const LaneValue &x, const LaneValue &y) {
  if (x.isRamp() && y.isUniform())
    return scaleLanes(b, x, y.value);
  if (x.isUniform() && y.isRamp())
    return scaleLanes(b, y, x.value);
  return std::nullopt;
}

Folded shiftLeft(CodeBuilder &b, const LaneValue &x, const LaneValue &y) {
  auto *amount = y.isUniform() ? llvm::dyn_cast<llvm::ConstantInt>(y.value) : nullptr;
  if (!x.isRamp() || !amount || amount->getZExtValue() >= x.value->getType()->getIntegerBitWidth())
    return std::nullopt;
  return LaneValue::ramp(b.CreateShl(x.value, amount), b.CreateShl(x.stride, amount));
}

int64_t tileElements(mlir::Type type) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tile ? tile.getNumElements() : 1;
}

Value *both(CodeBuilder &b, Value *x, Value *y) { return x && y ? b.CreateAnd(x, y) : x ? x : y; }

Folded extend(CodeBuilder &b, mlir::Operation *op, const LaneValue &x, LaneUse use) {
  if (!x.isRamp())
    return std::nullopt;
  mlir::Value result = op->getResult(0);
  llvm::Type *type = registerType(b.getContext(), elementTypeOf(result.getType()));
  bool isSigned = !mlir::isa<arith::ExtUIOp>(op);
  int64_t lanes = tileElements(result.getType());
  LaneValue wide =
      LaneValue::ramp(isSigned ? b.CreateSExtOrTrunc(x.value, type) : b.CreateZExt(x.value, type),
                      b.CreateSExtOrTrunc(x.stride, type));
  // Dropping bits is exact; adding some is where a ramp that wraps would show.
  unsigned bits = x.value->getType()->getIntegerBitWidth();
  if (type->getIntegerBitWidth() <= bits || staysInRange(x, lanes, isSigned) ||
      (use == LaneUse::Offset && bits >= 32))
    return wide;
  if (use != LaneUse::Analysis)
    return std::nullopt;
  wide.sure = checkRange(b, x, lanes, isSigned);
  return wide;
}

Folded addPointer(CodeBuilder &b, tt::AddPtrOp op, const LaneValue &pointer,
                  const LaneValue &offset) {
  if (!isLinear(pointer) || !isLinear(offset))
    return std::nullopt;
  auto type = mlir::cast<tt::PointerType>(elementTypeOf(op.getPtr().getType()));
  uint64_t bytes = memoryBytes(type.getPointeeType());
  Value *base = b.CreateGEP(memoryType(b.getContext(), type.getPointeeType()), pointer.value,
                            b.CreateSExt(offset.value, b.i64()));
  Value *stride = pointer.isRamp() ? pointer.stride : b.getInt64(0);
  if (offset.isRamp())
    stride =
        b.CreateAdd(stride, b.CreateMul(b.CreateSExt(offset.stride, b.i64()), b.getInt64(bytes)));
  return LaneValue::ramp(base, stride);
}

/// `ramp < bound` with stride 1 holds in a prefix of the lanes, unless the ramp wraps: without
/// sign, one that starts below 0 wraps at 0, as in `(i - k).to(uint32) < n`.
Folded compareRamp(CodeBuilder &b, const LaneValue &ramp, Value *bound, int64_t lanes,
                   bool isSigned, bool inclusive, LaneUse use) {
  int64_t stride;
  if (!ramp.hasConstantStride(stride) || stride != 1 || ramp.value->getType()->isPointerTy())
    return std::nullopt;
  bool wideBits = ramp.value->getType()->getIntegerBitWidth() == 64;
  bool stays = staysInRange(ramp, lanes, isSigned);
  // A distance of unsigned 64-bit numbers is no signed one.
  if ((!stays && use != LaneUse::Analysis) || (wideBits && !isSigned))
    return std::nullopt;
  auto wide = [&](Value *v) {
    return isSigned ? b.CreateSExt(v, b.i64()) : b.CreateZExt(v, b.i64());
  };
  auto combine = [&](llvm::Intrinsic::ID saturating, llvm::Instruction::BinaryOps plain, Value *v,
                     Value *w) {
    return wideBits ? b.CreateBinaryIntrinsic(saturating, v, w) : b.CreateBinOp(plain, v, w);
  };
  Value *count =
      combine(llvm::Intrinsic::ssub_sat, llvm::Instruction::Sub, wide(bound), wide(ramp.value));
  if (inclusive)
    count = combine(llvm::Intrinsic::sadd_sat, llvm::Instruction::Add, count, b.getInt64(1));
  LaneValue prefix = LaneValue::prefix(count);
  if (!stays)
    prefix.sure = checkRange(b, ramp, lanes, isSigned);
  return prefix;
}

/// `ramp >= bound` holds in all lanes of a row where it holds in the first one, unless the ramp
/// wraps; else nothing is known.
Folded boundRamp(CodeBuilder &b, const LaneValue &ramp, Value *bound, int64_t lanes, bool isSigned,
                 bool inclusive) {
  int64_t stride;
  if (!ramp.hasConstantStride(stride) || stride < 0 || ramp.value->getType()->isPointerTy())
    return std::nullopt;
  using P = llvm::CmpInst::Predicate;
  P predicate =
      isSigned ? (inclusive ? P::ICMP_SGE : P::ICMP_SGT) : (inclusive ? P::ICMP_UGE : P::ICMP_UGT);
  LaneValue all = LaneValue::prefix(b.getInt64(INT32_MAX));
  all.sure = b.CreateICmp(predicate, ramp.value, bound);
  if (!staysInRange(ramp, lanes, isSigned))
    all.sure = b.CreateAnd(all.sure, checkRange(b, ramp, lanes, isSigned));
  return all;
}

Folded compare(CodeBuilder &b, arith::CmpIOp op, const LaneValue &x, const LaneValue &y,
               LaneUse use) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  bool isSigned =
      predicate == P::slt || predicate == P::sle || predicate == P::sgt || predicate == P::sge;
  bool less =
      predicate == P::slt || predicate == P::sle || predicate == P::ult || predicate == P::ule;
  bool greater =
      predicate == P::sgt || predicate == P::sge || predicate == P::ugt || predicate == P::uge;
  bool inclusive =
      predicate == P::sle || predicate == P::sge || predicate == P::ule || predicate == P::uge;
  int64_t lanes = tileElements(op.getType());
  if (less && x.isRamp() && y.isUniform())
    return compareRamp(b, x, y.value, lanes, isSigned, inclusive, use);
  if (greater && x.isUniform() && y.isRamp())
    return compareRamp(b, y, x.value, lanes, isSigned, inclusive, use);
  if (use == LaneUse::Analysis && greater && x.isRamp() && y.isUniform())
    return boundRamp(b, x, y.value, lanes, isSigned, inclusive);
  if (use == LaneUse::Analysis && less && x.isUniform() && y.isRamp())
    return boundRamp(b, y, x.value, lanes, isSigned, inclusive);
  return std::nullopt;
}

Folded uniteMasks(CodeBuilder &b, const LaneValue &x, const LaneValue &y) {
  if (x.isPrefix() && y.isPrefix())
    return LaneValue::prefix(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x.value, y.value));
  if (y.isPrefix())
    return uniteMasks(b, y, x);
  if (x.isPrefix() && y.isUniform())
    return LaneValue::prefix(b.CreateSelect(y.value, b.getInt64(INT32_MAX), x.value));
  return std::nullopt;
}

Folded chooseUniformly(CodeBuilder &b, const LaneValue &condition, const LaneValue &x,
                       const LaneValue &y) {
  if (!condition.isUniform() || x.value->getType()->isFloatingPointTy())
    return std::nullopt;
  if (isLinear(x) && isLinear(y) && (x.isRamp() || y.isRamp())) {
    auto stride = [&](const LaneValue &v) {
      return v.isRamp() ? v.stride
                        : llvm::ConstantInt::get((x.isRamp() ? x : y).stride->getType(), 0);
    };
    return LaneValue::ramp(b.CreateSelect(condition.value, x.value, y.value),
                           b.CreateSelect(condition.value, stride(x), stride(y)));
  }
  if (x.isPrefix() && y.isPrefix())
    return LaneValue::prefix(b.CreateSelect(condition.value, x.value, y.value));
  return std::nullopt;
}

} // namespace

LaneValue addLanes(CodeBuilder &b, const LaneValue &x, const LaneValue &y) {
  if (x.isUniform() && y.isUniform())
    return LaneValue::uniform(b.CreateAdd(x.value, y.value));
  return LaneValue::ramp(b.CreateAdd(x.value, y.value), b.CreateAdd(strideOr0(x), strideOr0(y)));
}

LaneValue scaleLanes(CodeBuilder &b, const LaneValue &x, Value *factor) {
  if (x.isUniform())
    return LaneValue::uniform(b.CreateMul(x.value, factor));
  return LaneValue::ramp(b.CreateMul(x.value, factor), b.CreateMul(x.stride, factor));
}

Folded intersectMasks(CodeBuilder &b, const LaneValue &x, const LaneValue &y) {
  if (x.isAlwaysTrue())
    return y;
  if (y.isAlwaysTrue())
    return x;
  if (x.isPrefix() && y.isPrefix())
    return LaneValue::prefix(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x.value, y.value));
  if (y.isPrefix() && x.isUniform())
    return intersectMasks(b, y, x);
  if (x.isPrefix() && y.isUniform())
    return LaneValue::prefix(b.CreateSelect(y.value, x.value, b.getInt64(0)));
  return std::nullopt;
}

static Folded foldOne(CodeBuilder &b, mlir::Operation *op, Lanes in, LaneUse use) {
  return llvm::TypeSwitch<mlir::Operation *, Folded>(op)
      .Case<arith::AddIOp>([&](auto) -> Folded {
        return isLinear(in[0]) && isLinear(in[1]) ? Folded(addLanes(b, in[0], in[1])) : Folded();
      })
      .Case<arith::SubIOp>([&](auto) { return subtract(b, in[0], in[1]); })
      .Case<arith::MulIOp>([&](auto) { return multiplyLanes(b, in[0], in[1]); })
      .Case<arith::ShLIOp>([&](auto) { return shiftLeft(b, in[0], in[1]); })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp, arith::TruncIOp>(
          [&](auto) { return extend(b, op, in[0], use); })
      .Case<arith::CmpIOp>([&](auto cmp) { return compare(b, cmp, in[0], in[1], use); })
      .Case<arith::AndIOp>([&](auto) { return intersectMasks(b, in[0], in[1]); })
      .Case<arith::OrIOp>([&](auto) { return uniteMasks(b, in[0], in[1]); })
      .Case<arith::SelectOp>([&](auto) { return chooseUniformly(b, in[0], in[1], in[2]); })
      .Case<tt::AddPtrOp>([&](auto add) { return addPointer(b, add, in[0], in[1]); })
      .Case<tt::BitcastOp>([&](auto) -> Folded {
        return in[0].isRamp() && in[0].value->getType()->isPointerTy() ? Folded(in[0]) : Folded();
      })
      .Default([](auto) { return Folded(); });
}

Folded foldLanes(CodeBuilder &b, mlir::Operation *op, Lanes in, LaneUse use) {
  if (in.empty() || llvm::all_of(in, [](const LaneValue &v) { return v.isUniform(); }) ||
      llvm::any_of(in, [](const LaneValue &v) { return v.isOpaque(); }))
    return std::nullopt;
  Folded result = foldOne(b, op, in, use);
  if (result)
    for (const LaneValue &v : in)
      result->sure = both(b, result->sure, v.sure);
  return result;
}

} // namespace pellucid::codegen
