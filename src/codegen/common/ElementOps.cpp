// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/ElementOps.h"

#include "codegen/common/BFloat16Grade.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/common/IntegerDivision.h"
#include "codegen/common/Libdevice.h"
#include "codegen/common/VectorMath.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Intrinsics.h"

#include <cmath>

namespace pellucid::codegen {

using llvm::Value;
using Values = llvm::ArrayRef<Value *>;
namespace arith = mlir::arith;

namespace {

using Emitter = Value *(*)(CodeBuilder &, mlir::Operation *, Values);

mlir::Type operandElement(mlir::Operation *op, unsigned index = 0) {
  return elementTypeOf(op->getOperand(index).getType());
}
mlir::Type resultElement(mlir::Operation *op) { return elementTypeOf(op->getResult(0).getType()); }

/// Widened for computing: f32 or f64.
Value *computed(CodeBuilder &b, mlir::Operation *op, Values in, unsigned index) {
  return widenFloat(b, in[index], operandElement(op, index));
}
Value *stored(CodeBuilder &b, mlir::Operation *op, Value *value) {
  return narrowFloat(b, value, resultElement(op));
}

template <llvm::Intrinsic::ID id>
Value *floatIntrinsic1(CodeBuilder &b, mlir::Operation *op, Values in) {
  return stored(b, op, b.CreateUnaryIntrinsic(id, computed(b, op, in, 0)));
}
template <llvm::Intrinsic::ID id>
Value *floatIntrinsic2(CodeBuilder &b, mlir::Operation *op, Values in) {
  return stored(b, op, b.CreateBinaryIntrinsic(id, computed(b, op, in, 0), computed(b, op, in, 1)));
}
template <llvm::Instruction::BinaryOps kind>
Value *floatBinary(CodeBuilder &b, mlir::Operation *op, Values in) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  llvm::FastMathFlags flags;
  flags.setAllowContract(b.contract && kind != llvm::Instruction::FDiv);
  b.setFastMathFlags(flags);
  return stored(b, op, b.CreateBinOp(kind, computed(b, op, in, 0), computed(b, op, in, 1)));
}

template <llvm::Instruction::BinaryOps kind>
Value *integerBinary(CodeBuilder &b, mlir::Operation *, Values in) {
  return b.CreateBinOp(kind, in[0], in[1]);
}
template <llvm::Instruction::BinaryOps kind>
Value *shift(CodeBuilder &b, mlir::Operation *, Values in) {
  return emitShift(b, kind, in[0], in[1]);
}
template <llvm::Intrinsic::ID id>
Value *integerIntrinsic2(CodeBuilder &b, mlir::Operation *, Values in) {
  return b.CreateBinaryIntrinsic(id, in[0], in[1]);
}
template <bool isSigned, bool remainder>
Value *divideOrRemainder(CodeBuilder &b, mlir::Operation *, Values in) {
  QuotientRemainder parts = emitDivision(b, in[0], in[1], isSigned);
  return remainder ? parts.remainder : parts.quotient;
}
template <bool isSigned> Value *ceilDivide(CodeBuilder &b, mlir::Operation *, Values in) {
  return emitCeilDivision(b, in[0], in[1], isSigned);
}
Value *floorDivide(CodeBuilder &b, mlir::Operation *, Values in) {
  return emitFloorDivision(b, in[0], in[1]);
}
Value *countBits(CodeBuilder &b, mlir::Operation *, Values in) {
  return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, in[0]);
}
template <llvm::Intrinsic::ID id> Value *countZeros(CodeBuilder &b, mlir::Operation *, Values in) {
  return b.CreateBinaryIntrinsic(id, in[0], b.getFalse());
}
Value *absoluteInteger(CodeBuilder &b, mlir::Operation *, Values in) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, in[0], b.getFalse());
}
Value *upperHalf(CodeBuilder &b, mlir::Operation *, Values in) {
  unsigned width = in[0]->getType()->getScalarSizeInBits();
  llvm::Type *wide = typeLike(in[0], b.getIntNTy(2 * width));
  Value *product = b.CreateMul(b.CreateZExt(in[0], wide), b.CreateZExt(in[1], wide));
  return b.CreateTrunc(b.CreateLShr(product, integerLike(product, width)), in[0]->getType());
}

Value *compareIntegers(CodeBuilder &b, mlir::Operation *op, Values in) {
  using P = arith::CmpIPredicate;
  using L = llvm::CmpInst::Predicate;
  static constexpr std::pair<P, L> table[] = {
      {P::eq, L::ICMP_EQ},   {P::ne, L::ICMP_NE},   {P::slt, L::ICMP_SLT}, {P::sle, L::ICMP_SLE},
      {P::sgt, L::ICMP_SGT}, {P::sge, L::ICMP_SGE}, {P::ult, L::ICMP_ULT}, {P::ule, L::ICMP_ULE},
      {P::ugt, L::ICMP_UGT}, {P::uge, L::ICMP_UGE}};
  P predicate = mlir::cast<arith::CmpIOp>(op).getPredicate();
  for (auto [ours, theirs] : table)
    if (ours == predicate)
      return b.CreateICmp(theirs, in[0], in[1]);
  llvm_unreachable("every predicate is in the table");
}

