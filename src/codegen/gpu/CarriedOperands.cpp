// SPDX-License-Identifier: Apache-2.0
// Weights that a loop reads one round ahead of their product:
//
//   w = next                                  # what the round before has read
//   next = tl.load(...)                       # staged: lies in shared memory
//   sum = tl.dot(a, unpack(w), sum)
//
// As the load's own layout is, they would go through shared memory once more to get to the threads
// that unpack them for the product.
#include "codegen/common/ElementOps.h"
#include "codegen/gpu/LayoutChoice.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pellucid::ttgpu {

using codegen::Layout;

std::optional<Layout> layoutOfSource(Operation *op, Value operand, const Layout &layout) {
  using Source = std::optional<Layout>;
  ArrayRef<int64_t> shape = mlir::cast<RankedTensorType>(operand.getType()).getShape();
  return llvm::TypeSwitch<Operation *, Source>(op)
      .Case<tt::ExpandDimsOp>(
          [&](auto expand) -> Source { return layout.throughExpandDims(expand.getAxis()); })
      .Case<tt::BroadcastOp>([&](auto) -> Source { return layout.throughBroadcast(shape); })
      .Case<tt::TransOp>(
          [&](auto trans) -> Source { return layout.throughTranspose(trans.getOrder()); })
      .Case<tt::ReshapeOp>([&](auto) -> Source { return layout.throughReshape(shape); })
      .Case<tt::JoinOp>([&](auto) -> Source { return layout.throughExpandDims(layout.rank() - 1); })
      .Case<tt::SplitOp>([&](auto) -> Source { return layout.throughSplit(); })
      .Case<tt::SplatOp>([&](auto) -> Source { return std::nullopt; })
      .Default([&](Operation *) -> Source { return layout; });
}

/// A product by matrix units reads it, from registers or by way of shared memory.
static bool isOperandOfUnits(Value tile) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    auto dot = dyn_cast<tt::DotOp>(user);
    return isa<ShareOp>(user) || (dot && tile != dot.getC() && unitOf(dot) != MatrixUnit::None);
  });
}

/// The operand that is computed from `value`, and the uses on the way to it.
Value LayoutChoice::findOperand(Value value, llvm::SmallVectorImpl<OpOperand *> &way,
                                llvm::SmallPtrSetImpl<Operation *> &seen) const {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (!isComputedAtUse(user) || !seen.insert(user).second)
      continue;
    way.push_back(&use);
    for (Value made : user->getResults()) {
      if (isOperandOfUnits(made))
        return made;
      if (Value found = findOperand(made, way, seen))
        return found;
    }
    way.pop_back();
  }
  return {};
}

std::optional<Layout> LayoutChoice::ofCarriedOperand(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (asksForOperand || !loop || argument == loop.getInductionVar() ||
      !isReadFromShared(loop.getTiedLoopYieldedValue(argument)->get()))
    return std::nullopt;
  SmallVector<OpOperand *> way;
  llvm::SmallPtrSet<Operation *, 32> seen;
  Value operand = findOperand(value, way, seen);
  if (!operand)
    return std::nullopt;
  asksForOperand = true;
  llvm::scope_exit done([&] { asksForOperand = false; });
  Layout layout = asItLies(operand);
  for (OpOperand *use : llvm::reverse(way)) {
    std::optional<Layout> source = layoutOfSource(use->getOwner(), use->get(), layout);
    if (!source)
      return std::nullopt;
    layout = *source;
  }
  return layout.withoutRepeats();
}

} // namespace pellucid::ttgpu
