// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/LoadMasks.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <numeric>

namespace pellucid::codegen {

using llvm::Value;

static constexpr unsigned maskOperand = 1;    ///< of llvm.masked.load
static constexpr unsigned storedMask = 2;     ///< of llvm.masked.store
static constexpr unsigned registerBytes = 64; ///< of the vector that one mask is for
static constexpr unsigned fewestLanes = 8;    ///< of a mask that an operand of assembly can be

static bool isMaskedAccess(const llvm::User *user) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::masked_load ||
                  call->getIntrinsicID() == llvm::Intrinsic::masked_store);
}

static bool selectsBy(const llvm::Function &function, const Value *mask) {
  for (const llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
        select && select->getCondition() == mask)
      return true;
  return false;
}

/// Whether an operation other than an access may come to have the mask's register. A bitcast asks
/// whether any lane is active.
static bool isShared(const llvm::Function &function, const Value *mask) {
  if (llvm::isa<llvm::Constant>(mask))
    return selectsBy(function, mask);
  if (!llvm::isa<llvm::CmpInst, llvm::BinaryOperator>(mask))
    return true;
  return llvm::any_of(mask->users(), [](const llvm::User *user) {
    return !isMaskedAccess(user) && !llvm::isa<llvm::BitCastInst>(user);
  });
}

/// `count` lanes from `first` on, filled up with inactive ones.
static Value *lanesFrom(llvm::IRBuilderBase &b, Value *mask, unsigned first, unsigned count,
                        unsigned filled) {
  auto width = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  llvm::SmallVector<int> chosen(filled, static_cast<int>(width)); // the first of the zeros
  std::iota(chosen.begin(), chosen.begin() + count, static_cast<int>(first));
  return b.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), chosen);
}

static Value *copyOfRegister(llvm::IRBuilderBase &b, Value *mask) {
  llvm::Type *type = mask->getType();
  auto *signature = llvm::FunctionType::get(type, {type}, false);
  return b.CreateCall(llvm::InlineAsm::get(signature, "", "=^Yk,0", /*hasSideEffects=*/false),
                      {mask});
}

static Value *separateMask(llvm::IRBuilderBase &b, Value *mask, unsigned elementBytes) {
  unsigned width = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  unsigned part = std::min(width, registerBytes / elementBytes);
  llvm::SmallVector<Value *> parts;
  for (unsigned first = 0; first < width; first += part) {
    unsigned count = std::min(part, width - first);
    Value *lanes =
        lanesFrom(b, mask, first, count,
                  std::max(fewestLanes, static_cast<unsigned>(llvm::PowerOf2Ceil(count))));
    llvm::SmallVector<int> kept(count);
    std::iota(kept.begin(), kept.end(), 0);
    parts.push_back(b.CreateShuffleVector(copyOfRegister(b, lanes), kept));
  }
  return llvm::concatenateVectors(b, parts);
}

/// Whether LLVM may come to know that one lane of a part of the mask is active.
static bool mayBeOneLane(const llvm::IntrinsicInst &store) {
  const auto *type = llvm::cast<llvm::FixedVectorType>(store.getArgOperand(0)->getType());
  const auto *mask = llvm::dyn_cast<llvm::Constant>(store.getArgOperand(storedMask));
  return mask && !mask->isAllOnesValue() && !mask->isNullValue() &&
         type->getElementType()->isIntegerTy() && type->getScalarSizeInBits() < 64;
}

void separateMasks(llvm::Module &module) {
  for (llvm::Function &function : module) {
    llvm::SmallVector<std::pair<llvm::IntrinsicInst *, unsigned>> accesses;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
        if (call->getIntrinsicID() == llvm::Intrinsic::masked_load &&
            isShared(function, call->getArgOperand(maskOperand)))
          accesses.emplace_back(call, maskOperand);
        if (call->getIntrinsicID() == llvm::Intrinsic::masked_store && mayBeOneLane(*call))
          accesses.emplace_back(call, storedMask);
      }
    for (auto [access, operand] : accesses) {
      llvm::IRBuilder<> b(access);
      llvm::Type *type =
          operand == storedMask ? access->getArgOperand(0)->getType() : access->getType();
      auto bytes = module.getDataLayout().getTypeStoreSize(type->getScalarType());
      access->setArgOperand(operand, separateMask(b, access->getArgOperand(operand),
                                                  static_cast<unsigned>(bytes.getFixedValue())));
    }
  }
}

} // namespace pellucid::codegen
