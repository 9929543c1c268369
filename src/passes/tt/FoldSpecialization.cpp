// SPDX-License-Identifier: Apache-2.0
#include "passes/tt/Passes.h"
#include "tt/TtOps.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::tt {

#define GEN_PASS_DEF_FOLDSPECIALIZATION
#include "passes/tt/Passes.h.inc"

namespace {

/// The number that `op` divides `argument` by to get a remainder, whose sign does not matter here;
/// 0 if it does not.
int64_t remainderDivisor(Operation *op, Value argument) {
  APInt right;
  if (op->getNumOperands() != 2 || op->getOperand(0) != argument ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&right)))
    return 0;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return right.getSExtValue();
  bool lowBits = isa<arith::AndIOp>(op) && (right + 1).isPowerOf2();
  return lowBits ? right.getZExtValue() + 1 : 0;
}

struct FoldSpecializationPass : impl::FoldSpecializationBase<FoldSpecializationPass> {
  void runOnOperation() override {
    for (FuncOp function : getOperation().getOps<FuncOp>()) {
      if (function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        foldConstant(function, argument);
        foldRemainders(function, argument);
      }
    }
  }

  void foldConstant(FuncOp function, BlockArgument argument) {
    auto value = function.getArgAttrOfType<TypedAttr>(argument.getArgNumber(), "pellucid.constant");
    if (!value || value.getType() != argument.getType())
      return;
    OpBuilder builder(function.getBody());
    argument.replaceAllUsesWith(arith::ConstantOp::create(builder, argument.getLoc(), value));
  }

  void foldRemainders(FuncOp function, BlockArgument argument) {
    auto divisibility =
        function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tt.divisibility");
    if (!divisibility || !isa<IntegerType>(argument.getType()))
      return;
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      int64_t divisor = remainderDivisor(user, argument);
      if (divisor <= 0 || divisibility.getInt() % divisor != 0)
        continue;
      OpBuilder builder(user);
      auto zero = cast<TypedAttr>(builder.getZeroAttr(argument.getType()));
      user->getResult(0).replaceAllUsesWith(
          arith::ConstantOp::create(builder, user->getLoc(), zero));
      user->erase();
    }
  }
};

} // namespace

} // namespace pellucid::tt
