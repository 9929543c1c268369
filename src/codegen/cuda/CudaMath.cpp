// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/CudaMath.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/common/ElementOps.h"
#include "codegen/common/FloatFormats.h"
#include "codegen/common/VectorMath.h"
#include "codegen/common/VectorMathDouble.h"
#include "codegen/cuda/HalfMath.h"
#include "codegen/gpu/TtGpu.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

namespace pellucid::codegen {

using llvm::Value;
namespace arith = mlir::arith;
namespace I = llvm::Intrinsic;

static constexpr float log2E = 0x1.715476p+0f, log2ELow = 0x1.4ae0c0p-26f, ln2 = 0x1.62e430p-1f;

static Value *number(CodeBuilder &b, float value) {
  return llvm::ConstantFP::get(b.getFloatTy(), value);
}
/// Everywhere, with results below 2^-126 as well: ptxas scales around the instruction.
static Value *exp2Approximate(CodeBuilder &b, Value *x) {
  return b.CreateIntrinsic(I::nvvm_ex2_approx, {b.getFloatTy()}, {x});
}
/// One instruction; 0 where that is below 2^-126.
static Value *exp2Flushed(CodeBuilder &b, Value *x) {
  return b.CreateIntrinsic(I::nvvm_ex2_approx_ftz, {b.getFloatTy()}, {x});
}
static Value *fma(CodeBuilder &b, Value *x, Value *y, Value *z) {
  return b.CreateIntrinsic(I::fma, {x->getType()}, {x, y, z});
}

// 2^n * 2^f, where n is x * log2(e) rounded down, kept between -126 and 126, and f what is left, in
// two parts: the error of the product would grow with x. The number that n is added to has it in
// its lowest bits, and behind them the exponent of 2^n. Infinities saturate n, and f is one.
static Value *expAccurate(CodeBuilder &b, Value *x) {
  constexpr float span = 252, carrier = 12582913; // 3 * 2^22 + 1
  Value *place = b.CreateIntrinsic(I::nvvm_fma_rn_sat_f, {},
                                   {x, number(b, 0x1.715476p+0f / span), number(b, 0.5f)});
  Value *carried =
      b.CreateIntrinsic(I::nvvm_fma_rm_f, {}, {place, number(b, span), number(b, carrier)});
  Value *whole = b.CreateFAdd(carried, number(b, -(carrier + span / 2)));
  Value *rest = fma(b, x, number(b, log2E), b.CreateFNeg(whole));
  rest = fma(b, x, number(b, log2ELow), rest);
  Value *power = b.CreateShl(b.CreateBitCast(carried, b.i32()), 23);
  return b.CreateFMul(b.CreateBitCast(power, b.getFloatTy()), exp2Flushed(b, rest));
}

static bool isSum(mlir::Operation *op) {
  auto reduce = mlir::dyn_cast<tt::ReduceOp>(op);
  return reduce && reduce.getSrcs().size() == 1 && reduce.getCombineOp().hasOneBlock() &&
         llvm::all_of(reduce.getCombineOp().front().without_terminator(),
                      llvm::IsaPred<arith::AddFOp>);
}

/// A loop carries it on, or what a condition chooses of it and another.
static bool isCarriedOn(mlir::Operation *op, unsigned depth = 0) {
  constexpr unsigned deepest = 4;
  return depth < deepest && !op->use_empty() &&
         llvm::all_of(
             op->getUsers(),
             [&](mlir::Operation *user) {
               if (auto select = mlir::dyn_cast<arith::SelectOp>(user))
                 return select.getCondition() != op->getResult(0) && isCarriedOn(user, depth + 1);
               return mlir::isa<mlir::scf::YieldOp>(user) &&
                      mlir::isa<mlir::scf::ForOp>(user->getParentOp());
             });
}
/// A sum that a loop carries on.
static bool isRunningSum(mlir::Operation *op) {
  return mlir::isa<arith::AddFOp>(op) && isCarriedOn(op);
}
static bool addsUp(mlir::Operation *op) { return isSum(op) || isRunningSum(op); }

/// Behind what spreads or moves elements.
static mlir::Value spreadFrom(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!mlir::isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, ttgpu::ConvertLayoutOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The maximum of the elements of `tile`, or of each of them and others.
static bool isMaximumOf(mlir::Value value, mlir::Value tile, unsigned depth = 0) {
  constexpr unsigned deepest = 4;
  mlir::Operation *op = spreadFrom(value).getDefiningOp();
  if (depth != 0 && spreadFrom(value) == tile)
    return true;
  if (!op || depth == deepest)
    return false;
  if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op))
    return reduce.getSrcs().size() == 1 && spreadFrom(reduce.getSrcs()[0]) == tile &&
           reduce.getCombineOp().hasOneBlock() &&
           llvm::all_of(reduce.getCombineOp().front().without_terminator(),
                        llvm::IsaPred<arith::MaxNumFOp, arith::MaximumFOp>);
  return mlir::isa<arith::MaxNumFOp, arith::MaximumFOp>(op) &&
         (isMaximumOf(op->getOperand(0), tile, depth + 1) ||
          isMaximumOf(op->getOperand(1), tile, depth + 1));
}

