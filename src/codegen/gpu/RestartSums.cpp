// SPDX-License-Identifier: Apache-2.0
// A loop that goes through the rounds of several results ends each by
//
//   next = select(ends, 0, tl.dot(a, b, sum))
//
// which takes the sums out of the units in every round. The choice moves to the front of the next
// one, where it is part of the product's instruction:
//
//   tl.dot(a, b, select(begins, 0, sum))
#include "codegen/gpu/MatrixUnits.h"
#include "codegen/gpu/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_RESTARTSUMS
#include "codegen/gpu/Passes.h.inc"

namespace {

/// What a round yields: zero where `ends` is true, else the product that started from `sum`.
struct Restart {
  unsigned number;
  arith::SelectOp choice;
  tt::DotOp dot;
};

std::optional<Restart> restartIn(scf::ForOp loop) {
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    auto choice = yielded.getDefiningOp<arith::SelectOp>();
    if (!choice || !choice->hasOneUse() || !choice.getCondition().getType().isInteger(1) ||
        !matchPattern(choice.getTrueValue(), m_AnyZeroFloat()))
      continue;
    auto dot = choice.getFalseValue().getDefiningOp<tt::DotOp>();
    BlockArgument sum = loop.getRegionIterArg(number);
    if (dot && dot->getBlock() == loop.getBody() && unitOf(dot) == MatrixUnit::Warpgroup &&
        dot.getC() == sum && sum.hasOneUse())
      return Restart{static_cast<unsigned>(number), choice, dot};
  }
  return std::nullopt;
}

void moveToFront(scf::ForOp loop, Restart restart) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Location loc = restart.dot.getLoc();
  Value no = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(false));
  auto [number, choice, dot] = restart;
  Value ends = choice.getCondition();
  auto *zero = choice.getTrueValue().getDefiningOp();
  auto made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, {no}, false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return SmallVector<Value>{ends}; }));
  BlockArgument begins = made.getRegionIterArgs().back();
  rewriter.setInsertionPoint(dot);
  Value start = rewriter.clone(*zero)->getResult(0);
  dot.getCMutable().assign(
      arith::SelectOp::create(rewriter, loc, begins, start, made.getRegionIterArg(number)));
  rewriter.replaceOp(choice, dot.getD());
  Value last = made.getResult(number);
  if (last.use_empty())
    return;
  rewriter.setInsertionPointAfter(made);
  start = rewriter.clone(*start.getDefiningOp())->getResult(0);
  auto whole = arith::SelectOp::create(rewriter, loc, made.getResults().back(), start, last);
  rewriter.replaceAllUsesExcept(last, whole, whole);
}

struct RestartSumsPass : impl::RestartSumsBase<RestartSumsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (auto restart = restartIn(loop))
        moveToFront(loop, *restart);
  }
};

} // namespace

} // namespace pellucid::ttgpu
