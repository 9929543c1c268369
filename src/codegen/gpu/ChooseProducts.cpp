// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/CodeBuilder.h"
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/Passes.h"
#include "tt/AxisInfo.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_CHOOSEPRODUCTS
#include "codegen/gpu/Passes.h.inc"

namespace {

/// The type of 16-bit floats that a tile is widened from; null for other tiles.
Type widenedType(Value tile) {
  if (auto trans = tile.getDefiningOp<tt::TransOp>())
    return widenedType(trans.getSrc());
  auto widened = tile.getDefiningOp<arith::ExtFOp>();
  Type narrow = widened ? codegen::elementTypeOf(widened.getIn().getType()) : Type();
  return narrow && isa<Float16Type, BFloat16Type>(narrow) ? narrow : Type();
}
Value narrowed(Value tile, OpBuilder &b) {
  auto trans = tile.getDefiningOp<tt::TransOp>();
  if (!trans)
    return tile.getDefiningOp<arith::ExtFOp>().getIn();
  Value source = narrowed(trans.getSrc(), b);
  auto type = cast<RankedTensorType>(trans.getType()).clone(widenedType(tile));
  return tt::TransOp::create(b, trans.getLoc(), type, source, trans.getOrder());
}

/// A product of widened 16-bit floats is the one of those themselves: f32 holds the product of any
/// two, and tf32 all of their digits. It takes half the shared memory and instructions.
void multiplyAsNarrow(tt::DotOp dot) {
  Type type = multipliesTruncated(dot) ? widenedType(dot.getA()) : Type();
  constexpr int64_t leastDepth = 16; // of an instruction for 16-bit floats
  bool isDeep = cast<RankedTensorType>(dot.getA().getType()).getShape().back() >= leastDepth;
  if (!type || type != widenedType(dot.getB()) || !isDeep)
    return;
  OpBuilder b(dot);
  dot.getAMutable().assign(narrowed(dot.getA(), b));
  dot.getBMutable().assign(narrowed(dot.getB(), b));
}

/// Neighbours along the inner dim are neighbours in memory, so that bytes are copied to where a
/// warpgroup reads them. Else they are turned round in registers, which mma.sync waits for less.
/// What f32 is computed in registers can be put down along either dim.
bool liesAlongK(Value operand, unsigned innerDim, const tt::AxisAnalysis &axes) {
  if (auto trans = operand.getDefiningOp<tt::TransOp>())
    return liesAlongK(trans.getSrc(), trans.getOrder()[innerDim], axes);
  auto load = operand.getDefiningOp<tt::LoadOp>();
  if (!load && operand.getDefiningOp() && codegen::elementTypeOf(operand.getType()).isF32())
    return onlyComputes(operand.getDefiningOp());
  return load && axes.of(load.getPtr()).contiguousDim() == innerDim;
}

MatrixUnit unitFor(tt::DotOp dot, TargetAttr target, const tt::AxisAnalysis &axes) {
  MatrixUnit unit = bestUnit(dot, target);
  bool copies = liesAlongK(dot.getA(), 1, axes) && liesAlongK(dot.getB(), 0, axes);
  bool wantsCopies = multipliesBytes(dot) || multipliesTruncated(dot);
  return unit == MatrixUnit::Warpgroup && wantsCopies && !copies ? MatrixUnit::Warp : unit;
}

/// fp8 that its own unit does not multiply is multiplied as f16, which has all of its numbers.
void widenFloat8(tt::DotOp dot, TargetAttr target) {
  OpBuilder b(dot);
  Value operands[] = {dot.getA(), dot.getB()};
  for (Value &operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType()).clone(b.getF16Type());
    operand = tt::FpToFpOp::create(b, dot.getLoc(), type, operand, tt::RoundingModeAttr());
  }
  dot.getAMutable().assign(operands[0]);
  dot.getBMutable().assign(operands[1]);
  dot->setAttr(unitName, MatrixUnitAttr::get(dot.getContext(), bestUnit(dot, target)));
}

struct ChooseProductsPass : impl::ChooseProductsBase<ChooseProductsPass> {
  using ChooseProductsBase::ChooseProductsBase;

  void runOnOperation() override {
    auto target = TargetAttr::get(&getContext(), sm, warps, stages, mostStages, generationOnly);
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (tensorCopies && generationOnly && sm == 90)
        function->setAttr(copiesTensorsName, UnitAttr::get(&getContext()));
      function->setAttr(targetName, target);
      if (function.isExternal())
        continue;
      function.walk(multiplyAsNarrow);
      tt::AxisAnalysis axes(function);
      function.walk([&](tt::DotOp dot) {
        MatrixUnit unit = unitFor(dot, target, axes);
        dot->setAttr(unitName, MatrixUnitAttr::get(&getContext(), unit));
        bool isAsItIs = unit == MatrixUnit::Warpgroup && suitsFloat8Units(dot);
        if (multipliesFloat8(dot) && unit != MatrixUnit::None && !isAsItIs)
          widenFloat8(dot, target);
      });
    }
  }
};

} // namespace

} // namespace pellucid::ttgpu