/// The exponent is the distance below the largest one, and the weights are added up or end in 16
/// bits: an error that grows with the distance shrinks faster with the weight.
static bool isWeightBelowMaximum(mlir::Operation *exponential) {
  auto distance = spreadFrom(exponential->getOperand(0)).getDefiningOp<arith::SubFOp>();
  return distance && isMaximumOf(distance.getRhs(), spreadFrom(distance.getLhs())) &&
         feedsNarrowFloatsOnly(exponential->getResult(0), addsUp);
}

// The square of the root: neither is below 2^-126 where the result is not 0.
static Value *emitExp(CodeBuilder &b, mlir::Operation *op, Value *x) {
  if (!feedsNarrowFloatsOnly(op->getResult(0)) && !isWeightBelowMaximum(op))
    return expAccurate(b, x);
  Value *root = exp2Flushed(b, b.CreateFMul(x, number(b, log2E / 2)));
  return b.CreateFMul(root, root);
}

/// Only added up, or rounded to be an operand of a product: what is below 2^-126 counts for
/// nothing.
static bool isWeight(mlir::Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
    if (isSum(user))
      return true;
    if (auto dot = mlir::dyn_cast<tt::DotOp>(user))
      return dot.getC() != value;
    bool passesOn =
        mlir::isa<arith::TruncFOp, tt::FpToFpOp, tt::TransOp, ttgpu::ConvertLayoutOp>(user);
    return passesOn && isWeight(user->getResult(0));
  });
}
static Value *emitExp2(CodeBuilder &b, mlir::Operation *op, Value *x) {
  return isWeight(op->getResult(0)) ? exp2Flushed(b, x) : exp2Approximate(b, x);
}
static Value *emitRsqrt(CodeBuilder &b, mlir::Operation *, Value *x) {
  return b.CreateIntrinsic(I::nvvm_rsqrt_approx_f, {}, {x});
}

// tanh(a) = 1 - 2 / (exp(2a) + 1) for large a, where errors of exp and of the quotient shrink; an
// odd polynomial for small ones.
static Value *emitTanh(CodeBuilder &b, mlir::Operation *, Value *x) {
  Value *a = b.CreateUnaryIntrinsic(I::fabs, x), *square = b.CreateFMul(x, x);
  Value *p = number(b, 0x1.174d4cp-9f);
  for (float coefficient :
       {-0x1.0b8d48p-7f, 0x1.6377eap-6f, -0x1.b9ecf2p-5f, 0x1.11105ep-3f, -0x1.555554p-2f})
    p = fma(b, p, square, number(b, coefficient));
  Value *small = fma(b, b.CreateFMul(square, x), p, x);
  Value *e = exp2Flushed(b, b.CreateFMul(a, number(b, 2 * log2E)));
  Value *inverse = b.CreateIntrinsic(I::nvvm_rcp_approx_ftz_f, {}, {b.CreateFAdd(e, number(b, 1))});
  Value *large = fma(b, inverse, number(b, -2), number(b, 1));
  Value *isSmall = b.CreateFCmpOLT(a, number(b, 0.625));
  return b.CreateSelect(isSmall, small, b.CreateBinaryIntrinsic(I::copysign, large, x));
}

/// Only ever added to a constant of at least one half, as in gelu: the absolute error counts alone.
static bool isBesideOne(mlir::Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
    llvm::APFloat constant(0.0f);
    if (!mlir::isa<arith::AddFOp>(user) || user->getOperand(0) == user->getOperand(1))
      return false;
    mlir::Value other = user->getOperand(user->getOperand(0) == value ? 1 : 0);
    if (auto splat = other.getDefiningOp<tt::SplatOp>())
      other = splat.getSrc();
    return mlir::matchPattern(other, mlir::m_ConstantFloat(&constant)) &&
           abs(constant).convertToDouble() >= 0.5;
  });
}