Value *compareFloats(CodeBuilder &b, mlir::Operation *op, Values in) {
  using P = arith::CmpFPredicate;
  using L = llvm::CmpInst::Predicate;
  static constexpr std::pair<P, L> table[] = {
      {P::OEQ, L::FCMP_OEQ}, {P::OGT, L::FCMP_OGT}, {P::OGE, L::FCMP_OGE}, {P::OLT, L::FCMP_OLT},
      {P::OLE, L::FCMP_OLE}, {P::ONE, L::FCMP_ONE}, {P::ORD, L::FCMP_ORD}, {P::UEQ, L::FCMP_UEQ},
      {P::UGT, L::FCMP_UGT}, {P::UGE, L::FCMP_UGE}, {P::ULT, L::FCMP_ULT}, {P::ULE, L::FCMP_ULE},
      {P::UNE, L::FCMP_UNE}, {P::UNO, L::FCMP_UNO}};
  P predicate = mlir::cast<arith::CmpFOp>(op).getPredicate();
  Value *x = computed(b, op, in, 0), *y = computed(b, op, in, 1);
  for (auto [ours, theirs] : table)
    if (ours == predicate)
      return b.CreateFCmp(theirs, x, y);
  return splatTo(b, b.getInt1(predicate == P::AlwaysTrue), laneCount(x));
}

Value *select(CodeBuilder &b, mlir::Operation *, Values in) {
  return b.CreateSelect(in[0], in[1], in[2]);
}
Value *negate(CodeBuilder &b, mlir::Operation *op, Values in) {
  return stored(b, op, b.CreateFNeg(computed(b, op, in, 0)));
}
Value *fusedMultiplyAdd(CodeBuilder &b, mlir::Operation *op, Values in) {
  Value *x = computed(b, op, in, 0);
  return stored(b, op,
                b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()},
                                  {x, computed(b, op, in, 1), computed(b, op, in, 2)}));
}
Value *convertFloat(CodeBuilder &b, mlir::Operation *op, Values in) {
  auto rounding = op->getAttrOfType<tt::RoundingModeAttr>("rounding");
  bool towardZero = rounding && rounding.getValue() == tt::RoundingMode::RTZ;
  return narrowFloat(b, computed(b, op, in, 0), resultElement(op), towardZero,
                     op->hasAttr(shortNanAttr));
}

template <bool isSigned> Value *integerToFloat(CodeBuilder &b, mlir::Operation *op, Values in) {
  mlir::Type result = resultElement(op);
  bool throughDouble =
      result.isF64() || (isNarrowFloat(result) && in[0]->getType()->getScalarSizeInBits() > 16);
  llvm::Type *type = typeLike(in[0], throughDouble ? b.getDoubleTy() : b.getFloatTy());
  return stored(b, op, isSigned ? b.CreateSIToFP(in[0], type) : b.CreateUIToFP(in[0], type));
}

// The intrinsic of vectors becomes scalar code on x86-64.
Value *saturate(CodeBuilder &b, Value *x, llvm::Type *type, bool isSigned) {
  unsigned bits = type->getScalarSizeInBits();
  double low = isSigned ? -std::ldexp(1.0, int(bits) - 1) : 0.0,
         high = std::ldexp(1.0, int(bits) - (isSigned ? 1 : 0));
  Value *isAbove = b.CreateFCmpOGE(x, floatLike(x, high)),
        *isThere = b.CreateAnd(b.CreateFCmpOGE(x, floatLike(x, low)),
                               b.CreateFCmpOLT(x, floatLike(x, high)));
  Value *safe = b.CreateSelect(isThere, x, floatLike(x, 0.0)), *result;
  if (bits < 32)
    result = b.CreateTrunc(b.CreateFPToSI(safe, typeLike(x, b.i32())), type);
  else
    result = isSigned ? b.CreateFPToSI(safe, type) : b.CreateFPToUI(safe, type);
  llvm::APInt most =
      isSigned ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  result = b.CreateSelect(isAbove, llvm::ConstantInt::get(type, most), result);
  if (!isSigned)
    return result;
  Value *isBelow = b.CreateFCmpOLT(x, floatLike(x, low));
  return b.CreateSelect(isBelow, llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits)),
                        result);
}

