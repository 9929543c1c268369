// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/Float8Math.h"

#include "codegen/common/FloatFormats.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;
namespace arith = mlir::arith;

static bool isUnitFloat8(mlir::Type type) {
  return mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type);
}

bool hasFloat8Instruction(mlir::Operation *op, unsigned sm) {
  constexpr unsigned firstWithFloat8 = 90;
  if (sm < firstWithFloat8 || !mlir::isa<tt::FpToFpOp, arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  auto convert = mlir::dyn_cast<tt::FpToFpOp>(op);
  if (convert && convert.getRounding() && *convert.getRounding() != tt::RoundingMode::RTNE)
    return false;
  mlir::Type from = elementTypeOf(op->getOperand(0).getType());
  mlir::Type to = elementTypeOf(op->getResult(0).getType());
  bool widens = isUnitFloat8(from) && (to.isF32() || to.isF16() || to.isBF16());
  bool narrows = isUnitFloat8(to) && (from.isF32() || from.isF16() || from.isBF16());
  return widens || narrows;
}

std::array<Value *, 2> emitFloat8Pair(CodeBuilder &b, mlir::Operation *op,
                                      std::array<Value *, 2> operands) {
  mlir::Type from = elementTypeOf(op->getOperand(0).getType());
  mlir::Type to = elementTypeOf(op->getResult(0).getType());
  if (isUnitFloat8(to)) {
    I::ID narrow =
        mlir::isa<mlir::Float8E5M2Type>(to) ? I::nvvm_ff_to_e5m2x2_rn : I::nvvm_ff_to_e4m3x2_rn;
    // The first argument becomes the upper half.
    Value *pair = b.CreateIntrinsic(
        narrow, {}, {widenFloat(b, operands[1], from), widenFloat(b, operands[0], from)});
    return {b.CreateTrunc(pair, b.i8()), b.CreateTrunc(b.CreateLShr(pair, 8), b.i8())};
  }
  I::ID widen = mlir::isa<mlir::Float8E5M2Type>(from) ? I::nvvm_e5m2x2_to_f16x2_rn
                                                      : I::nvvm_e4m3x2_to_f16x2_rn;
  Value *pair = b.CreateOr(b.CreateZExt(operands[0], b.getInt16Ty()),
                           b.CreateShl(b.CreateZExt(operands[1], b.getInt16Ty()), 8));
  Value *halves = b.CreateIntrinsic(widen, {}, {pair});
  std::array<Value *, 2> results;
  for (unsigned i : {0U, 1U}) {
    Value *half = b.CreateExtractElement(halves, i);
    // f16, f32 and bf16 have all numbers of either format.
    results[i] = to.isF16() ? b.CreateBitCast(half, b.getInt16Ty())
                            : narrowFloat(b, b.CreateFPExt(half, b.getFloatTy()), to);
  }
  return results;
}

} // namespace pellucid::codegen
