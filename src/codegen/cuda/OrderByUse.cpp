// SPDX-License-Identifier: Apache-2.0
// A tile's operations are emitted one after the other, each for all elements of a thread. ptxas
// finds the order that keeps few of them alive as long as a block is of ordinary length; tiles of
// hundreds of elements a thread make blocks of tens of thousands of instructions, for which it
// keeps every value in memory. In those each element is computed right before its first use.
#include "codegen/cuda/OrderByUse.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace pellucid::codegen {

using llvm::Instruction;

namespace {

/// May stand anywhere between its operands and its first use.
bool onlyComputes(const Instruction &instruction) {
  if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) || instruction.isTerminator() ||
      instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects())
    return false;
  const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !call || !call->isConvergent();
}

/// What stays in its order, and before each of those what it needs.
class UseOrder {
public:
  explicit UseOrder(llvm::BasicBlock &block) : block(block) {
    for (Instruction &instruction : block) {
      bool leaves = llvm::any_of(instruction.users(), [&](const llvm::User *user) {
        return llvm::cast<Instruction>(user)->getParent() != &block ||
               llvm::isa<llvm::PHINode>(user);
      });
      if (leaves || instruction.use_empty() || !onlyComputes(instruction))
        place(&instruction);
    }
  }

  void apply() {
    for (Instruction *instruction : order)
      instruction->moveBefore(block, block.end());
  }

private:
  void place(Instruction *root) {
    llvm::SmallVector<Instruction *> open = {root};
    while (!open.empty()) {
      Instruction *next = open.back();
      if (placed.contains(next)) {
        open.pop_back();
        continue;
      }
      size_t before = open.size();
      if (!llvm::isa<llvm::PHINode>(next))
        for (llvm::Value *operand : llvm::reverse(next->operand_values()))
          if (auto *needed = llvm::dyn_cast<Instruction>(operand);
              needed && needed->getParent() == &block && !placed.contains(needed))
            open.push_back(needed);
      if (open.size() != before)
        continue;
      open.pop_back();
      placed.insert(next);
      order.push_back(next);
    }
  }

  llvm::BasicBlock &block;
  llvm::DenseSet<Instruction *> placed;
  llvm::SmallVector<Instruction *> order;
};

} // namespace

void orderByUse(llvm::Module &module) {
  constexpr size_t longBlock = 4096;
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      if (block.size() >= longBlock)
        UseOrder(block).apply();
}

} // namespace pellucid::codegen
