// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/Libdevice.h"

#include "codegen/common/LibdeviceFunctions.h"
#include "codegen/common/VectorMath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace pellucid::codegen {

using llvm::Value;

static constexpr llvm::StringLiteral prefix = "__nv_";

// `__nv_expf` -> "exp", `__nv_fast_expf` -> "exp", `__nv_exp` -> "exp".
static llvm::StringRef plainName(llvm::StringRef symbol) {
  if (!symbol.consume_front("__nv_"))
    return "";
  symbol.consume_front("fast_");
  if (unaryMath(symbol) || binaryMath(symbol))
    return symbol;
  llvm::StringRef single = symbol.drop_back(symbol.ends_with("f") ? 1 : 0);
  if (unaryMath(single) || binaryMath(single) || single == "fma")
    return single;
  return symbol;
}

static bool isFloatTest(llvm::StringRef name) {
  return name == "isnan" || name == "isinf" || name == "isfinite" || name == "isnand" ||
         name == "isinfd" || name == "finite" || name == "isfinited" || name == "signbit";
}

static llvm::StringRef floatTest(llvm::StringRef symbol) {
  symbol.consume_front("__nv_");
  for (llvm::StringRef name : {symbol, symbol.drop_back(1)})
    if (isFloatTest(name))
      return name;
  return "";
}

/// The rounding of `__nv_float2int_rd`, `__nv_llrintf` and their like as a function of floats;
/// empty for what is no conversion to an integer.
static llvm::StringRef roundingToInteger(llvm::StringRef symbol) {
  symbol.consume_front("__nv_");
  if (symbol == "llrint" || symbol == "llrintf")
    return "rint";
  if (symbol == "llround" || symbol == "llroundf")
    return "round";
  bool converts = false;
  for (llvm::StringRef from : {"float2int_", "double2int_", "float2ll_", "double2ll_"})
    converts |= symbol.consume_front(from);
  return !converts        ? ""
         : symbol == "rn" ? "rint"
         : symbol == "rd" ? "floor"
         : symbol == "ru" ? "ceil"
         : symbol == "rz" ? "trunc"
                          : "";
}

static bool isIntegerFunction(llvm::StringRef symbol) {
  return symbol == "__nv_abs" || symbol == "__nv_llabs" || symbol == "__nv_popc" ||
         symbol == "__nv_popcll" || symbol == "__nv_clz" || symbol == "__nv_clzll" ||
         symbol == "__nv_ffs" || symbol == "__nv_ffsll" || symbol == "__nv_brev" ||
         symbol == "__nv_brevll" || symbol == "__nv_min" || symbol == "__nv_max" ||
         symbol == "__nv_umin" || symbol == "__nv_umax";
}

/// A float to the power of an int32, which a double holds exactly.
static bool isIntegerPower(llvm::StringRef symbol) {
  return symbol == "__nv_powif" || symbol == "__nv_powi";
}

bool isLibdeviceFunction(llvm::StringRef symbol) {
  if (isIntegerPower(symbol))
    return true;
  if (isIntegerFunction(symbol) || !floatTest(symbol).empty() || !roundingToInteger(symbol).empty())
    return true;
  llvm::StringRef name = plainName(symbol);
  return unaryMath(name) || binaryMath(name) || name == "fma" ||
         libdeviceFunction(symbol.substr(prefix.size()));
}

static Value *emitIntegerFunction(CodeBuilder &b, llvm::StringRef symbol,
                                  llvm::ArrayRef<Value *> in) {
  using namespace llvm::Intrinsic;
  llvm::Type *i32 = typeLike(in[0], b.i32());
  if (symbol == "__nv_abs" || symbol == "__nv_llabs")
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, in[0], b.getFalse());
  if (symbol.starts_with("__nv_popc"))
    return b.CreateTrunc(b.CreateUnaryIntrinsic(ctpop, in[0]), i32);
  if (symbol.starts_with("__nv_clz"))
    return b.CreateTrunc(b.CreateBinaryIntrinsic(ctlz, in[0], b.getFalse()), i32);
  if (symbol.starts_with("__nv_brev"))
    return b.CreateUnaryIntrinsic(bitreverse, in[0]);
  if (symbol.starts_with("__nv_ffs")) {
    Value *zero = llvm::Constant::getNullValue(in[0]->getType());
    Value *place = b.CreateAdd(b.CreateBinaryIntrinsic(cttz, in[0], b.getFalse()),
                               llvm::ConstantInt::get(in[0]->getType(), 1));
    return b.CreateTrunc(b.CreateSelect(b.CreateICmpEQ(in[0], zero), zero, place), i32);
  }
  ID id = symbol == "__nv_min"    ? smin
          : symbol == "__nv_max"  ? smax
          : symbol == "__nv_umin" ? umin
                                  : umax;
  return b.CreateBinaryIntrinsic(id, in[0], in[1]);
}

