// SPDX-License-Identifier: Apache-2.0
#include "codegen/common/ControlFlow.h"

namespace pellucid::codegen {

using llvm::Value;

llvm::BasicBlock *newBlock(CodeBuilder &b, const char *name) {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

void emitLoop(CodeBuilder &b, Value *begin, Value *end, int64_t step, bool atLeastOnce,
              llvm::function_ref<void(Value *)> body) {
  llvm::BasicBlock *before = b.GetInsertBlock();
  llvm::BasicBlock *loop = newBlock(b, "loop"), *after = newBlock(b, "done");
  if (atLeastOnce)
    b.CreateBr(loop);
  else
    b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode *index = b.CreatePHI(begin->getType(), 2);
  index->addIncoming(begin, before);
  body(index);
  Value *next = b.CreateAdd(index, llvm::ConstantInt::get(index->getType(), step), "", true, true);
  index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), loop, after);
  b.SetInsertPoint(after);
}

void emitWhen(CodeBuilder &b, Value *condition, llvm::function_ref<void()> body) {
  llvm::BasicBlock *then = newBlock(b, "then"), *after = newBlock(b, "after");
  b.CreateCondBr(condition, then, after);
  b.SetInsertPoint(then);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

BranchEnds emitBranches(CodeBuilder &b, Value *condition,
                        llvm::function_ref<void(unsigned)> emitSide) {
  BranchEnds ends;
  llvm::BasicBlock *sides[] = {newBlock(b, "if"), newBlock(b, "else")};
  llvm::BasicBlock *after = newBlock(b, "endif");
  b.CreateCondBr(condition, sides[0], sides[1]);
  for (unsigned which : {0, 1}) {
    b.SetInsertPoint(sides[which]);
    emitSide(which);
    ends[which] = b.GetInsertBlock();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
  return ends;
}

/// Where a loop that is entered is when its last step is done, modulo the width of its index; null
/// where that would cost a division.
static Value *endOfWholeSteps(CodeBuilder &b, Value *lower, Value *upper, Value *step) {
  auto *known = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (!known || !known->getValue().isPowerOf2())
    return nullptr;
  if (known->isOne())
    return upper;
  // From `lower` to `upper` counts without sign, so that the difference cannot overflow.
  Value *one = llvm::ConstantInt::get(step->getType(), 1);
  Value *shift = llvm::ConstantInt::get(step->getType(), known->getValue().exactLogBase2());
  Value *rounds =
      b.CreateAdd(b.CreateLShr(b.CreateSub(b.CreateSub(upper, lower), one), shift), one);
  return b.CreateAdd(lower, b.CreateShl(rounds, shift));
}

CountedLoop CountedLoop::begin(CodeBuilder &b, Value *lower, Value *upper, Value *step,
                               bool isUnsigned) {
  CountedLoop made(b);
  made.upper = upper;
  made.step = step;
  made.wholeEnd = endOfWholeSteps(b, lower, upper, step);
  made.before = b.GetInsertBlock();
  made.loop = newBlock(b, "for");
  made.after = newBlock(b, "endfor");
  Value *enters = isUnsigned ? b.CreateICmpULT(lower, upper) : b.CreateICmpSLT(lower, upper);
  b.CreateCondBr(enters, made.loop, made.after);
  b.SetInsertPoint(made.loop);
  made.index = b.CreatePHI(lower->getType(), 2);
  made.index->addIncoming(lower, made.before);
  return made;
}

/// So many rounds are, where both ends and the step are known; 0 else.
uint64_t CountedLoop::knownRounds() const {
  auto *lower = llvm::dyn_cast<llvm::ConstantInt>(index->getIncomingValue(0));
  auto *end = llvm::dyn_cast<llvm::ConstantInt>(upper),
       *by = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (!lower || !end || !by || by->isZero())
    return 0;
  llvm::APInt distance = end->getValue() - lower->getValue();
  return (distance.getZExtValue() + by->getZExtValue() - 1) / by->getZExtValue();
}

/// Not so long that ptxas would unroll it by itself, if it did not know how often it runs.
bool CountedLoop::hasShortBody() const {
  constexpr size_t longBody = 96;
  size_t size = 0;
  for (auto block = loop->getIterator(); block != loop->getParent()->end(); ++block)
    size += &*block == after ? 0 : block->size();
  return size < longBody;
}

/// Asks for some rounds side by side: ptxas does so for loops whose rounds it cannot count, and
/// either all rounds or none for those that it can.
static void unroll(llvm::Instruction *latch, unsigned count) {
  llvm::LLVMContext &context = latch->getContext();
  auto *number =
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), count));
  auto *wanted =
      llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.count"), number});
  auto *id = llvm::MDNode::getDistinct(context, {nullptr, wanted});
  id->replaceOperandWith(0, id);
  latch->setMetadata(llvm::LLVMContext::MD_loop, id);
}

void CountedLoop::end() {
  constexpr uint64_t leastRounds = 16;
  constexpr unsigned sideBySide = 4;
  uint64_t rounds = knownRounds();
  bool isShort = hasShortBody();
  Value *next = b.CreateAdd(index, step);
  // Assemblers unroll a loop whose end they count down to, and none with another test. What is left
  // counts without sign, so that neither the sum nor the difference can overflow. Long bodies of
  // loops whose rounds are known come out of LLVM and ptxas in better order by that test.
  bool byEnd = wholeEnd && (isShort || rounds == 0);
  Value *continues =
      byEnd ? b.CreateICmpNE(next, wholeEnd) : b.CreateICmpUGT(b.CreateSub(upper, index), step);
  last = b.GetInsertBlock();
  index->addIncoming(next, last);
  llvm::Instruction *latch = b.CreateCondBr(continues, loop, after);
  if (isSpread && rounds > 1)
    unroll(latch, static_cast<unsigned>(rounds));
  else if (byEnd && rounds >= leastRounds && rounds % sideBySide == 0)
    unroll(latch, sideBySide);
  b.SetInsertPoint(after);
}

TestedLoop TestedLoop::begin(CodeBuilder &b) {
  TestedLoop made(b);
  made.before = b.GetInsertBlock();
  made.test = newBlock(b, "while");
  b.CreateBr(made.test);
  b.SetInsertPoint(made.test);
  return made;
}

void TestedLoop::enterBody(Value *continues) {
  llvm::BasicBlock *body = newBlock(b, "do");
  after = newBlock(b, "endwhile");
  b.CreateCondBr(continues, body, after);
  b.SetInsertPoint(body);
}

void TestedLoop::end() {
  last = b.GetInsertBlock();
  b.CreateBr(test);
  b.SetInsertPoint(after);
}

} // namespace pellucid::codegen
