// SPDX-License-Identifier: Apache-2.0
// A loop over a group of so many, cut off where all of them end, runs as a whole or not at all if
// groups divide them:
//
//   first = pid * 4                              if first < 32:
//   for i in range(first, min(first + 4, 32))      for j in range(0, 4): i = first + j
//
// Rounds that are known are written side by side, and all their loads are under way at once.
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/TtGpu.h"
#include "tt/AxisInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pellucid::ttgpu {

#define GEN_PASS_DEF_COUNTROUNDS
#include "codegen/gpu/Passes.h.inc"

namespace {

/// More would only fill registers.
constexpr int64_t mostRounds = 8;

std::optional<int64_t> knownNumber(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

struct Group {
  int64_t size; ///< from the lower bound on
  Value end;    ///< of all groups
};

/// What the loop goes through, where it is a group or nothing.
std::optional<Group> groupOf(scf::ForOp loop, const tt::AxisAnalysis &axes) {
  auto least = loop.getUpperBound().getDefiningOp<arith::MinSIOp>();
  auto step = knownNumber(loop.getStep());
  if (!least || !step || *step < 1 || loop.getUnsignedCmp())
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    auto sum = least->getOperand(side).getDefiningOp<arith::AddIOp>();
    Value end = least->getOperand(1 - side);
    if (!sum || !llvm::is_contained(sum->getOperands(), loop.getLowerBound()))
      continue;
    bool isFirst = sum.getLhs() == loop.getLowerBound();
    auto size = knownNumber(isFirst ? sum.getRhs() : sum.getLhs());
    auto divides = [&](Value value) {
      if (auto constant = knownNumber(value))
        return *constant % *size == 0;
      return axes.of(value).divisibilityOfAll() % *size == 0;
    };
    if (size && *size > 0 && *size % *step == 0 && *size / *step <= mostRounds &&
        divides(loop.getLowerBound()) && divides(end))
      return Group{*size, end};
  }
  return std::nullopt;
}

void count(scf::ForOp loop, const Group &group) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value first = loop.getLowerBound();
  Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, first, group.end);
  auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), isThere, /*withElse=*/true);
  loop.replaceAllUsesWith(branch.getResults());
  if (loop.getNumResults() != 0) {
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, loop.getInitArgs());
    b.setInsertionPointToEnd(branch.thenBlock());
    auto yield = scf::YieldOp::create(b, loc, loop.getResults());
    loop->moveBefore(yield);
  } else {
    loop->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
  }
  b.setInsertionPoint(loop);
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(first.getType(), value));
  };
  loop.setLowerBound(number(0));
  loop.setUpperBound(number(group.size));
  b.setInsertionPointToStart(loop.getBody());
  Value place = loop.getInductionVar();
  auto index = arith::AddIOp::create(b, loc, first, place);
  place.replaceAllUsesExcept(index, index);
  loop->setAttr(fewRoundsName, b.getUnitAttr());
}

struct CountRounds : impl::CountRoundsBase<CountRounds> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      SmallVector<std::pair<scf::ForOp, Group>> groups;
      tt::AxisAnalysis axes(function);
      function.walk([&](scf::ForOp loop) {
        bool isShort = !loop.getBody()
                            ->walk([](Operation *op) {
                              return isa<tt::DotOp, LoopLikeOpInterface>(op)
                                         ? WalkResult::interrupt()
                                         : WalkResult::advance();
                            })
                            .wasInterrupted();
        if (auto group = isShort ? groupOf(loop, axes) : std::nullopt)
          groups.emplace_back(loop, *group);
      });
      for (auto &[loop, group] : groups)
        count(loop, group);
    }
  }
};

} // namespace
} // namespace pellucid::ttgpu