static Value *emitIntegerPower(CodeBuilder &b, llvm::ArrayRef<Value *> in) {
  llvm::Type *wide = typeLike(in[0], b.getDoubleTy());
  Value *power = binaryMath("pow")(b, b.CreateFPExt(in[0], wide), b.CreateSIToFP(in[1], wide));
  return b.CreateFPTrunc(power, in[0]->getType());
}

static Value *emitFloatTest(CodeBuilder &b, llvm::StringRef name, Value *x) {
  Value *absolute = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value *infinity = llvm::ConstantFP::getInfinity(x->getType());
  Value *result;
  if (name.starts_with("isnan"))
    result = b.CreateFCmpUNO(x, x);
  else if (name.starts_with("isinf"))
    result = b.CreateFCmpOEQ(absolute, infinity);
  else if (name == "signbit")
    result = b.CreateICmpSLT(
        b.CreateBitCast(x, typeLike(x, b.getIntNTy(x->getType()->getScalarSizeInBits()))),
        llvm::Constant::getNullValue(
            typeLike(x, b.getIntNTy(x->getType()->getScalarSizeInBits()))));
  else
    result = b.CreateFCmpONE(absolute, infinity);
  return b.CreateZExt(result, typeLike(x, b.i32()));
}

/// A device rounds and converts by one instruction, which keeps to the type's range by itself.
static Value *emitDeviceConversion(CodeBuilder &b, llvm::StringRef rounding, bool isShort,
                                   Value *x) {
  using namespace llvm::Intrinsic;
  constexpr llvm::StringLiteral roundings[] = {"rint", "floor", "ceil", "trunc"};
  constexpr ID ofFloat[][4] = {{nvvm_f2ll_rn, nvvm_f2ll_rm, nvvm_f2ll_rp, nvvm_f2ll_rz},
                               {nvvm_f2i_rn, nvvm_f2i_rm, nvvm_f2i_rp, nvvm_f2i_rz}};
  constexpr ID ofDouble[][4] = {{nvvm_d2ll_rn, nvvm_d2ll_rm, nvvm_d2ll_rp, nvvm_d2ll_rz},
                                {nvvm_d2i_rn, nvvm_d2i_rm, nvvm_d2i_rp, nvvm_d2i_rz}};
  const auto *found = llvm::find(roundings, rounding);
  if (found == std::end(roundings))
    return nullptr;
  auto place = found - std::begin(roundings);
  ID id = (x->getType()->isFloatTy() ? ofFloat : ofDouble)[isShort][place];
  return b.CreateIntrinsic(id, {}, {x});
}

/// Out of range gives the nearest integer there is, and NaN 0 (on a device, of 64 bits, the least).
static Value *emitConversion(CodeBuilder &b, llvm::StringRef symbol, Value *x) {
  if (b.GetInsertBlock()->getModule()->getTargetTriple().isNVPTX())
    if (Value *converted =
            emitDeviceConversion(b, roundingToInteger(symbol), symbol.contains("2int_"), x))
      return converted;
  Value *rounded = unaryMath(roundingToInteger(symbol))(b, x);
  bool isShort = symbol.contains("2int_");
  llvm::Type *type = typeLike(x, isShort ? b.i32() : b.i64());
  return b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {type, x->getType()}, {rounded});
}

Value *emitLibdeviceCall(CodeBuilder &b, llvm::StringRef symbol, llvm::ArrayRef<Value *> in) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  if (isIntegerFunction(symbol))
    return emitIntegerFunction(b, symbol, in);
  if (isIntegerPower(symbol))
    return emitIntegerPower(b, in);
  if (llvm::StringRef name = floatTest(symbol); !name.empty())
    return emitFloatTest(b, name, in[0]);
  if (!roundingToInteger(symbol).empty())
    return emitConversion(b, symbol, in[0]);
  llvm::StringRef name = plainName(symbol);
  if (LibdeviceFunction function = libdeviceFunction(symbol.substr(prefix.size())))
    return function(b, in);
  if (name == "fma")
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {in[0]->getType()}, in);
  if (in.size() == 1)
    return unaryMath(name)(b, in[0]);
  return binaryMath(name)(b, in[0], in[1]);
}

} // namespace pellucid::codegen
