// SPDX-License-Identifier: Apache-2.0
// acc + tl.dot(a, b)  =>  tl.dot(a, b, acc), as Triton does: the units add to what they are given,
// and a second set of sums would take as many registers again.
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/Passes.h"

#include "codegen/common/CodeBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_ACCUMULATEPRODUCTS
#include "codegen/gpu/Passes.h.inc"

namespace {

/// A product that starts from zero and that nothing but `sum` reads.
tt::DotOp startingFromZero(Value value, Operation *sum) {
  auto dot = value.getDefiningOp<tt::DotOp>();
  if (!dot || !dot->hasOneUse() || dot->getBlock() != sum->getBlock())
    return {};
  bool isZero = matchPattern(dot.getC(), m_AnyZeroFloat()) || matchPattern(dot.getC(), m_Zero());
  return isZero ? dot : tt::DotOp();
}

/// Sums that are rounded to fewer bits keep their own rounding.
bool addsWhatUnitsAdd(Operation *op) {
  if (!isa<arith::AddFOp, arith::AddIOp>(op))
    return false;
  Type element = codegen::elementTypeOf(op->getResult(0).getType());
  return element.isF32() || element.isF64() || element.isInteger(32);
}

void accumulate(Operation *sum) {
  for (unsigned i : {1, 0}) {
    tt::DotOp dot = startingFromZero(sum->getOperand(i), sum);
    if (!dot || unitOf(dot) == MatrixUnit::None)
      continue;
    // What it adds to may be computed behind the product.
    dot->moveBefore(sum);
    dot.getCMutable().assign(sum->getOperand(1 - i));
    sum->getResult(0).replaceAllUsesWith(dot.getD());
    sum->erase();
    return;
  }
}

void keepWide(arith::ExtFOp widened) {
  tt::DotOp dot = startingFromZero(widened.getIn(), widened);
  auto wide = dyn_cast<RankedTensorType>(widened.getType());
  if (!dot || !wide || !wide.getElementType().isF32() || unitOf(dot) == MatrixUnit::None)
    return;
  OpBuilder b(dot);
  dot.getCMutable().assign(
      arith::ConstantOp::create(b, dot.getLoc(), cast<TypedAttr>(b.getZeroAttr(wide))));
  dot.getD().setType(wide);
  widened.getResult().replaceAllUsesWith(dot.getD());
  widened.erase();
}

struct AccumulateProductsPass : impl::AccumulateProductsBase<AccumulateProductsPass> {
  void runOnOperation() override {
    SmallVector<arith::ExtFOp> widened;
    getOperation().walk([&](arith::ExtFOp op) { widened.push_back(op); });
    llvm::for_each(widened, keepWide);
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      if (addsWhatUnitsAdd(op))
        sums.push_back(op);
    });
    for (Operation *sum : sums)
      accumulate(sum);
  }
};

} // namespace

} // namespace pellucid::ttgpu