// Out of range saturates and NaN gives 0, as on the devices the language comes from.
template <llvm::Intrinsic::ID id>
Value *floatToInteger(CodeBuilder &b, mlir::Operation *op, Values in) {
  Value *x = computed(b, op, in, 0);
  llvm::Type *type = typeLike(x, registerType(b.getContext(), resultElement(op)));
  if (x->getType()->isVectorTy() && !type->getScalarType()->isIntegerTy(1))
    return saturate(b, x, type, id == llvm::Intrinsic::fptosi_sat);
  return b.CreateIntrinsic(id, {type, x->getType()}, {x});
}

template <llvm::Instruction::CastOps kind>
Value *castInteger(CodeBuilder &b, mlir::Operation *op, Values in) {
  return b.CreateCast(kind, in[0],
                      typeLike(in[0], registerType(b.getContext(), resultElement(op))));
}
Value *castIndex(CodeBuilder &b, mlir::Operation *op, Values in) {
  return b.CreateSExtOrTrunc(in[0],
                             typeLike(in[0], registerType(b.getContext(), resultElement(op))));
}
Value *bitcast(CodeBuilder &b, mlir::Operation *op, Values in) {
  return b.CreateBitCast(in[0], typeLike(in[0], registerType(b.getContext(), resultElement(op))));
}

// A NaN bound is ignored.
Value *clamp(CodeBuilder &b, mlir::Operation *op, Values in) {
  Value *x = computed(b, op, in, 0);
  Value *result = b.CreateBinaryIntrinsic(llvm::Intrinsic::maximumnum, x, computed(b, op, in, 1));
  result = b.CreateBinaryIntrinsic(llvm::Intrinsic::minimumnum, result, computed(b, op, in, 2));
  if (mlir::cast<tt::ClampFOp>(op).getPropagateNan() == tt::PropagateNan::ALL)
    result = b.CreateSelect(b.CreateFCmpUNO(x, x), x, result);
  return stored(b, op, result);
}
Value *addPointer(CodeBuilder &b, mlir::Operation *op, Values in) {
  auto pointee = mlir::cast<tt::PointerType>(resultElement(op)).getPointeeType();
  return b.CreateGEP(memoryType(b.getContext(), pointee), in[0],
                     b.CreateSExt(in[1], typeLike(in[1], b.i64())));
}

using B = llvm::Instruction;
namespace I = llvm::Intrinsic;

const llvm::StringMap<Emitter> &emitters() {
  static const llvm::StringMap<Emitter> table = {
      {"arith.addf", floatBinary<B::FAdd>},
      {"arith.subf", floatBinary<B::FSub>},
      {"arith.mulf", floatBinary<B::FMul>},
      {"arith.divf", floatBinary<B::FDiv>},
      {"arith.remf", nullptr},
      {"arith.negf", negate},
      {"arith.maximumf", floatIntrinsic2<I::maximum>},
      {"arith.minimumf", floatIntrinsic2<I::minimum>},
      {"arith.maxnumf", floatIntrinsic2<I::maximumnum>},
      {"arith.minnumf", floatIntrinsic2<I::minimumnum>},
      {"arith.addi", integerBinary<B::Add>},
      {"arith.subi", integerBinary<B::Sub>},
      {"arith.muli", integerBinary<B::Mul>},
      {"arith.andi", integerBinary<B::And>},
      {"arith.ori", integerBinary<B::Or>},
      {"arith.xori", integerBinary<B::Xor>},
      {"arith.shli", shift<B::Shl>},
      {"arith.shrsi", shift<B::AShr>},
      {"arith.shrui", shift<B::LShr>},
      {"arith.divsi", divideOrRemainder<true, false>},
      {"arith.divui", divideOrRemainder<false, false>},
      {"arith.remsi", divideOrRemainder<true, true>},
      {"arith.remui", divideOrRemainder<false, true>},
      {"arith.floordivsi", floorDivide},
      {"arith.ceildivsi", ceilDivide<true>},
      {"arith.ceildivui", ceilDivide<false>},
      {"arith.maxsi", integerIntrinsic2<I::smax>},
      {"arith.minsi", integerIntrinsic2<I::smin>},
      {"arith.maxui", integerIntrinsic2<I::umax>},
      {"arith.minui", integerIntrinsic2<I::umin>},
      {"arith.cmpi", compareIntegers},
      {"arith.cmpf", compareFloats},
      {"arith.select", select},
      {"arith.extf", convertFloat},
      {"arith.truncf", convertFloat},
      {"arith.sitofp", integerToFloat<true>},
      {"arith.uitofp", integerToFloat<false>},
      {"arith.fptosi", floatToInteger<I::fptosi_sat>},
      {"arith.fptoui", floatToInteger<I::fptoui_sat>},
      {"arith.extsi", castInteger<B::SExt>},
      {"arith.extui", castInteger<B::ZExt>},
      {"arith.trunci", castInteger<B::Trunc>},
      {"arith.index_cast", castIndex},
      {"arith.bitcast", bitcast},
      {"math.absi", absoluteInteger},
      {"math.ctpop", countBits},
      {"math.ctlz", countZeros<I::ctlz>},
      {"math.cttz", countZeros<I::cttz>},
      {"math.fma", fusedMultiplyAdd},
      {"tt.addptr", addPointer},
      {"tt.bitcast", bitcast},
      {"tt.int_to_ptr", castInteger<B::IntToPtr>},
      {"tt.ptr_to_int", castInteger<B::PtrToInt>},
      {"tt.fp_to_fp", convertFloat},
      {"tt.clampf", clamp},
      {"tt.mulhiui", upperHalf},
      {"tt.precise_divf", floatBinary<B::FDiv>},
      {"tt.approx_divf", floatBinary<B::FDiv>},
      {"tt.precise_sqrt", floatIntrinsic1<I::sqrt>},
  };
  return table;
}

