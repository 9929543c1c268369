// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Passes.h"
#include "tt/TtOps.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_LIFTCONTROLFLOW
#include "passes/tt/Passes.h.inc"

namespace {

struct TtTransformation : ControlFlowToSCFTransformation {
  /// A two-way switch becomes scf.if, which everything after understands.
  FailureOr<Operation *> createStructuredBranchRegionOp(OpBuilder &builder, Operation *branch,
                                                        TypeRange resultTypes,
                                                        MutableArrayRef<Region> regions) override {
    auto choice = dyn_cast<cf::SwitchOp>(branch);
    if (!choice || regions.size() != 2)
      return ControlFlowToSCFTransformation::createStructuredBranchRegionOp(builder, branch,
                                                                            resultTypes, regions);
    Location loc = choice.getLoc();
    auto known = cast<IntegerAttr>(choice.getCaseValues()->getValues<Attribute>()[0]);
    Value caseValue = arith::ConstantOp::create(builder, loc, known);
    Value equal =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, choice.getFlag(), caseValue);
    auto ifOp = scf::IfOp::create(builder, loc, resultTypes, equal, /*withElseRegion=*/true);
    // The default is the first successor of cf.switch.
    ifOp.getElseRegion().takeBody(regions[0]);
    ifOp.getThenRegion().takeBody(regions[1]);
    return ifOp.getOperation();
  }

  FailureOr<Operation *> createUnreachableTerminator(Location loc, OpBuilder &builder,
                                                     Region &region) override {
    auto function = dyn_cast<FuncOp>(region.getParentOp());
    if (!function)
      return failure();
    SmallVector<Value> values;
    for (Type type : function.getResultTypes())
      values.push_back(getUndefValue(loc, builder, type));
    return ReturnOp::create(builder, loc, values).getOperation();
  }
};

struct LiftControlFlowPass : impl::LiftControlFlowBase<LiftControlFlowPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (!isa<FuncOp, MapElementwiseOp>(op))
        return WalkResult::advance();
      for (Region &region : op->getRegions())
        if (failed(lift(op, region)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult lift(Operation *op, Region &region) {
    IRRewriter rewriter(&getContext());
    (void)eraseUnreachableBlocks(rewriter, region);
    if (region.empty() || region.hasOneBlock())
      return success();
    DominanceInfo dominance(op);
    TtTransformation transformation;
    if (failed(transformCFGToSCF(region, transformation, dominance)))
      return op->emitOpError()
             << "has branches between its blocks that no structured form is known for";
    return success();
  }
};

} // namespace

} // namespace pellucid::tt
