// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/MatrixUnits.h"

#include "codegen/common/ElementOps.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::ttgpu {

static bool isUnitFloat8(Type element) { return isa<Float8E4M3FNType, Float8E5M2Type>(element); }

bool multipliesFloat8(tt::DotOp dot) {
  return isUnitFloat8(tileOf(dot.getA()).getElementType()) &&
         isUnitFloat8(tileOf(dot.getB()).getElementType()) &&
         tileOf(dot.getD()).getElementType().isF32();
}

// wgmma rounds sums of fp8 to some 14 bits: so many of k may be added up like that.
bool suitsFloat8Units(tt::DotOp dot) {
  int64_t depth = tileOf(dot.getA()).getDimSize(1);
  return depth >= 2 * stepK && static_cast<int64_t>(dot.getMaxNumImpreciseAcc()) > depth;
}

bool multipliesBytes(tt::DotOp dot) {
  return (tileOf(dot.getA()).getElementType().isInteger(8) &&
          tileOf(dot.getB()).getElementType().isInteger(8) &&
          tileOf(dot.getD()).getElementType().isInteger(32)) ||
         multipliesFloat8(dot);
}

bool multipliesTruncated(tt::DotOp dot) {
  return dot.getInputPrecision() == tt::InputPrecision::TF32 &&
         tileOf(dot.getA()).getElementType().isF32() &&
         tileOf(dot.getB()).getElementType().isF32() && tileOf(dot.getD()).getElementType().isF32();
}

bool multipliesDoubles(tt::DotOp dot) {
  return tileOf(dot.getA()).getElementType().isF64() &&
         tileOf(dot.getB()).getElementType().isF64() && tileOf(dot.getD()).getElementType().isF64();
}

bool liesAlongInner(tt::DotOp dot) {
  return multipliesBytes(dot) || (multipliesTruncated(dot) && unitOf(dot) == MatrixUnit::Warpgroup);
}

/// Enough sums in each thread for vectors of both operands.
static bool suitsLanes(tt::DotOp dot, TargetAttr target) {
  RankedTensorType a = tileOf(dot.getA()), d = tileOf(dot.getD());
  constexpr int64_t leastExtent = 16, leastDepth = 8, leastSums = 8, mostSums = 128;
  int64_t threads = 32 * target.getWarps();
  return a.getRank() == 2 && a.getElementType().isF32() &&
         tileOf(dot.getB()).getElementType().isF32() && d.getElementType().isF32() &&
         d.getDimSize(0) >= leastExtent && d.getDimSize(1) >= leastExtent &&
         a.getDimSize(1) >= leastDepth && d.getNumElements() >= leastSums * threads &&
         d.getNumElements() <= mostSums * threads;
}

MatrixUnit bestUnit(tt::DotOp dot, TargetAttr target) {
  RankedTensorType a = tileOf(dot.getA()), b = tileOf(dot.getB()), d = tileOf(dot.getD());
  Type element = a.getElementType();
  constexpr unsigned warpsOfGroup = 4, rowsOfGroup = 64;
  bool byGroups = target.getGenerationOnly() && target.getSm() == 90 &&
                  target.getWarps() >= warpsOfGroup && d.getDimSize(0) >= rowsOfGroup;
  MatrixUnit made = byGroups ? MatrixUnit::Warpgroup : MatrixUnit::Warp;
  bool isLarge = a.getRank() == 2 && d.getDimSize(0) >= 16 && d.getDimSize(1) >= 8;
  if (multipliesFloat8(dot)) // as it is, or widened to f16
    return isLarge && a.getDimSize(1) >= stepK ? made : MatrixUnit::None;
  if (multipliesBytes(dot))
    return isLarge && a.getDimSize(1) >= 2 * stepK ? made : MatrixUnit::None;
  if (multipliesTruncated(dot) && isLarge && a.getDimSize(1) >= stepK / 2)
    return made;
  // Instructions of 16 rows came with sm_90; those of 8 would not pay for another way to lie.
  if (multipliesDoubles(dot))
    return isLarge && a.getDimSize(1) >= stepK / 2 && target.getSm() >= 90 ? MatrixUnit::Warp
                                                                           : MatrixUnit::None;
  if (suitsLanes(dot, target))
    return MatrixUnit::Lane;
  bool fits = a.getRank() == 2 && element == b.getElementType() &&
              (element.isF16() || element.isBF16()) && isa<FloatType>(d.getElementType()) &&
              !d.getElementType().isF64() && d.getDimSize(0) >= 16 && d.getDimSize(1) >= 8 &&
              a.getDimSize(1) >= stepK;
  return fits ? made : MatrixUnit::None;
}

arith::SelectOp restartOf(tt::DotOp dot) {
  auto choice = dot.getC().getDefiningOp<arith::SelectOp>();
  bool restarts = choice && tileOf(dot.getD()).getElementType().isF32() &&
                  choice.getCondition().getType().isInteger(1) &&
                  matchPattern(choice.getTrueValue(), m_AnyZeroFloat());
  return restarts ? choice : arith::SelectOp();
}

Value withoutTranspositions(Value operand) {
  while (auto trans = operand.getDefiningOp<tt::TransOp>())
    operand = trans.getSrc();
  return operand;
}

bool onlyComputes(Operation *op) {
  if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op))
    return assembly.getPure();
  bool computes = codegen::isElementOp(op) ||
                  isa<tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp,
                      tt::ReshapeOp, tt::JoinOp, tt::SplitOp, arith::ConstantOp, ub::PoisonOp>(op);
  return computes && op->getNumRegions() == 0;
}

} // namespace pellucid::ttgpu