/// The math dialect spells a few functions otherwise than C.
llvm::StringRef mathName(mlir::Operation *op) {
  llvm::StringRef name = op->getName().getStringRef();
  if (name == "arith.remf")
    return "fmod";
  if (!name.consume_front("math."))
    return "";
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("powf", "pow")
      .Case("absf", "fabs")
      .Case("roundeven", "rint")
      .Default(name);
}

Value *emitMathCall(CodeBuilder &b, mlir::Operation *op, Values in) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  llvm::StringRef name = mathName(op);
  Value *result;
  if (in.size() == 1) {
    UnaryMath function = op->hasAttr(bfloat16GradeAttr) ? bfloat16GradeMath(name) : unaryMath(name);
    result = function(b, computed(b, op, in, 0));
  } else {
    result = binaryMath(name)(b, computed(b, op, in, 0), computed(b, op, in, 1));
  }
  return result->getType()->isFPOrFPVectorTy() ? stored(b, op, result) : result;
}

bool isMathCall(mlir::Operation *op) {
  llvm::StringRef name = mathName(op);
  if (name.empty())
    return false;
  return op->getNumOperands() == 1 ? unaryMath(name) != nullptr
                                   : op->getNumOperands() == 2 && binaryMath(name) != nullptr;
}

bool isWideMultiply(mlir::Operation *op) {
  return mlir::isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op);
}

llvm::SmallVector<Value *, 2> emitWideMultiply(CodeBuilder &b, mlir::Operation *op, Values in) {
  unsigned width = in[0]->getType()->getScalarSizeInBits();
  llvm::Type *wide = typeLike(in[0], b.getIntNTy(2 * width));
  bool isSigned = mlir::isa<arith::MulSIExtendedOp>(op);
  auto extend = [&](Value *v) { return isSigned ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide); };
  Value *product = b.CreateMul(extend(in[0]), extend(in[1]));
  Value *high = b.CreateLShr(product, integerLike(product, width));
  return {b.CreateTrunc(product, in[0]->getType()), b.CreateTrunc(high, in[0]->getType())};
}

llvm::SmallVector<Value *, 2> emitAddWithCarry(CodeBuilder &b, Values in) {
  Value *sum = b.CreateAdd(in[0], in[1]);
  return {sum, b.CreateICmpULT(sum, in[0])};
}

} // namespace

bool isElementOp(mlir::Operation *op) {
  if (auto found = emitters().find(op->getName().getStringRef());
      found != emitters().end() && found->second)
    return true;
  if (auto call = mlir::dyn_cast<tt::ExternElementwiseOp>(op))
    return isLibdeviceFunction(call.getSymbol());
  return isMathCall(op) || isWideMultiply(op) || mlir::isa<arith::AddUIExtendedOp>(op);
}

bool isExpensiveElementOp(mlir::Operation *op) {
  llvm::StringRef name = mathName(op);
  if (!name.empty() && name != "fabs" && name != "floor" && name != "ceil" && name != "rint")
    return true;
  return mlir::isa<arith::DivFOp, tt::PreciseDivFOp, tt::ApproxDivFOp, tt::PreciseSqrtOp,
                   tt::ExternElementwiseOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
                   arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
}

llvm::SmallVector<Value *, 2> emitElementOp(CodeBuilder &b, mlir::Operation *op, Values operands) {
  if (auto found = emitters().find(op->getName().getStringRef());
      found != emitters().end() && found->second)
    return {found->second(b, op, operands)};
  if (isWideMultiply(op))
    return emitWideMultiply(b, op, operands);
  if (mlir::isa<arith::AddUIExtendedOp>(op))
    return emitAddWithCarry(b, operands);
  if (auto call = mlir::dyn_cast<tt::ExternElementwiseOp>(op))
    return {emitLibdeviceCall(b, call.getSymbol(), operands)};
  return {emitMathCall(b, op, operands)};
}

} // namespace pellucid::codegen