// erf(a) = 1 - 2^(-a q(a)), within 1.3 * 2^-24 of what is exact; from 4 on it is 1.
static Value *emitErfBesideOne(CodeBuilder &b, mlir::Operation *, Value *x) {
  Value *a = b.CreateUnaryIntrinsic(I::fabs, x);
  a = b.CreateBinaryIntrinsic(I::minimum, a, number(b, 4));
  Value *q = number(b, -0x1.856456p-17f);
  for (float coefficient : {0x1.40c9fep-13f, -0x1.bcb7fcp-11f, 0x1.2a2916p-9f, -0x1.63b16ep-14f,
                            -0x1.c63ce2p-6f, 0x1.2fbc0ep-3f, 0x1.d63e26p-1f, 0x1.a0be88p+0f})
    q = fma(b, q, a, number(b, coefficient));
  Value *rest = exp2Flushed(b, b.CreateFNeg(b.CreateFMul(a, q)));
  return b.CreateBinaryIntrinsic(I::copysign, b.CreateFSub(number(b, 1), rest), x);
}

/// sin (odd = 0) or cos (odd = 1). Quarter turns are taken off in f32 by multiply-adds, of which
/// the first is exact; what is larger takes the long way in f64, as few angles do.
static Value *emitSine(CodeBuilder &b, Value *x, unsigned odd) {
  constexpr float carrier = 0x1.8p+23f, largest = 0x1p+16f;
  Value *isLarge = b.CreateFCmpUGT(b.CreateUnaryIntrinsic(I::fabs, x), number(b, largest));
  Value *results[2];
  BranchEnds ends = emitBranches(b, isLarge, [&](unsigned which) {
    if (which == 0) {
      results[0] = unaryMath(odd ? "cos" : "sin")(b, x);
      return;
    }
    // The number that the turns are added to has them in its lowest bits.
    Value *carried = fma(b, x, number(b, 0x1.45f306p-1f), number(b, carrier));
    Value *turns = b.CreateFSub(carried, number(b, carrier)), *r = x;
    for (float part : {-0x1.921fb6p+0f, 0x1.777a5cp-25f, 0x1.ee59dap-50f})
      r = fma(b, turns, number(b, part), r);
    Value *quadrant = b.CreateAdd(b.CreateBitCast(carried, b.i32()), b.getInt32(odd));
    results[1] = sineOfTurned(b, r, quadrant);
    if (odd == 0) // keeps -0
      results[1] = b.CreateSelect(b.CreateFCmpOEQ(x, number(b, 0)), x, results[1]);
  });
  llvm::PHINode *either = b.CreatePHI(x->getType(), 2);
  for (unsigned which : {0, 1})
    either->addIncoming(results[which], ends[which]);
  return either;
}
static Value *emitSin(CodeBuilder &b, mlir::Operation *, Value *x) { return emitSine(b, x, 0); }
static Value *emitCos(CodeBuilder &b, mlir::Operation *, Value *x) { return emitSine(b, x, 1); }

/// One or a larger constant and what is never negative, as the divisor of a sigmoid.
static bool isOneOrMore(mlir::Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  for (unsigned i : {0, 1}) {
    llvm::APFloat constant(0.0f);
    mlir::Operation *other = sum->getOperand(1 - i).getDefiningOp();
    if (other && mlir::matchPattern(sum->getOperand(i), mlir::m_ConstantFloat(&constant)) &&
        constant.isFinite() && constant.convertToDouble() >= 1)
      return mlir::isa<mlir::math::ExpOp, mlir::math::Exp2Op, mlir::math::AbsFOp>(other);
  }
  return false;
}

// Of 16 bits: the inverse of a quarter is not below 2^-126 for any divisor, and needs no scaling.
static Value *divideByOneOrMore(CodeBuilder &b, Value *x, Value *y) {
  Value *quarter = number(b, 0.25f);
  Value *inverse = b.CreateIntrinsic(I::nvvm_rcp_approx_ftz_f, {}, {b.CreateFMul(y, quarter)});
  return b.CreateFMul(x, b.CreateFMul(inverse, quarter));
}

static bool isErf(mlir::Operation *op) {
  auto call = mlir::dyn_cast<tt::ExternElementwiseOp>(op);
  llvm::StringRef name = call ? call.getSymbol() : op->getName().getStringRef();
  return name == "math.erf" || name == "__nv_erff" || name == "__nv_erf";
}

