// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/SharedComparisons.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace pellucid::codegen {

namespace {

using llvm::Intrinsic::ID;

/// Operands in the order of their addresses, and whether they are signed.
using Operands = std::tuple<llvm::Value *, llvm::Value *, unsigned>;

struct Exchange {
  llvm::MinMaxIntrinsic *smaller = nullptr, *larger = nullptr;
};

Operands operandsOf(const llvm::MinMaxIntrinsic &call) {
  llvm::Value *a = call.getLHS(), *b = call.getRHS();
  return {std::min(a, b), std::max(a, b), call.isSigned()};
}

bool isMinimum(const llvm::MinMaxIntrinsic &call) {
  ID id = call.getIntrinsicID();
  return id == llvm::Intrinsic::smin || id == llvm::Intrinsic::umin;
}

void selectBoth(const Exchange &exchange) {
  llvm::MinMaxIntrinsic *first =
      exchange.smaller->comesBefore(exchange.larger) ? exchange.smaller : exchange.larger;
  llvm::IRBuilder<> b(first);
  llvm::Value *left = first->getLHS(), *right = first->getRHS();
  llvm::Value *above =
      first->isSigned() ? b.CreateICmpSGT(left, right) : b.CreateICmpUGT(left, right);
  // A selection by a comparison itself is made a minimum again.
  above = b.CreateFreeze(above);
  llvm::Value *smaller = b.CreateSelect(above, right, left);
  llvm::Value *larger = b.CreateSelect(above, left, right);
  exchange.smaller->replaceAllUsesWith(smaller);
  exchange.larger->replaceAllUsesWith(larger);
  exchange.smaller->eraseFromParent();
  exchange.larger->eraseFromParent();
}

llvm::SmallVector<Exchange> exchangesOf(llvm::BasicBlock &block) {
  llvm::MapVector<Operands, Exchange> exchanges;
  for (llvm::Instruction &instruction : block)
    if (auto *call = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
        call && call->getType()->isIntegerTy(64)) {
      Exchange &exchange = exchanges[operandsOf(*call)];
      (isMinimum(*call) ? exchange.smaller : exchange.larger) = call;
    }
  llvm::SmallVector<Exchange> both;
  for (auto &[operands, exchange] : exchanges)
    if (exchange.smaller && exchange.larger)
      both.push_back(exchange);
  return both;
}

} // namespace

void shareComparisons(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (const Exchange &exchange : exchangesOf(block))
        selectBoth(exchange);
}

} // namespace pellucid::codegen
