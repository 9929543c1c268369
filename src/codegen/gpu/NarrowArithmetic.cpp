// SPDX-License-Identifier: Apache-2.0
// trunc(ext(x) * ext(y))  =>  x * y, of f16 or bf16: the graph's kernels compute in f32 and round
// what they make, and devices have instructions for pairs of 16-bit floats. f32 has more than twice
// the digits of either format, so both ways round to the same bits; below the normal numbers sums
// and products that are not exact in f32 are far below half of the least bf16.
#include "codegen/gpu/Passes.h"

#include "codegen/common/CodeBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_NARROWARITHMETIC
#include "codegen/gpu/Passes.h.inc"

namespace {

bool isHalf(Type type) {
  Type element = codegen::elementTypeOf(type);
  return element.isF16() || element.isBF16();
}

/// The tile of `narrow` that `wide` is, if it is one: widened, or a number that both types have.
Value asNarrow(OpBuilder &b, Value wide, RankedTensorType narrow) {
  if (auto extended = wide.getDefiningOp<arith::ExtFOp>())
    return extended.getIn().getType() == narrow ? extended.getIn() : Value();
  SplatElementsAttr splat;
  if (!matchPattern(wide, m_Constant(&splat)))
    return {};
  APFloat number = splat.getSplatValue<APFloat>();
  bool loses = false;
  number.convert(cast<FloatType>(narrow.getElementType()).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &loses);
  if (loses || number.isNaN())
    return {};
  return arith::ConstantOp::create(b, wide.getLoc(), DenseElementsAttr::get(narrow, number));
}

void narrow(arith::TruncFOp rounded) {
  auto type = dyn_cast<RankedTensorType>(rounded.getType());
  Operation *wide = rounded.getIn().getDefiningOp();
  if (!type || !isHalf(type) || !wide || !wide->hasOneUse() ||
      !codegen::elementTypeOf(rounded.getIn().getType()).isF32() ||
      !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp>(wide))
    return;
  OpBuilder b(rounded);
  Value left = asNarrow(b, wide->getOperand(0), type);
  Value right = left ? asNarrow(b, wide->getOperand(1), type) : Value();
  if (!right)
    return;
  OperationState state(wide->getLoc(), wide->getName(), {left, right}, {type}, wide->getAttrs());
  rounded.replaceAllUsesWith(b.create(state)->getResult(0));
  rounded.erase();
  Operation *sources[] = {wide->getOperand(0).getDefiningOp(), wide->getOperand(1).getDefiningOp()};
  wide->erase();
  if (sources[0] == sources[1])
    sources[1] = nullptr;
  for (Operation *source : sources)
    if (source && isa<arith::ExtFOp, arith::ConstantOp>(source) && source->use_empty())
      source->erase();
}

struct NarrowArithmeticPass : impl::NarrowArithmeticBase<NarrowArithmeticPass> {
  void runOnOperation() override {
    SmallVector<arith::TruncFOp> rounded;
    getOperation().walk([&](arith::TruncFOp op) { rounded.push_back(op); });
    for (arith::TruncFOp op : rounded)
      narrow(op);
  }
};

} // namespace

} // namespace pellucid::ttgpu