/// Functions of one f32.
using Unary = Value *(*)(CodeBuilder &, mlir::Operation *, Value *);
static Unary unaryOnDevice(mlir::Operation *op) {
  static const llvm::StringMap<Unary> table = {
      {"math.exp", emitExp},   {"math.exp2", emitExp2},  {"math.rsqrt", emitRsqrt},
      {"math.tanh", emitTanh}, {"__nv_tanhf", emitTanh}, {"math.sin", emitSin},
      {"math.cos", emitCos},   {"__nv_sinf", emitSin},   {"__nv_cosf", emitCos},
  };
  auto call = mlir::dyn_cast<tt::ExternElementwiseOp>(op);
  llvm::StringRef name = call ? call.getSymbol() : op->getName().getStringRef();
  if (isErf(op))
    return isBesideOne(op->getResult(0)) && feedsNarrowFloatsOnly(op->getResult(0))
               ? emitErfBesideOne
               : nullptr;
  return table.lookup(name);
}

// What libdevice calls fast: the device's own approximations, results below 2^-126 flushed, as
// Triton has them.
static Value *fastLog2(CodeBuilder &b, Value *x) {
  return b.CreateIntrinsic(I::nvvm_lg2_approx_ftz_f, {}, {x});
}
static Value *fastQuotient(CodeBuilder &b, Value *x, Value *y) {
  return b.CreateIntrinsic(I::nvvm_div_approx_ftz_f, {}, {x, y});
}
static Value *emitFastFunction(CodeBuilder &b, llvm::StringRef name, llvm::ArrayRef<Value *> in) {
  constexpr float log2Of10 = 0x1.a934f0p+1f, log10Of2 = 0x1.344136p-2f;
  auto scaled = [&](Value *x, float by) { return b.CreateFMul(x, number(b, by)); };
  auto one = [&](I::ID id) { return b.CreateIntrinsic(id, {}, {in[0]}); };
  if (!name.consume_front("__nv_fast_"))
    return nullptr;
  if (name == "fdividef")
    return fastQuotient(b, in[0], in[1]);
  if (name == "expf")
    return exp2Flushed(b, scaled(in[0], log2E));
  if (name == "exp10f")
    return exp2Flushed(b, scaled(in[0], log2Of10));
  if (name == "log2f")
    return fastLog2(b, in[0]);
  if (name == "logf")
    return scaled(fastLog2(b, in[0]), ln2);
  if (name == "log10f")
    return scaled(fastLog2(b, in[0]), log10Of2);
  if (name == "powf")
    return exp2Flushed(b, b.CreateFMul(in[1], fastLog2(b, in[0])));
  if (name == "sinf")
    return one(I::nvvm_sin_approx_ftz_f);
  if (name == "cosf")
    return one(I::nvvm_cos_approx_ftz_f);
  if (name == "tanf")
    return fastQuotient(b, one(I::nvvm_sin_approx_ftz_f), one(I::nvvm_cos_approx_ftz_f));
  return nullptr;
}

/// f32 has all digits of the number, whatever it is.
static bool fitsSingle(CodeBuilder &b, Value *x, bool isSigned) {
  constexpr unsigned digits = 24;
  const llvm::DataLayout &layout = b.GetInsertBlock()->getModule()->getDataLayout();
  unsigned bits = x->getType()->getIntegerBitWidth();
  return isSigned ? llvm::ComputeNumSignBits(x, layout) + digits >= bits
                  : llvm::computeKnownBits(x, layout).countMinLeadingZeros() + digits >= bits;
}

// By f32, which another unit converts to four times as fast, where the number fits it. Else rounded
// once: f16 by an instruction of its own; f32 on the way to bf16 keeps in its lowest bit
// that something was cut off, which the rounding to bf16 then sees.
static Value *wideIntegerToNarrow(CodeBuilder &b, Value *x, mlir::Type element, bool isSigned) {
  if (fitsSingle(b, x, isSigned)) {
    Value *single =
        isSigned ? b.CreateSIToFP(x, b.getFloatTy()) : b.CreateUIToFP(x, b.getFloatTy());
    return narrowFloat(b, single, element);
  }
  if (element.isF16()) {
    Value *half = isSigned ? b.CreateSIToFP(x, b.getHalfTy()) : b.CreateUIToFP(x, b.getHalfTy());
    return b.CreateBitCast(half, b.getInt16Ty());
  }
  bool isLong = x->getType()->isIntegerTy(64);
  auto convert = [&](Value *value, I::ID ofInt, I::ID ofUnsigned, I::ID ofLong,
                     I::ID ofLongUnsigned) {
    I::ID id = isLong ? (isSigned ? ofLong : ofLongUnsigned) : (isSigned ? ofInt : ofUnsigned);
    return b.CreateIntrinsic(id, {}, {value});
  };
  Value *cut = convert(x, I::nvvm_i2f_rz, I::nvvm_ui2f_rz, I::nvvm_ll2f_rz, I::nvvm_ull2f_rz);
  Value *back = convert(cut, I::nvvm_f2i_rz, I::nvvm_f2ui_rz, I::nvvm_f2ll_rz, I::nvvm_f2ull_rz);
  Value *lost = b.CreateZExt(b.CreateICmpNE(back, x), b.i32());
  Value *odd = b.CreateOr(b.CreateBitCast(cut, b.i32()), lost);
  return narrowFloat(b, b.CreateBitCast(odd, b.getFloatTy()), element);
}

