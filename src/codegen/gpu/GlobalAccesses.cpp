// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/GlobalAccesses.h"

#include "codegen/gpu/TtGpu.h"
#include "tt/OffsetAnalysis.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pellucid::ttgpu {

/// What `value` may be, one step back; empty where it is a root.
static SmallVector<Value> sourcesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (argument == loop.getInductionVar())
        return {};
      return {loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()};
    }
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getAfterBody())
        return {loop.getConditionOp().getArgs()[number]};
      return {loop.getInits()[number], loop.getYieldOp().getOperand(number)};
    }
    return {};
  }
  auto number = cast<OpResult>(value).getResultNumber();
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(value.getDefiningOp())
      .Case<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp,
            tt::TransOp, tt::BitcastOp, ConvertLayoutOp>(
          [](Operation *op) { return SmallVector<Value>{op->getOperand(0)}; })
      .Case<arith::SelectOp>([](auto select) {
        return SmallVector<Value>{select.getTrueValue(), select.getFalseValue()};
      })
      .Case<scf::IfOp>([&](auto branch) {
        return SmallVector<Value>{branch.thenYield().getOperand(number),
                                  branch.elseYield().getOperand(number)};
      })
      .Case<scf::ForOp>([&](auto loop) {
        return SmallVector<Value>{loop.getInitArgs()[number], loop.getYieldedValues()[number]};
      })
      .Case<scf::WhileOp>(
          [&](auto loop) { return SmallVector<Value>{loop.getConditionOp().getArgs()[number]}; })
      .Default([](Operation *) { return SmallVector<Value>(); });
}

llvm::SetVector<Value> pointerRoots(Value pointer) {
  llvm::SetVector<Value> seen, roots;
  seen.insert(pointer);
  for (size_t next = 0; next < seen.size(); ++next) {
    SmallVector<Value> sources = sourcesOf(seen[next]);
    if (sources.empty())
      roots.insert(seen[next]);
    seen.insert(sources.begin(), sources.end());
  }
  return roots;
}

/// Arguments of the kernel, each of which is memory of its own.
static bool isArgument(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp());
}

/// No two threads hold the same element.
static bool isSpread(Value pointer) {
  std::optional<codegen::Layout> layout = layoutOf(pointer);
  return layout && llvm::none_of(layout->lanes, codegen::isZero) &&
         llvm::none_of(layout->warps, codegen::isZero);
}

static bool shareRoots(const llvm::SetVector<Value> &roots, const llvm::SetVector<Value> &others) {
  return llvm::any_of(roots, [&](Value root) {
    return llvm::any_of(others, [&](Value another) {
      return root == another || !isArgument(root) || !isArgument(another);
    });
  });
}

bool mayShareMemory(Value pointer, Value other) {
  return shareRoots(pointerRoots(pointer), pointerRoots(other));
}

const AccessOrder::Facts &AccessOrder::factsOf(Value pointer) {
  auto [place, isNew] = known.try_emplace(pointer.getAsOpaquePointer());
  if (isNew)
    place->second = {pointerRoots(pointer), tt::pointerForm(pointer), isSpread(pointer)};
  return place->second;
}

// Equal offsets in equal layouts are of the same thread, if one alone holds an element; of those
// that hold one together, the same one stores it.
bool AccessOrder::meet(Access access, Access other, bool ofOtherRound) {
  if (!access.isStore && !other.isStore)
    return false;
  const Facts &facts = factsOf(access.pointer), &others = factsOf(other.pointer);
  if (!shareRoots(facts.roots, others.roots))
    return false;
  bool isSame = facts.form && others.form && facts.form->base == others.form->base &&
                access.pointer.getType() == other.pointer.getType() &&
                facts.form->offset == others.form->offset;
  bool isOfOneThread = facts.isSpread || (access.isStore && other.isStore);
  return ofOtherRound || !isSame || !isOfOneThread;
}

} // namespace pellucid::ttgpu
