// SPDX-License-Identifier: Apache-2.0
// Branches and loops as basic blocks of the function that the builder is in.
#pragma once

#include "codegen/common/CodeBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>

namespace pellucid::codegen {

/// Appended to the function.
llvm::BasicBlock *newBlock(CodeBuilder &builder, const char *name);
/// Runs `body` for begin, begin + step, ... below `end`.
void emitLoop(CodeBuilder &builder, llvm::Value *begin, llvm::Value *end, int64_t step,
              bool atLeastOnce, llvm::function_ref<void(llvm::Value *)> body);
/// Runs `body` where `condition` (an i1) holds.
void emitWhen(CodeBuilder &builder, llvm::Value *condition, llvm::function_ref<void()> body);

/// The blocks that control leaves one side of a branch from, then first. Phi nodes after the
/// branch come from these.
using BranchEnds = std::array<llvm::BasicBlock *, 2>;
/// `emitSide` gets 0 where `condition` holds and 1 where it does not.
BranchEnds emitBranches(CodeBuilder &builder, llvm::Value *condition,
                        llvm::function_ref<void(unsigned)> emitSide);

/// A loop with the bounds of an scf.for. Between begin() and end() the builder is in its body.
class CountedLoop {
public:
  static CountedLoop begin(CodeBuilder &builder, llvm::Value *lower, llvm::Value *upper,
                           llvm::Value *step, bool isUnsigned);
  void end();

  /// Its rounds, whose number is known, are written side by side.
  bool isSpread = false;
  llvm::PHINode *index = nullptr;
  /// Where control comes from: into the first round and past the loop; into the next rounds and
  /// past the loop.
  llvm::BasicBlock *before = nullptr, *last = nullptr;

private:
  explicit CountedLoop(CodeBuilder &builder) : b(builder) {}
  uint64_t knownRounds() const;
  bool hasShortBody() const;

  CodeBuilder &b;
  llvm::Value *upper = nullptr, *step = nullptr;
  llvm::Value *wholeEnd = nullptr; ///< the index behind the last round, where it is known
  llvm::BasicBlock *loop = nullptr, *after = nullptr;
};

/// A loop whose test comes first. After begin() the builder is in the test, after enterBody() in
/// the body, after end() behind the loop.
class TestedLoop {
public:
  static TestedLoop begin(CodeBuilder &builder);
  void enterBody(llvm::Value *continues);
  void end();

  llvm::BasicBlock *before = nullptr; ///< where control enters from
  llvm::BasicBlock *last = nullptr;   ///< where it returns to the test from

private:
  explicit TestedLoop(CodeBuilder &builder) : b(builder) {}

  CodeBuilder &b;
  llvm::BasicBlock *test = nullptr, *after = nullptr;
};

} // namespace pellucid::codegen