// One conversion, which saturates and makes 0 of NaN.
static Value *floatToByte(CodeBuilder &b, Value *x, bool isSigned) {
  auto *type = llvm::FunctionType::get(b.i32(), {b.getFloatTy()}, false);
  const char *text = isSigned ? "cvt.rzi.s8.f32 $0, $1;" : "cvt.rzi.u8.f32 $0, $1;";
  Value *wide = b.CreateCall(llvm::InlineAsm::get(type, text, "=r,f", false), {x});
  return b.CreateTrunc(wide, b.i8());
}

llvm::SmallVector<Value *, 2> emitCudaElementOp(CodeBuilder &b, mlir::Operation *op,
                                                llvm::ArrayRef<Value *> operands) {
  mlir::Type element = elementTypeOf(op->getResult(0).getType());
  bool inSingle = element.isF32() || isNarrowFloat(element);
  auto operand = [&](unsigned i) {
    return widenFloat(b, operands[i], elementTypeOf(op->getOperand(i).getType()));
  };
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  if (hasHalfInstruction(op))
    return {emitHalfInstruction(b, op, operands)};
  if (mlir::isa<arith::FPToSIOp, arith::FPToUIOp>(op) && element.isInteger(8) &&
      operand(0)->getType()->isFloatTy())
    return {floatToByte(b, operand(0), mlir::isa<arith::FPToSIOp>(op))};
  bool isWide = operands.size() == 1 && (operands[0]->getType()->isIntegerTy(32) ||
                                         operands[0]->getType()->isIntegerTy(64));
  if (mlir::isa<arith::SIToFPOp, arith::UIToFPOp>(op) && isWide &&
      (element.isF16() || element.isBF16()))
    return {wideIntegerToNarrow(b, operands[0], element, mlir::isa<arith::SIToFPOp>(op))};
  if (auto call = mlir::dyn_cast<tt::ExternElementwiseOp>(op))
    if (Value *fast = emitFastFunction(b, call.getSymbol(), operands))
      return {fast};
  if (Unary emit = inSingle ? unaryOnDevice(op) : nullptr)
    return {narrowFloat(b, emit(b, op, operand(0)), element)};
  if (element.isF64() && isErf(op))
    return {erfByExponential(b, operands[0], isBesideOne(op->getResult(0)))};
  if (inSingle && mlir::isa<arith::DivFOp, tt::ApproxDivFOp>(op)) {
    bool isShort = isOneOrMore(op->getOperand(1)) && feedsNarrowFloatsOnly(op->getResult(0));
    Value *quotient = isShort ? divideByOneOrMore(b, operand(0), operand(1))
                              : b.CreateIntrinsic(I::nvvm_div_full, {}, {operand(0), operand(1)});
    return {narrowFloat(b, quotient, element)};
  }
  return emitElementOp(b, op, operands);
}

static bool rounds(mlir::Operation *op) {
  return mlir::isa<arith::TruncFOp, tt::FpToFpOp>(op) &&
         isNarrowFloat(elementTypeOf(op->getResult(0).getType()));
}

static bool keepsRelativeError(mlir::Operation *op) {
  if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op))
    return reduce.getSrcs().size() == 1 && reduce.getCombineOp().hasOneBlock() &&
           llvm::all_of(reduce.getCombineOp().front().without_terminator(),
                        llvm::IsaPred<arith::AddFOp, arith::MaxNumFOp, arith::MaximumFOp>);
  return mlir::isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
                   arith::SelectOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp,
                   ttgpu::ConvertLayoutOp>(op);
}

bool feedsNarrowFloatsOnly(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> mayEnd) {
  constexpr unsigned mostVisited = 64;
  llvm::SmallVector<mlir::Value> open = {value};
  if (isNarrowFloat(elementTypeOf(value.getType())))
    return true;
  for (unsigned visited = 0; !open.empty(); ++visited) {
    mlir::Value at = open.pop_back_val();
    if (visited == mostVisited || at.use_empty())
      return false;
    for (mlir::Operation *user : at.getUsers()) {
      if (rounds(user) || (mayEnd && mayEnd(user)))
        continue;
      if (!keepsRelativeError(user))
        return false;
      open.push_back(user->getResult(0));
    }
  }
  return true;
}

} // namespace pellucid::codegen
