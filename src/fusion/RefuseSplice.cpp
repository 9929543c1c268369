// SPDX-License-Identifier: Apache-2.0
// Why a chain cannot move into a kernel.
#include "fusion/KernelAccesses.h"
#include "fusion/MaskedOff.h"
#include "fusion/SpliceKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pellucid::fusion {

using namespace mlir;

namespace {

bool isInLoop(Operation *op) { return op->getParentOfType<LoopLikeOpInterface>() != nullptr; }

/// Masked-off elements must read as `other` after fusion too, where anyone can see them.
std::optional<std::string> refuseOther(tt::LoadOp load, const Chain &chain) {
  if (hidesMaskedOff(load) || keepsOther(load, chain))
    return std::nullopt;
  return "masked with other: masked-off elements are loaded as 'other' and used, and the operator "
         "is not known to keep that value" +
         atLine(load.getLoc());
}

bool feedsMatrixProductInLoop(tt::LoadOp load) {
  for (auto loop = load->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (loop.walk([](tt::DotOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return true;
  return false;
}

/// Recomputation is bounded: an element that is loaded many times is worth cheap arithmetic over
/// one tensor at most.
std::optional<std::string> refuseCost(ArrayRef<tt::LoadOp> loads, const Chain &chain,
                                      const LaunchValues &launch) {
  auto isWhole = [](const ChainOperand &operand) {
    return operand.kind == ChainOperand::Kind::SameOrder;
  };
  bool cheap = !chain.expensive && llvm::count_if(chain.operands, isWhole) <= 1;
  for (tt::LoadOp load : loads) {
    if (feedsMatrixProductInLoop(load))
      return "cost: it is loaded in the loop of a matrix product" + atLine(load.getLoc());
    if (cheap)
      continue;
    if (isInLoop(load))
      return "cost: it is loaded in a loop, where the operator would be computed again and again" +
             atLine(load.getLoc());
    if (loads.size() > 1)
      return "cost: it is loaded " + std::to_string(loads.size()) +
             " times, and the operator would be computed each time" + atLine(load.getLoc());
    if (isLoadedByManyPrograms(load, launch))
      return "cost: several programs load the same elements, and each would compute the operator" +
             atLine(load.getLoc());
  }
  return std::nullopt;
}

} // namespace

/// Adds the loads through `argument` to `loads`.
static std::optional<std::string> addLoads(tt::FuncOp kernel, unsigned argument,
                                           SmallVectorImpl<tt::LoadOp> &loads) {
  Accesses accesses = collectAccesses(kernel.getArgument(argument));
  if (accesses.refusal)
    return accesses.refusal;
  if (!accesses.stores.empty())
    return "the kernel writes it" + atLine(accesses.stores.front().getLoc());
  loads.append(accesses.loads);
  return std::nullopt;
}

std::optional<std::string> refuseLoadFusion(tt::FuncOp kernel,
                                            const std::vector<unsigned> &arguments,
                                            const Chain &chain, const LaunchValues &launch) {
  SmallVector<tt::LoadOp> loads;
  for (unsigned argument : arguments)
    if (auto refusal = addLoads(kernel, argument, loads))
      return refusal;
  if (loads.empty())
    return "the kernel does not load it";
  for (tt::LoadOp load : loads) {
    if (load.getIsVolatile())
      return "a volatile load reads it" + atLine(load.getLoc());
    if (auto refusal = refuseOther(load, chain))
      return refusal;
  }
  return refuseCost(loads, chain, launch);
}

std::optional<std::string> refuseStoreFusion(tt::FuncOp kernel, unsigned argument,
                                             const LaunchValues &launch,
                                             const symbolic::Expr &elements) {
  Accesses accesses = collectAccesses(kernel.getArgument(argument));
  if (accesses.refusal)
    return accesses.refusal;
  if (!accesses.loads.empty())
    return "read-back: the kernel reads what it wrote" + atLine(accesses.loads.front().getLoc());
  if (accesses.stores.size() != 1)
    return "the kernel has " + std::to_string(accesses.stores.size()) + " stores to it";
  tt::StoreOp store = accesses.stores.front();
  if (auto partial = refusePartialStore(store, launch, elements))
    return "partial store: " + *partial + atLine(store.getLoc());
  return std::nullopt;
}

std::string describeReadWrite(tt::FuncOp kernel, unsigned argument) {
  Accesses accesses = collectAccesses(kernel.getArgument(argument));
  if (accesses.refusal)
    return *accesses.refusal;
  if (accesses.loads.empty() || accesses.stores.empty())
    return "the kernel reads and writes it";
  return "read-back: the kernel loads it" + atLine(accesses.loads.front().getLoc()) +
         " and stores to it" + atLine(accesses.stores.front().getLoc());
}

} // namespace pellucid::fusion
